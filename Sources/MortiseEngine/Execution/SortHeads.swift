import Foundation
import MortiseCore

/// The first sort key of a query as one number for each row, taken from a table's column chunk by chunk. Numbers order as
/// the keys do; keys with equal numbers are equal if the heads are exact, and otherwise have to be compared.
struct SortHeads {
    private let table: TableVersion
    let slot: Int
    private let isAscending: Bool
    /// By code, where the column's strings are coded.
    private let codeHeads: [UInt64]
    private let key: KeyBuffer
    /// Whether rows with equal heads have equal keys.
    let isExact: Bool

    /// Returns nil for a key that is not a scalar column of the table. `isOneOfSeveral` says that the heads are
    /// compared with those of other tables.
    init?(_ order: StoreQuery.Order, _ table: TableVersion, isOneOfSeveral: Bool = false) {
        guard order.stringOrder == nil,
            case .property(.variable(0), let property) = order.expression, property.slot < table.plan.columns.count
        else { return nil }
        let column = table.plan.columns[property.slot]
        guard column.role == .attribute else { return nil }
        let key = KeyBuffer()
        self.key = key
        self.table = table
        slot = property.slot
        isAscending = order.isAscending
        switch column.form {
        case .bool, .int8, .int16, .int32, .uint8, .uint16, .uint32, .float, .double, .date:
            isExact = true
            codeHeads = []
        case .int64, .uint64:
            // Null sorts before the least number, and no code is left for it.
            isExact = !column.isOptional
            codeHeads = []
        case .uuid:
            isExact = false
            codeHeads = []
        case .text:
            let dictionary = table.dictionaries[property.slot]
            if !isOneOfSeveral, let dictionary, dictionary.count <= 4096, table.hasOnlyCodes(inSlot: property.slot) {
                isExact = true
                codeHeads = Self.ranks(dictionary)
            } else {
                isExact = false
                codeHeads = dictionary.map { Self.beginnings($0, key) } ?? []
            }
        default: return nil
        }
    }

    /// The places of a dictionary's strings in their order, from 1; equivalent ones share theirs.
    private static func ranks(_ dictionary: StringDictionary) -> [UInt64] {
        let sorted = (0..<dictionary.count).sorted { CanonicalText.precedes(dictionary[$0], dictionary[$1]) }
        var ranks = [UInt64](repeating: 0, count: dictionary.count)
        var rank: UInt64 = 0
        for (place, code) in sorted.enumerated() {
            if place == 0 || dictionary[sorted[place - 1]] != dictionary[code] { rank += 1 }
            ranks[code] = rank
        }
        return ranks
    }

    private static func beginnings(_ dictionary: StringDictionary, _ key: KeyBuffer) -> [UInt64] {
        (0..<dictionary.count).map { code in
            key.removeAll()
            key.append(string: dictionary[code])
            return IndexProbe(key.key, row: 0, isWide: false).head
        }
    }

    /// Calls the body with each selected row's head, lower ones first whatever the order's direction.
    @inline(__always)
    func forEach(
        _ place: ChunkPlace, _ selection: borrowing ChunkSelection,
        _ body: (_ offset: Int, _ head: UInt64) throws -> Void
    ) rethrows {
        let entry = place.entry(slot)
        let turn: UInt64 = isAscending ? 0 : ~0
        switch entry.form {
        case .double, .date:
            try selection.forEach { offset in
                let bits = place.load(entry, offset, as: UInt64.self).littleEndian
                // A row without value has zeros.
                let head = bits == 0 && place.isAbsent(entry, offset) ? 0 : Self.head(Double(bitPattern: bits))
                try body(offset, head ^ turn)
            }
        default: try selection.forEach { offset in try body(offset, head(place, entry, offset) ^ turn) }
        }
    }

    /// Calls the body with the head of each row of a run.
    func forEach(_ run: FamilyRows.Run, _ body: (_ offset: Int, _ head: UInt64) -> Void) {
        let entry = run.place.entry(slot)
        let turn: UInt64 = isAscending ? 0 : ~0
        for offset in run.offsets { body(offset, head(run.place, entry, offset) ^ turn) }
    }

    /// Takes out rows that cannot come before a head. Leaves some in that do not.
    @inline(__always)
    func narrow(_ place: ChunkPlace, _ rows: SelectedRows, notBehind limit: UInt64) {
        let entry = place.entry(slot)
        guard entry.form == .double || entry.form == .date else { return }
        // The numbers are compared as such, which takes no more than one instruction for several of them.
        let bound = Self.number(isAscending ? limit : ~limit)
        if isAscending {
            let bound = bound ?? -.infinity
            // NaN and null come first, and a row without value has zeros.
            rows.keep(place, entry, as: UInt64.self) { bits in
                let number = Double(bitPattern: UInt64(littleEndian: bits))
                return !(number > bound) || number == 0
            }
        } else if let bound {
            rows.keep(place, entry, as: UInt64.self) { !(Double(bitPattern: UInt64(littleEndian: $0)) < bound) }
        }
    }

    /// The number that has a head; nil for the heads of null and NaN.
    private static func number(_ head: UInt64) -> Double? {
        if head < 2 { return nil }
        return Double(bitPattern: head >> 63 == 1 ? head ^ (1 << 63) : ~head)
    }

    /// Null is 0 and NaN 1, below minus infinity.
    @inline(__always)
    static func head(_ number: Double) -> UInt64 {
        let bits = number.bitPattern
        if bits & 0x7FFF_FFFF_FFFF_FFFF > 0x7FF0_0000_0000_0000 { return 1 }
        if bits == 1 << 63 { return 1 << 63 }
        return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
    }

    private func head(_ place: ChunkPlace, _ entry: ChunkPlace.Entry, _ offset: Int) -> UInt64 {
        if entry.form == .none || place.isAbsent(entry, offset) { return 0 }
        switch entry.form {
        case .bool: return place.load(entry, offset, as: UInt8.self) == 0 ? 1 : 2
        case .float:
            return Self.head(Double(Float(bitPattern: place.load(entry, offset, as: UInt32.self).littleEndian)))
        case .double, .date: return Self.head(place.double(entry, offset))
        case .uint64: return place.load(entry, offset, as: UInt64.self).littleEndian
        case .uuid: return UInt64(bigEndian: place.load(entry, offset, as: Bits16.self).first)
        case .code:
            let code = place.code(entry, offset)
            return code < codeHeads.count ? codeHeads[code] : 0
        case .text:
            key.removeAll()
            key.appendPrefix(place.bytes(entry, offset))
            return IndexProbe(key.key, row: 0, isWide: false).head
        default: return UInt64(bitPattern: place.integer(entry, offset) ?? 0) ^ (1 << 63)
        }
    }

    private struct Bits16: BitwiseCopyable {
        let first: UInt64
        let second: UInt64
    }
}

extension TableVersion {
    /// Whether every chunk has a column's strings by their codes.
    fileprivate func hasOnlyCodes(inSlot slot: Int) -> Bool {
        (0..<((endRow + Chunk.mask) >> Chunk.shift)).allSatisfy { place(ofChunk: $0).entry(slot).form == .code }
    }
}
