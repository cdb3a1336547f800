#if SQLite
import MortiseCore
import MortiseSQL

/// A look at what `SQLiteMigration` would do: the records are those of a copy in either case, which is needed where code is due or where
/// tables cannot be brought to a schema.
final class SQLitePreview: StoreMigration {
    private let copying: any StoreMigration
    /// Where the file itself is by now; nil once a copy is needed.
    private var metadata: StoreMetadata?
    private let configuration: SQLiteConfiguration

    init(of configuration: SQLiteConfiguration, _ copying: any StoreMigration) throws {
        self.configuration = configuration
        self.copying = copying
        let connection = try SQLiteConnection(
            configuration.path, .readOnly, busyTimeout: configuration.busyTimeout)
        defer { connection.close() }
        let metadata = try StoreMetadata(connection)
        self.metadata = metadata.schema == copying.storedSchema ? metadata : nil
    }

    var storedSchema: StoredSchema { copying.storedSchema }

    var isCopy: Bool { metadata == nil }

    var keepsIdentifiers: Bool { isCopy ? copying.keepsIdentifiers : true }

    var advance: (_ records: Int) throws -> Void {
        get { copying.advance }
        set { copying.advance = newValue }
    }

    func count(ofEntity name: String) throws -> Int { try copying.count(ofEntity: name) }

    func adapt(to schema: StoredSchema, converting converted: [String: Set<String>]) throws -> SchemaLoss {
        if let known = metadata {
            let change = converted.isEmpty ? try? StoreChange(known, to: schema, configuration) : nil
            metadata = change?.planned(known)
        }
        return try copying.adapt(to: schema, converting: converted)
    }

    func frozen(under schema: Schema) throws -> any VersionedDataStore {
        metadata = nil
        return try copying.frozen(under: schema)
    }

    func working(under schema: Schema) throws -> any VersionedDataStore {
        metadata = nil
        return try copying.working(under: schema)
    }

    func delete(_ records: [PersistentIdentifier]) throws {
        metadata = nil
        try copying.delete(records)
    }

    func prepare(keepingCopy keepsCopy: Bool, atMost most: Int?) throws { throw DataStoreError.unsupportedFeature }

    func commit() throws { throw DataStoreError.unsupportedFeature }

    func abandon() { copying.abandon() }
}

extension StoreChange {
    /// What the store would say of itself after the change.
    fileprivate func planned(_ metadata: StoreMetadata) -> StoreMetadata {
        var metadata = metadata
        metadata.catalog = steps.catalog
        metadata.schema = target.keepingNames(of: metadata.schema)
        return metadata
    }
}
#endif
