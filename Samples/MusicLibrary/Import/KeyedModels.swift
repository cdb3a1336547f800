import Mortise

/// The models made from one table so far, by their identifiers in the file.
struct KeyedModels<Model: PersistentModel> {
    private let table: String
    private var models: [Int: Model] = [:]

    init(table: String) {
        self.table = table
    }

    /// Inserts `model` into `context` and remembers it under the identifier in column `key` of its row.
    ///
    /// - Throws: ``ChinookError/duplicateKey(_:_:key:)`` if an earlier row has the same identifier.
    mutating func insert(_ model: Model, of row: ChinookRow, key: String, into context: ModelContext) throws {
        let identifier = try row.int(key)
        guard models.updateValue(model, forKey: identifier) == nil else {
            throw ChinookError.duplicateKey(row.place, key, key: identifier)
        }
        context.insert(model)
    }

    /// The model that a column refers to.
    ///
    /// - Throws: ``ChinookError/danglingKey(_:_:table:key:)`` if the model does not exist.
    func referred(from row: ChinookRow, _ column: String) throws -> Model {
        let identifier = try row.int(column)
        guard let model = models[identifier] else {
            throw ChinookError.danglingKey(row.place, column, table: table, key: identifier)
        }
        return model
    }

    /// The model that a column refers to, or nil if the column is `null`.
    ///
    /// - Throws: ``ChinookError/danglingKey(_:_:table:key:)`` if it refers to none.
    func optionallyReferred(from row: ChinookRow, _ column: String) throws -> Model? {
        try row.optionalInt(column) == nil ? nil : referred(from: row, column)
    }
}
