/// The rows that a store found for a query, by the numbers of the entities that they are of.
struct FoundRows {
    var entities: [String] = []
    var rows: [RecordReference] = []
    /// The number of rows, if the store has only counted them.
    var count: Int?
    /// Their identifiers, if the store has returned no values.
    var identifiers: [PersistentIdentifier]?
    var report = ExecutionReport(scanned: 0)

    /// Adds a row of an entity. Rows of one entity mostly come together.
    mutating func append(_ row: Int, ofEntity name: String) {
        let number = entities.lastIndex(of: name) ?? entities.count
        if number == entities.count { entities.append(name) }
        rows.append(RecordReference(table: number, row: row))
    }
}

/// What a store of Apple's shape answered to a descriptor, and how much of it is left to do.
struct DescriptorAnswer {
    var found = FoundRows()
    var isFiltered = true
    var isSorted = true
    var isLimited = true
}
