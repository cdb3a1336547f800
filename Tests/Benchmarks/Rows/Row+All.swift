extension Row {
    /// Every row, in the order in which they are run and printed.
    static var all: [Row] {
        [
            filter, count, fetchAll, readAll, sortLimit, sortLimitIndexed, sortAll, lookUp, equality, children, insert,
            fetchElseInsert, update, delete, logCommit, logWriters, logBulk, logInsert, logOpen, logOpenTail,
            logCheckpoint,
            logReplay, logReplayUnindexed,
            logSize,
            jsonSave, jsonLoad, resident,
            limitedFetch, enumeration, readersBesideSave, evaluate, lowering, readNumber,
            readShortString, readLongString, ledgerImport, ledgerImportMemory, ledgerMonthsAndCategories, ledgerMonths,
            ledgerCount, ledgerFirstPages, ledgerMiddlePages, ledgerLastPages, ledgerFindOrCreate, ledgerDelete,
        ]
    }

    /// A cost that the number of records has no part in, with room for caches that hold ten thousand and not a million.
    static let flat = Target.linear(atMost: 2)
    /// The same for single records out of order, each of which is a miss of the cache or several.
    static let nearlyFlat = Target.linear(atMost: 3)

    static let memory = "Mortise, memory:"
    static let structs = "array of structs"
    static let objects = "array of class instances"
    static let columnLoop = "loop over coded columns"
}
