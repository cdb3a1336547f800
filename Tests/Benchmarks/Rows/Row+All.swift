extension Row {
    /// Every row, in the order in which they are run and printed.
    static var all: [Row] {
        [
            insert, fetchAll, filter, count, evaluate, lowering, lookUp, children, update, readNumber, readShortString,
            readLongString,
            jsonSave, jsonLoad,
        ]
    }

    static let memory = "Mortise, memory:"
    static let structs = "array of structs"
    static let objects = "array of class instances"
    static let columnLoop = "loop over coded columns"
}
