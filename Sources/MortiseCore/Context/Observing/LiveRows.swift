/// The rows of a live result as they were shown at one time. A handle says which of the result's tables a row is in, and where; the
/// upper half of the handles is for models that are not stored yet.
struct LiveRows: Sendable {
    static let firstPending = UInt32(1) << 31

    let snapshot: CountedOrder.Snapshot
    let visible: Range<Int>
    /// The rows of each table at that time.
    let sources: [RowSource]
    /// The temporary identifiers of unsaved models.
    let names: [UInt32: PersistentIdentifier]

    var count: Int { visible.count }

    /// Nil for a row that is too far back.
    static func handle(table: Int, row: Int, of tables: Int) -> UInt32? {
        let handle = row * tables + table
        return handle < firstPending ? UInt32(handle) : nil
    }

    static func place(of handle: UInt32, of tables: Int) -> (table: Int, row: Int) {
        let row = Int(handle) / tables
        return (Int(handle) - row * tables, row)
    }

    func identifier(of handle: UInt32) -> PersistentIdentifier {
        if let name = names[handle] { return name }
        let (table, row) = Self.place(of: handle, of: sources.count)
        return sources[table].identifier(ofRow: row)
    }

    /// The handle of a stored record; nil if it was not there.
    func handle(of identifier: PersistentIdentifier, table: Int) -> UInt32? {
        sources[table].row(of: identifier).flatMap { Self.handle(table: table, row: $0, of: sources.count) }
    }

    var contents: ResultsContents {
        ResultsContents(count: count) { [self] in identifier(of: snapshot[visible.lowerBound + $0]) }
    }
}

/// The rows of a live result that are not stored yet.
struct LivePending {
    private var handles: [ObjectIdentifier: UInt32] = [:]
    private(set) var models: [UInt32: any PersistentModel] = [:]
    private(set) var identifiers: [UInt32: PersistentIdentifier] = [:]
    private var next = LiveRows.firstPending

    init() {}

    func handle(known model: any PersistentModel) -> UInt32? { handles[ObjectIdentifier(model)] }
    func model(of handle: UInt32) -> (any PersistentModel)? { models[handle] }

    mutating func handle(of model: any PersistentModel) -> UInt32 {
        if let known = handles[ObjectIdentifier(model)] { return known }
        let handle = next
        // The greatest two are no handles.
        next = next >= UInt32.max - 2 ? LiveRows.firstPending : next + 1
        handles[ObjectIdentifier(model)] = handle
        models[handle] = model
        identifiers[handle] = model.persistentModelID
        return handle
    }

    mutating func remove(_ handle: UInt32) {
        guard let model = models.removeValue(forKey: handle) else { return }
        handles[ObjectIdentifier(model)] = nil
        identifiers[handle] = nil
    }

    /// The models that were saved since they were taken in, with both identifiers.
    func renamed() -> [ResultsChange.Renaming] {
        models.compactMap { handle, model in
            guard let temporary = identifiers[handle], model._table != nil else { return nil }
            let permanent = model.persistentModelID
            // What an undo has brought back may have its old identifier before it is stored again.
            if permanent.isTemporary || permanent == temporary { return nil }
            return .init(temporary: temporary, permanent: permanent)
        }.sorted { $0.permanent < $1.permanent }
    }
}
