extension TableVersion {
    /// Calls the body with the UTF-8 of a string, which is valid meanwhile; makes no string of it where it can.
    /// - Returns: false for a value that is null or no string.
    package func withUTF8(
        row: Int, slot: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        guard isRow(row), plan.columns.indices.contains(slot) else { return false }
        let place = place(ofChunk: row >> Chunk.shift)
        let entry = place.entry(slot)
        let offset = row & Chunk.mask
        switch entry.form {
        case .text:
            let bytes = place.bytes(entry, offset)
            if bytes.isEmpty, place.isAbsent(entry, offset) { return false }
            try body(bytes)
        case .code:
            guard !place.isAbsent(entry, offset), let dictionary = dictionaries[slot] else { return false }
            var text = dictionary[place.code(entry, offset)]
            try text.withUTF8 { try body(UnsafeRawBufferPointer($0)) }
        default: return false
        }
        return true
    }
}
