/// Goes from record to record in the value of `records`, looking only at their numbers. It demands no more than it
/// needs to find its way.
struct RecordWalker {
    struct Record {
        let entity: String
        let sequence: UInt64
        /// Where the record begins.
        let offset: Int
    }

    private var reader: JSONReader
    private var entity: String?

    /// Begins with a reader positioned before the value of `records`.
    init(_ reader: JSONReader) { self.reader = reader }

    /// How far the text was read.
    var position: Int { reader.position }

    /// Enters the next record, up to its number; nil after the last.
    /// - Throws: an error where the text is not as described; the document reader tells precisely.
    mutating func next() throws -> Record? {
        if entity == nil {
            try reader.beginObject()
            guard try nextEntity() else { return nil }
        }
        while try !reader.nextElement() {
            guard try nextEntity() else { return nil }
        }
        _ = try reader.peek()
        let offset = reader.position
        try reader.beginObject()
        guard try reader.nextKey() == DocumentPlan.identifierKey, let entity,
            let sequence = reader.unsigned(try reader.readNumber())
        else { throw DocumentFault(.missingIdentifier, at: offset) }
        return Record(entity: entity, sequence: sequence, offset: offset)
    }

    private mutating func nextEntity() throws -> Bool {
        guard let name = try reader.nextKey() else { return false }
        entity = name
        try reader.beginArray()
        return true
    }

    /// Leaves the record entered.
    mutating func skip() throws {
        while try reader.nextKey() != nil { try reader.skipValue() }
    }

    /// Where the value of a property begins in the record entered.
    mutating func offset(of property: String) throws -> Int? {
        while let key = try reader.nextKey() {
            _ = try reader.peek()
            if key == property { return reader.position }
            try reader.skipValue()
        }
        return nil
    }
}

extension RecordDirectory {
    /// Finds out in advance which entity has which records, with a reader positioned before the value of `records`.
    ///
    /// Stops at whatever is wrong: reading the records finds that again, after everything that is wrong before it.
    init(scanning reader: JSONReader, _ plan: DocumentPlan) {
        self.init(entityCount: plan.entities.count)
        var walker = RecordWalker(reader)
        while let record = try? walker.next(), let entity = plan.index(of: record.entity) {
            if let last = last(of: entity), last >= record.sequence { break }
            append(record.sequence, to: entity)
            guard (try? walker.skip()) != nil else { break }
        }
        mergeAll()
    }
}
