import MortiseCore

/// Takes the values of a record as its columns keep them, without a `StoredValue` for each.
package protocol RowVisitor {
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
    /// Shows a visitor the values of a row, in the order of those slots; where there is no such row, all are null.
    package func visit(row: Int, _ slots: [Int], _ visitor: inout some RowVisitor) throws {
        guard isRow(row) else { return slots.forEach { _ in visitor.null() } }
        let place = place(ofChunk: row >> Chunk.shift)
        let offset = row & Chunk.mask
        for slot in slots {
            guard plan.columns.indices.contains(slot) else {
                visitor.null()
                continue
            }
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
                guard let dictionary = dictionaries[slot] else {
                    try visitor.other(slot)
                    continue
                }
                var text = dictionary[place.code(entry, offset)]
                text.withUTF8 { visitor.text(UnsafeRawBufferPointer($0)) }
            case .reference, .wideReference:
                let (sequence, target) = place.reference(entry, offset)
                if target < plan.targets[slot].count {
                    try visitor.reference(plan.targets[slot][target][sequence], slot)
                } else {
                    try visitor.other(slot)
                }
            default: try visitor.other(slot)
            }
        }
    }
}
