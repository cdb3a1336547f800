extension Row {
    /// Every row, in the order in which they are run and printed.
    static var all: [Row] {
        [
            filter, count, fetchAll, sortLimit, sortLimitIndexed, sortAll, lookUp, equality, children, insert, update,
            delete, logCommit, logWriters, logInsert, logOpen, logReplay, logReplayUnindexed, logSize, jsonSave,
            jsonLoad, resident,
            limitedFetch, readersBesideSave, evaluate, lowering, readNumber,
            readShortString, readLongString,
        ]
    }

    static let memory = "Mortise, memory:"
    static let structs = "array of structs"
    static let objects = "array of class instances"
    static let columnLoop = "loop over coded columns"
}
