import MortiseCore
import Synchronization

/// Which entries of an index or of links in a checkpoint do not count any more, because a log's tail changes what they stand for.
///
/// The entries that take their place are in a tree beside the checkpoint's. Those of an index have the number of their record in place
/// of its row, since nobody knows the row before the chunk is read; records lie in the order of their numbers.
///
/// @unchecked Sendable: nothing changes after initialization but what is found once, behind locks.
final class IndexOverlay: @unchecked Sendable {
    /// The entries of a set of links that do not count.
    enum LinkRule {
        /// Those of owners whose members the tail has set: by the number of the change, whether it does so.
        case owners(TableTail, ContiguousArray<Bool>)
        /// Those of members whose reference the tail has set; `target` is what entries of these members have for a row.
        case members(target: UInt64, TableTail, ContiguousArray<Bool>)
    }

    /// An index, whose entries lead to rows.
    struct Rows {
        let tail: TableTail
        /// By the number of the change, whether the tail changes what the key is made of.
        let marks: ContiguousArray<Bool>
        let definition: IndexDefinition
        /// How many entries of the checkpoint do not count.
        let hiddenCount: Int
        /// The changes whose new keys consist of old values as well.
        let late: [Int]
    }

    enum Kind {
        case rows(Rows)
        case links([LinkRule])
    }

    let kind: Kind
    private let complete = Mutex<IndexTree?>(nil)
    private let gone = Mutex<IndexTree?>(nil)
    /// The entries that the tail has brought, once the first version is whole.
    private let brought = Mutex<IndexTree?>(nil)
    /// The records that the tail has brought and whose keys have null or NaN in them, as far as that was found out: many of them may have one
    /// key, and a chunk is read to see that this is why.
    private let exemptRecords = Mutex<Set<UInt64>>([])

    init(_ kind: Kind) { self.kind = kind }

    /// Whether entries lead to rows.
    var rows: Rows? { if case .rows(let rows) = kind { rows } else { nil } }

    /// Whether no two entries may have the same key, but for keys with null or NaN in them.
    var isUnique: Bool { rows?.definition.family.isEmpty == false }

    /// Whether an entry of the checkpoint's tree does not count.
    @inline(__always)
    func hides(_ node: IndexNode, _ index: Int) -> Bool {
        switch kind {
        case .rows(let rows): rows.tail.change(ofRow: Int(node.row(index))).map { rows.marks[$0] } ?? false
        case .links(let rules): hidesLink(node.head(index), node.second(index), node.row(index), rules)
        }
    }

    func hides(_ probe: IndexProbe) -> Bool {
        switch kind {
        case .rows(let rows): rows.tail.change(ofRow: Int(probe.row)).map { rows.marks[$0] } ?? false
        case .links(let rules): hidesLink(probe.head, probe.second, probe.row, rules)
        }
    }

    private func hidesLink(_ owner: UInt64, _ member: UInt64, _ target: UInt64, _ rules: [LinkRule]) -> Bool {
        rules.contains { rule in
            switch rule {
            case .owners(let tail, let marks): tail.change(of: owner).map { marks[$0] } ?? false
            case .members(let place, let tail, let marks):
                place == target && tail.change(of: member).map { marks[$0] } ?? false
            }
        }
    }

    // MARK: Entries that the tail has brought

    /// The place of an entry among those of the tail: with a number in place of a row.
    /// - Returns: nil for a row that the tail has not touched.
    func numbered(_ probe: IndexProbe) -> IndexProbe? {
        guard let rows else { return probe }
        guard let sequence = rows.tail.sequence(ofRow: Int(probe.row)) else { return nil }
        return IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: sequence)
    }

    /// The other way round.
    /// - Returns: nil for a record that the checkpoint lacks.
    func placed(_ probe: IndexProbe) -> IndexProbe? {
        guard let rows else { return probe }
        guard let row = rows.tail.row(of: probe.row) else { return nil }
        return IndexProbe(head: probe.head, second: probe.second, tail: probe.tail, row: UInt64(row))
    }

    /// The entries that the first version has beside the checkpoint's, with those whose keys had to be put together of old values.
    func completed(_ added: IndexTree) -> IndexTree {
        guard let rows, !rows.late.isEmpty else { return added }
        return complete.withLock { known in
            if let known { return known }
            var tree = added
            let key = KeyBuffer()
            // Others read the nodes of `added` meanwhile.
            let owner = EngineTransaction.nextOwner()
            var last: (index: Int, chunk: Chunk)?
            for number in rows.late {
                guard let row = rows.tail.row(ofChange: number) else { continue }
                let index = row >> Chunk.shift
                // Those of one chunk come together.
                if last?.index != index {
                    last = (index, rows.tail.chunk(index))
                }
                guard let chunk = last?.chunk else { continue }
                withExtendedLifetime(chunk) {
                    if chunk.place.isDead(row & Chunk.mask) { return }
                    key.setKey(chunk.place, row & Chunk.mask, rows.definition, rows.tail.dictionaries)
                    tree.insert(key.key, row: rows.tail.sequences[number], owner: owner)
                }
            }
            known = tree
            return tree
        }
    }

    // MARK: Entries that do not count

    /// Whether all entries of the checkpoint count, as where a tail only inserts.
    var hidesNothing: Bool {
        switch kind {
        case .rows(let rows): rows.hiddenCount == 0
        case .links(let rules): rules.isEmpty
        }
    }

    /// The hidden entries of the checkpoint's tree, which every version has: looked for once, when somebody wants to count others.
    /// The leaves that are read for that are not kept.
    func hidden(in base: IndexTree) -> IndexTree {
        if hidesNothing { return IndexTree(isWide: base.isWide) }
        return gone.withLock { known in
            if let known { return known }
            let tree = (try? readHidden(in: base)) ?? keptHidden(in: base)
            known = tree
            return tree
        }
    }

    private func readHidden(in base: IndexTree) throws -> IndexTree {
        struct FoundAll: Error {}
        let all = rows?.hiddenCount ?? .max
        var found = 0
        var builder = OrderedIndexBuilder(isWide: base.isWide, owner: EngineTransaction.nextOwner())
        do {
            try base.forEachLeaf { leaf in
                for index in 0..<leaf.count where hides(leaf, index) {
                    builder.append(leaf.probe(index))
                    found += 1
                }
                if found >= all { throw FoundAll() }
            }
        } catch is FoundAll {}
        return builder.finish().base
    }

    /// The same where a part of the file cannot be read, which is noted, and has no entries.
    private func keptHidden(in base: IndexTree) -> IndexTree {
        var builder = OrderedIndexBuilder(isWide: base.isWide, owner: EngineTransaction.nextOwner())
        base.forEachRun(from: nil, to: nil) { node, run in
            for index in run where hides(node, index) { builder.append(node.probe(index)) }
            return true
        }
        return builder.finish().base
    }

    var knowsHidden: Bool { gone.withLock { $0 != nil } }

    // MARK: Uniqueness

    func setBrought(_ tree: IndexTree) { brought.withLock { $0 = tree } }

    /// Two entries beside each other have one key, and one of them the tail has brought. Notes it where that breaks uniqueness: saves
    /// that do are refused, so that only a tail of another hand can. What the tail itself inserts twice is refused at opening.
    func checkUnique(_ one: IndexProbe, _ other: IndexProbe) {
        guard let rows, isUnique, one.row != other.row else { return }
        let end = UInt64(rows.tail.base.endRow)
        // Null comes first in a key, and most keys that are equal are that.
        if rows.definition.components.first?.isOptional == true, one.head >> 56 == 0 { return }
        if one.row >= end, other.row >= end { return }
        let numbers = [one, other].compactMap { rows.tail.sequence(ofRow: Int($0.row)) }
        if exemptRecords.withLock({ known in numbers.contains { known.contains($0) } }) { return }
        let (first, second) = one.row < other.row ? (one, other) : (other, one)
        func original(_ probe: IndexProbe) -> UInt64? {
            self.original(probe, rows) { exemptRecords.withLock { $0.formUnion(numbers) } }
        }
        guard let earlier = original(first), let later = original(second) else { return }
        rows.tail.noteDuplicate(rows.definition, later, earlier)
    }

    /// Whether the key of a row that the tail has touched was found to have null or NaN in it.
    func isKnownToBeExempt(_ row: Int) -> Bool {
        guard let number = rows?.tail.sequence(ofRow: row) else { return false }
        return exemptRecords.withLock { $0.contains(number) }
    }

    func noteExempt(_ row: Int) {
        guard let number = rows?.tail.sequence(ofRow: row) else { return }
        exemptRecords.withLock { _ = $0.insert(number) }
    }

    /// The number of an entry's record, if the entry is as the tail has left it and its key counts; what was saved since has been
    /// checked. A key with null or NaN does not count.
    private func original(_ probe: IndexProbe, _ rows: Rows, isExempt note: () -> Void) -> UInt64? {
        let (row, tail) = (Int(probe.row), rows.tail)
        if row >= tail.base.endRow {
            // Whether its key counts the other one says, which is the same.
            guard let place = numbered(probe), brought.withLock({ $0?.contains(place) ?? false }) else { return nil }
            return place.row
        }
        let chunk = tail.chunk(row >> Chunk.shift)
        return withExtendedLifetime(chunk) {
            let key = KeyBuffer()
            let offset = row & Chunk.mask
            let isExempt = key.setKey(chunk.place, offset, rows.definition, tail.dictionaries)
            let found = IndexProbe(key.key, row: probe.row, isWide: rows.definition.isWide)
            if isExempt, found.hasSameKey(as: probe) { note() }
            return isExempt || chunk.place.isDead(offset) || !found.hasSameKey(as: probe)
                ? nil : chunk.place.sequence(offset)
        }
    }
}

extension IndexProbe {
    /// Whether it comes before another one.
    func precedes(_ other: IndexProbe) -> Bool {
        if head != other.head { return head < other.head }
        if second != other.second { return second < other.second }
        let order = IndexNode.order(tail, other.tail)
        return order == 0 ? row < other.row : order < 0
    }

    func hasSameKey(as other: IndexProbe) -> Bool {
        head == other.head && second == other.second && IndexNode.order(tail, other.tail) == 0
    }
}
