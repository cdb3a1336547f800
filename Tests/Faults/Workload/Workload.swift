public import MortiseAppendLog
public import MortiseCore
public import MortiseEngine
public import MortiseJSONFile

/// A run of saves whose every state is known beforehand, so that whoever opens the store at any time can tell which one
/// it holds, or that it holds none of them.
///
/// State 0 is empty. The save that leads to state n inserts a courier with three parcels, relabels those of the courier
/// before, and deletes what is three states old, so that each save inserts, updates and deletes.
public enum Workload {
    static let parcelsOfState = 3

    public static var schema: Schema { Schema([Parcel.self, Courier.self]) }

    /// Opens a file with the workload's schema.
    public static func open(_ configuration: any DataStoreConfiguration) throws -> ModelContainer {
        try ModelContainer(for: schema, configurations: [configuration])
    }

    /// Opens a file with the adapter that its name asks for: an append log where it ends in `.log`, otherwise JSON.
    public static func open(
        path: String, allowsSave: Bool = true, sharing: AppendLogSharing = .exclusive,
        mistake: BrokenFileSystem.Mistake? = nil
    ) throws -> ModelContainer {
        let real = POSIXFileSystem()
        let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(real, mistake: $0) } ?? real
        if path.hasSuffix(".log") {
            return try open(
                AppendLogConfiguration(
                    path: path, allowsSave: allowsSave, sharing: sharing, history: .keep(days: 0), in: fileSystem))
        }
        return try open(JSONFileConfiguration(path: path, allowsSave: allowsSave, in: fileSystem))
    }

    /// Opens an append log that is compacted in the background as soon as half of it is history.
    public static func openCompactingItself(
        path: String, mistake: BrokenFileSystem.Mistake? = nil
    ) throws -> ModelContainer {
        let real = POSIXFileSystem()
        var configuration = AppendLogConfiguration(
            path: path, history: .keep(days: 0), checkpoints: .onCall,
            in: mistake.map { BrokenFileSystem(real, mistake: $0) } ?? real)
        configuration.leastGarbage = 200
        return try open(configuration)
    }

    /// Opens an append log that writes every save as it does long ones: the header after what is behind it.
    public static func openWritingHeadersLast(
        path: String, mistake: BrokenFileSystem.Mistake? = nil
    ) throws -> ModelContainer {
        let real = POSIXFileSystem()
        var configuration = AppendLogConfiguration(
            path: path, history: .keep(days: 0), in: mistake.map { BrokenFileSystem(real, mistake: $0) } ?? real)
        configuration.pieceSize = 64
        return try open(configuration)
    }

    /// Opens a file without the framework above the store.
    public static func openStore(_ configuration: JSONFileConfiguration) throws -> JSONFileStore {
        var configuration = configuration
        configuration.schema = configuration.schema ?? schema
        return try JSONFileStore(configuration, migrationPlan: nil)
    }

    /// Opens a log without the framework above the store.
    public static func openStore(_ configuration: AppendLogConfiguration) throws -> AppendLogStore {
        var configuration = configuration
        configuration.schema = configuration.schema ?? schema
        return try AppendLogStore(configuration, migrationPlan: nil)
    }

    /// The state that a container shows; nil if none.
    public static func state(of container: ModelContainer, upTo last: Int = 60) -> Int? {
        container.store(JSONFileStore.self).flatMap { state(of: $0, upTo: last) }
            ?? container.store(AppendLogStore.self).flatMap { state(of: $0, upTo: last) }
    }

    /// Changes a context that shows state `state - 1` so that a save leads to `state`.
    public static func change(_ context: ModelContext, to state: Int) throws {
        for parcel in try context.fetch(FetchDescriptor<Parcel>()) {
            switch parcel.number / 10 {
            case state - 1: parcel.label = "seen by \(state)"
            case ...(state - 3): context.delete(parcel)
            default: break
            }
        }
        for courier in try context.fetch(FetchDescriptor<Courier>()) where courier.name == "courier \(state - 2)" {
            context.delete(courier)
        }
        let courier = Courier(name: "courier \(state)")
        context.insert(courier)
        for index in 0..<parcelsOfState {
            context.insert(
                Parcel(
                    number: state * 10 + index, label: "new", weight: Double(state) + Double(index) / 7,
                    courier: courier))
        }
    }

    /// What the store holds in a state: a line for each record.
    public static func lines(of state: Int) -> [String] {
        guard state > 0 else { return [] }
        var lines: [String] = []
        for batch in max(1, state - 2)...state {
            for index in 0..<parcelsOfState {
                let label = batch == state ? "new" : "seen by \(batch + 1)"
                let courier = batch > state - 2 ? "courier \(batch)" : "none"
                let weight = Double(batch) + Double(index) / 7
                lines.append("parcel \(batch * 10 + index), \(label), \(weight.bitPattern), \(courier)")
            }
            if batch > state - 2 { lines.append("courier \(batch), \(parcelsOfState)") }
        }
        return lines.sorted()
    }

    /// What a store holds: a line for each record.
    public static func lines(of store: some EngineDataStore) -> [String] {
        lines(of: store.engine.version)
    }

    /// What a version of a store holds: a line for each record.
    public static func lines(of version: EngineVersion) -> [String] {
        var names: [PersistentIdentifier: String] = [:]
        var lines: [String] = []
        forEachRecord("Courier", in: version) { record, values in
            guard case .string(let name)? = values["name"] else { return lines.append("courier without a name") }
            names[record] = name
            guard case .identifiers(let parcels)? = values["parcels"] else { return }
            lines.append("\(name), \(parcels.count)")
        }
        forEachRecord("Parcel", in: version) { _, values in
            guard case .integer(let number)? = values["number"], case .string(let label)? = values["label"],
                case .double(let weight)? = values["weight"]
            else { return lines.append("parcel without a value") }
            var courier = "none"
            if case .identifier(let record)? = values["courier"] { courier = names[record] ?? "unknown" }
            lines.append("parcel \(number), \(label), \(weight.bitPattern), \(courier)")
        }
        return lines.sorted()
    }

    /// The state that a store holds, up to `last`; nil if it holds none of them whole.
    public static func state(of store: some EngineDataStore, upTo last: Int = 60) -> Int? {
        let lines = lines(of: store)
        return (0...last).first { self.lines(of: $0) == lines }
    }

    private static func forEachRecord(
        _ entity: String, in version: EngineVersion,
        _ body: (PersistentIdentifier, [String: StoredValue]) -> Void
    ) {
        guard let table = version.tables[entity], let layout = version.catalog.layouts[entity] else { return }
        for row in 0..<table.endRow where table.contains(row: row) {
            var values: [String: StoredValue] = [:]
            for (slot, description) in layout.slots.enumerated() {
                values[description.name] = table.value(row: row, slot: slot)
            }
            body(table.identifier(ofRow: row), values)
        }
    }
}

extension ModelContainer {
    /// Saves the workload's next state.
    public func advance(to state: Int) throws {
        let context = ModelContext(self)
        try Workload.change(context, to: state)
        try context.save()
    }
}
