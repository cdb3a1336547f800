import MortiseCore

/// Takes the values of a record as its columns keep them, without a `StoredValue` for each.
package protocol RowVisitor {
    /// The values of that row come next.
    mutating func begin(_ row: Int, sequence: UInt64)
    mutating func null()
    mutating func bool(_ value: Bool)
    mutating func integer(_ value: Int64)
    mutating func double(_ value: Double)
    /// - Parameter value: seconds since the reference date.
    mutating func date(_ value: Double)
    /// - Parameter value: sixteen bytes.
    mutating func uuid(_ value: UnsafeRawBufferPointer)
    mutating func text(_ utf8: UnsafeRawBufferPointer)
    mutating func reference(_ target: PersistentIdentifier, _ slot: Int) throws
    /// A value of none of these kinds, which `storedForm(row:slot:)` has.
    mutating func other(_ slot: Int) throws
}

extension TableVersion {
    /// Shows a visitor the values of rows, slot by slot in the given order. Rows outside the table are skipped. Throws
    /// what the visitor throws.
    package func visit(rows: Range<Int>, _ slots: [Int], _ visitor: inout some RowVisitor) throws {
        let rows = rows.clamped(to: 0..<endRow)
        var known: ContiguousArray<ShownColumn> = []
        known.reserveCapacity(slots.count)
        for slot in slots where plan.columns.indices.contains(slot) {
            known.append(ShownColumn(slot: slot, texts: strings[slot], target: plan.targets[slot].first))
        }
        try known.withUnsafeBufferPointer { columns in
            var next = rows.lowerBound
            while next < rows.upperBound {
                let place = place(ofChunk: next >> Chunk.shift)
                let end = min(rows.upperBound, (next >> Chunk.shift + 1) << Chunk.shift)
                for row in next..<end {
                    let offset = row & Chunk.mask
                    visitor.begin(row, sequence: place.sequence(offset))
                    for column in columns { try column.show(place, offset, plan, &visitor) }
                }
                next = end
            }
        }
    }
}

/// A column whose values are shown, without references that would have to be counted for each.
private struct ShownColumn {
    let slot: Int
    /// The strings that it refers to by number.
    let texts: UnsafePointer<String>?
    /// The records that it refers to, where they are of one entity.
    let target: IdentifierNamespace?

    @inline(__always)
    func show(_ place: ChunkPlace, _ offset: Int, _ plan: TablePlan, _ visitor: inout some RowVisitor) throws {
        let entry = place.entry(slot)
        switch entry.form {
        case .none: try visitor.other(slot)
        case _ where place.isAbsent(entry, offset): visitor.null()
        case .bool: visitor.bool(place.load(entry, offset, as: UInt8.self) != 0)
        case .int64: visitor.integer(Int64(littleEndian: place.load(entry, offset, as: Int64.self)))
        case .double: visitor.double(place.double(entry, offset))
        case .date: visitor.date(place.double(entry, offset))
        case .uuid: visitor.uuid(UnsafeRawBufferPointer(start: place.fixed + entry.offset + 16 * offset, count: 16))
        case .text: visitor.text(place.bytes(entry, offset))
        case .code:
            guard let texts else { return try visitor.other(slot) }
            var text = texts[place.code(entry, offset)]
            text.withUTF8 { visitor.text(UnsafeRawBufferPointer($0)) }
        case .reference:
            guard let target else { return try visitor.other(slot) }
            try visitor.reference(target[place.reference(entry, offset).sequence], slot)
        case .wideReference:
            let (sequence, target) = place.reference(entry, offset)
            guard target < plan.targets[slot].count else { return try visitor.other(slot) }
            try visitor.reference(plan.targets[slot][target][sequence], slot)
        default: try visitor.other(slot)
        }
    }
}
