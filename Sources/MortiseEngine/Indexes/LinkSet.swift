/// Who is at the other end of a to-many relationship, for all records of an entity: pairs of an owner's and a member's
/// number, in order. Adding a member to an owner with a million of them copies the few nodes on the way to its place.
struct LinkSet: Sendable {
    private(set) var pairs = OrderedIndex(isWide: true)

    init() {}
    init(pairs: OrderedIndex) { self.pairs = pairs }

    var isEmpty: Bool { pairs.isEmpty }

    static func probe(_ owner: UInt64, _ member: UInt64, _ target: Int) -> IndexProbe {
        IndexProbe(
            head: owner, second: member, tail: UnsafeRawBufferPointer(start: nil, count: 0), row: UInt64(target))
    }

    /// Calls the body with the members of an owner in identity order, each with the number of its entity among those that
    /// the relationship may lead to.
    func forEach(of owner: UInt64, _ body: (_ member: UInt64, _ target: Int) -> Void) {
        guard !pairs.isEmpty else { return }
        let upper = owner == .max ? nil : Self.probe(owner + 1, 0, 0)
        pairs.forEachRun(from: Self.probe(owner, 0, 0), to: upper) { node, run in
            for index in run { body(node.second(index), Int(node.row(index))) }
            return true
        }
    }

    func members(of owner: UInt64) -> [(member: UInt64, target: Int)] {
        var members: [(member: UInt64, target: Int)] = []
        forEach(of: owner) { members.append(($0, $1)) }
        return members
    }

    mutating func insert(_ owner: UInt64, _ member: UInt64, _ target: Int, transaction: UInt64) {
        let probe = Self.probe(owner, member, target)
        if !pairs.contains(probe) { pairs.insert(probe, owner: transaction) }
    }

    /// Adds links that have been sorted: their heads are owners and members, their rows targets. Each may come repeatedly.
    mutating func insert(_ links: SortedEntries, transaction: UInt64) {
        if !pairs.isEmpty {
            links.forEach { probe, _ in insert(probe.head, probe.second, Int(probe.row), transaction: transaction) }
            return
        }
        var builder = OrderedIndexBuilder(isWide: true, owner: transaction)
        var last: IndexProbe?
        links.forEach { probe, _ in
            if last?.head != probe.head || last?.second != probe.second { builder.append(probe) }
            last = probe
        }
        pairs = builder.finish()
    }

    /// Adds a link that a log's tail has brought.
    mutating func bring(_ owner: UInt64, _ member: UInt64, _ target: Int, transaction: UInt64) {
        let probe = Self.probe(owner, member, target)
        guard pairs.overlay != nil else { return insert(owner, member, target, transaction: transaction) }
        if !pairs.hasBrought(probe) { pairs.bring(probe, owner: transaction) }
    }

    mutating func remove(_ owner: UInt64, _ member: UInt64, _ target: Int, transaction: UInt64) {
        pairs.remove(Self.probe(owner, member, target), owner: transaction)
    }
}
