import Foundation
import Synchronization

/// Everything a context knows of its stores: its tables, its pinned versions, and its models.
///
/// This and its tables hold each other. The context, its models and the rows that models without context still read are
/// counted, and with the last of them, on whatever thread it goes, the cycle ends. What outlives the context serves the
/// models that are still there with the last version.
final class ContextState: StoreSessionObserver, ModelFinding {
    weak var context: ModelContext?
    /// Whether some of several stores saved their part in the last save, which failed in another.
    var savedInPart = false
    /// What was stored when a transaction began that is repeated on conflicts; nil outside of one.
    var repeatable: RepeatableStart?
    /// Whether the context reads its stores as they were, and saves nothing.
    let readsPast: Bool
    /// Whether queries read the versions that are read already: they are parts of one answer.
    var staysAtVersion = false
    /// Held by the context.
    private(set) weak var tracker: ChangeTracker?
    private let holders = Atomic(0)
    private let ownContainer: ModelContainer?
    /// The container of its main context, which keeps that.
    private weak var keeper: ModelContainer?
    private let parts: ModelContainer.Parts
    private(set) var tables: [String: ModelTable] = [:]
    private var tablesByNamespace: [UInt32: ModelTable] = [:]
    /// The table that was asked for by name last: a fetch asks for the same one several times.
    private var lastNamed: ModelTable?
    private var families: [ObjectIdentifier: [ModelTable]] = [:]
    private var tablesByType: [ObjectIdentifier: ModelTable] = [:]
    // Models mostly come many of one type after the other.
    private var lastTable: (type: ObjectIdentifier, table: ModelTable)?
    private(set) var sessions: [StoreSession]
    let stores: [StoreConnection]

    /// Models whose records are gone, so that other such models can still refer to them.
    var detachedModels = DetachedModels()
    var storedMembers = StoredMembers()
    /// What the temporary identifiers of the last save became.
    var settled = SettledIdentifiers()
    /// What has taken the place of records that an undo has made anew under another identifier.
    var successors: [PersistentIdentifier: PersistentIdentifier] = [:]
    /// Whether the version being read is the result of this context's own save.
    var isTakingOver = false
    let notifications = DeferredNotifications()
    /// What follows the context's unsaved changes; nil before anything did.
    @exclusivity(unchecked) var follower: (any UnsavedChangeFollower)?
    /// The first error that a place without `throws` ran into; the next fetch or save throws it.
    private var latched: (any Error)?
    /// The first failure to read a list that a store had left out, which is latched too; see `throwListFailure()`.
    private var listFailure: (any Error)?
    private var latchedIsOfList = false
    /// What the last autosave threw. The next fetch throws it; a save says by itself what is in its way.
    private var autosaveFailure: (any Error)?

    /// Creates the state of a context. `isKept` says that the container owns the context, so that the context must not
    /// retain the container.
    /// With versions of the past, by the place of a store, the context reads those and saves nothing.
    init(container: ModelContainer, isKept: Bool, tracker: ChangeTracker, past: [PastVersion?]? = nil) {
        ownContainer = isKept ? nil : container
        keeper = container
        parts = container.parts
        self.tracker = tracker
        stores = container.stores
        readsPast = past != nil
        sessions = []
        sessions = container.stores.enumerated().map { place, store in
            let session = store.makeSession(container.schema, observer: self)
            guard let past, past.indices.contains(place), let version = past[place] else { return session }
            return PastSession(session, as: version, observer: self)
        }
        tracker.attach(to: self)
    }

    /// The container; created again for a main context that outlives the original one.
    var container: ModelContainer {
        if let known = ownContainer ?? keeper { return known }
        let again = ModelContainer(again: parts)
        keeper = again
        return again
    }

    // MARK: Tables

    /// The context's table for a model type's entity; nil if the container's schema lacks the type.
    func table(for type: any PersistentModel.Type) -> ModelTable? {
        let key = ObjectIdentifier(type)
        if let lastTable, lastTable.type == key { return lastTable.table }
        guard let table = tablesByType[key] ?? container.schema.layout(for: type).flatMap({ table(for: $0) }) else {
            return nil
        }
        tablesByType[key] = table
        lastTable = (key, table)
        return table
    }

    /// The table of a record's entity; nil if the container's schema lacks it.
    func table(of identifier: PersistentIdentifier) -> ModelTable? {
        // Names are looked up once for each store and entity: they cost more than finding the row.
        if let table = tablesByNamespace[identifier.namespace] { return table }
        guard let table = table(named: identifier.entityName) else { return nil }
        tablesByNamespace[identifier.namespace] = table
        return table
    }

    func table(named entityName: String) -> ModelTable? {
        if let lastNamed, lastNamed.layout.entityName == entityName { return lastNamed }
        let found = tables[entityName] ?? container.schema.layouts[entityName].flatMap { table(for: $0) }
        lastNamed = found
        return found
    }

    private func table(for layout: ModelLayout) -> ModelTable? {
        if let table = tables[layout.entityName] { return table }
        guard let index = container.storeIndex(ofEntity: layout.entityName) else { return nil }
        let session = sessions[index]
        session.pin()
        let source = session.source(ofEntity: layout.entityName)
        let table = ModelTable(state: self, layout: layout, session: session, source: source)
        table.verifiesRows = layout.needsVerification && source.needsVerification(for: layout.propertyChecks)
        table.isJournaled = tracker?.journal != nil
        tables[layout.entityName] = table
        return table
    }

    /// The tables of a model type and of the schema's types that inherit from it.
    func tables(under type: any PersistentModel.Type) throws -> [ModelTable] {
        if let known = families[ObjectIdentifier(type)] { return known }
        let found = try findTables(under: type)
        families[ObjectIdentifier(type)] = found
        return found
    }

    private func findTables(under type: any PersistentModel.Type) throws -> [ModelTable] {
        guard let layout = container.schema.layout(for: type) else {
            throw ModelContextError.unknownModel(type: "\(type)")
        }
        return try container.schema.stored.subtree(of: layout.entityName).map { name in
            guard let table = table(named: name) else { throw ModelContextError.unknownModel(type: name) }
            return table
        }
    }

    // MARK: Holders

    /// Adds owners of this state.
    func hold(_ count: Int = 1) { holders.add(count, ordering: .relaxed) }

    /// Removes an owner of this state. May be called on any thread: after the last call nobody else has the state.
    func letGo() {
        if holders.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { endCycle() }
    }

    private func endCycle() {
        // The tables may be all that holds this object.
        let state = Unmanaged.passRetained(self)
        tables = [:]
        lastNamed = nil
        tablesByNamespace = [:]
        families = [:]
        tablesByType = [:]
        lastTable = nil
        state.release()
    }

    // MARK: Errors

    func latch(_ error: any Error) {
        if latched == nil { latched = error }
    }

    func latchListFailure(_ error: any Error) {
        if latched == nil {
            latched = error
            latchedIsOfList = true
        }
        listFailure = listFailure ?? error
    }

    /// - Throws: why a list could not be read that a store had left out. What was calculated from such a list took it for empty,
    ///   or for what it was before.
    func throwListFailure() throws {
        guard let error = listFailure.take() else { return }
        if latchedIsOfList { latched = nil }
        latchedIsOfList = false
        throw error
    }

    /// - Throws: what could not be read, from a store without versions, of the records that a query or a batch has looked at.
    func throwReadFailures() throws {
        if sessions.contains(where: { $0.version == nil }) { try throwLatched() }
    }

    /// Runs a body of getters.
    /// - Throws: the first error that they meet; errors kept before stay kept.
    func resolving<R>(_ body: () -> R) throws -> R {
        let (before, beforeOfList, failure) = (latched.take(), latchedIsOfList, listFailure)
        latchedIsOfList = false
        let result = body()
        let met = latched
        (latched, latchedIsOfList, listFailure) = (before, beforeOfList, failure)
        if let met { throw met }
        return result
    }

    func throwLatched() throws {
        guard latched != nil || autosaveFailure != nil else { return }
        if latchedIsOfList { listFailure = nil }
        latchedIsOfList = false
        if let error = latched.take() ?? autosaveFailure.take() { throw error }
    }

    var latchedError: (any Error)? { latched }

    func latchAutosave(_ error: any Error) { autosaveFailure = error }
    func forgetAutosave() { autosaveFailure = nil }

    // MARK: Finding models

    /// The registered model with that identifier, or the one stored in the pinned version; nil if neither exists.
    func model(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        if identifier.isTemporary {
            if let permanent = settled.permanent(of: identifier) { return model(for: permanent) }
            return tracker?.inserted.first(identifier)
        }
        guard let table = table(of: identifier), !Going.contains(identifier, in: ObjectIdentifier(self)) else {
            return nil
        }
        if let row = table.source.row(of: identifier) { return isKnown(row, in: table) ? table.model(row: row) : nil }
        if let tracker, !tracker.inserted.isEmpty || !successors.isEmpty {
            if let model = tracker.inserted.first(identifier) { return model }
            if let successor = successors[identifier] { return model(for: successor) }
        }
        guard table.session.version == nil else { return nil }
        do {
            try table.session.load([identifier], as: table.layout.type)
        } catch {
            latch(error)
        }
        return table.source.row(of: identifier).map { table.model(row: $0) }
    }

    /// Reads those records of stores without versions that were not read yet, and keeps what prevents it for the next call that
    /// can throw.
    func load(_ identifiers: [PersistentIdentifier]) {
        var missing: [String: [PersistentIdentifier]] = [:]
        for identifier in identifiers {
            guard let table = table(of: identifier), table.session.version == nil,
                table.source.row(of: identifier) == nil
            else { continue }
            missing[table.layout.entityName, default: []].append(identifier)
        }
        for (name, identifiers) in missing {
            guard let table = table(named: name) else { continue }
            do { try table.session.load(identifiers, as: table.layout.type) } catch { latch(error) }
        }
    }

    /// The existing models among those identifiers, in that order.
    func models(for identifiers: [PersistentIdentifier]) -> [any PersistentModel] {
        load(identifiers)
        var models: [any PersistentModel] = []
        models.reserveCapacity(identifiers.count)
        // Members mostly come from one table, and its models are made in one go.
        var rows: [Int] = []
        var current: ModelTable?
        for identifier in identifiers {
            guard let table = table(of: identifier), let row = table.source.row(of: identifier),
                isKnown(row, in: table), !Going.contains(identifier, in: ObjectIdentifier(self))
            else { continue }
            if table !== current {
                if let current { models += current.models(rows: rows) }
                rows = []
                current = table
            }
            rows.append(row)
        }
        if let current { models += current.models(rows: rows) }
        return models
    }

    /// Whether a row that a getter reaches has only values that its properties' types know; if not, keeps the error.
    @inline(__always)
    func isKnown(_ row: Int, in table: ModelTable) -> Bool { !table.verifiesRows || verify(row, in: table) }

    private func verify(_ row: Int, in table: ModelTable) -> Bool {
        // Whatever has a model has been verified.
        if table.registered(row: row) != nil { return true }
        do {
            _ = try table.source.verifyRows(around: row, table.layout)
            return true
        } catch {
            latch(error)
            return false
        }
    }

    /// The identifiers, among those given, of records that a getter cannot show although they are stored: one of their
    /// values is unknown to its property's type, or their store failed to load them.
    func unreadable(among identifiers: [PersistentIdentifier]) -> [(identifier: PersistentIdentifier, error: any Error)]
    {
        var found: [(PersistentIdentifier, any Error)] = []
        for identifier in identifiers where !identifier.isTemporary {
            guard let table = table(of: identifier), table.session.version == nil || table.verifiesRows else {
                continue
            }
            do {
                if table.session.version == nil, table.source.row(of: identifier) == nil {
                    try table.session.load([identifier], as: table.layout.type)
                }
                guard table.verifiesRows, let row = table.source.row(of: identifier), table.registered(row: row) == nil
                else { continue }
                _ = try table.source.verifyRows(around: row, table.layout)
            } catch {
                found.append((identifier, error))
            }
        }
        return found
    }

    /// The members of a stored model's to-many relationship, for a model without its own values.
    /// - Returns: nil if they are not all of one table with models of that type, or cannot be read from rows alone.
    func members<T: PersistentModel>(of table: ModelTable, row: Int, slot: Int, as type: T.Type) -> [T]? {
        guard table.session.version != nil, tracker?.deleted.isEmpty ?? true, !Going.isActive else { return nil }
        let identifiers = table.source.identifiers(row: row, slot: slot)
        guard let first = identifiers.first else { return [] }
        guard let target = self.table(of: first), target.layout.type == type, target.session.version != nil else {
            return nil
        }
        var rows: [Int] = []
        rows.reserveCapacity(identifiers.count)
        for identifier in identifiers {
            guard identifier.namespace == first.namespace else { return nil }
            if let row = target.source.row(of: identifier), isKnown(row, in: target) { rows.append(row) }
        }
        return target.models(rows: rows, ifAllAre: type)
    }

    // MARK: Changes

    var inserted: ModelList { tracker?.inserted ?? ModelList() }
    var changed: ModelList { tracker?.changed ?? ModelList() }
    var deleted: ModelList { tracker?.deleted ?? ModelList() }
    var hasChanges: Bool { tracker?.hasChanges ?? false }
    /// Whether the context has been released, so that nothing can be saved any more.
    var isGone: Bool { tracker == nil }

    /// Follows the delete rules of models deleted since the last call.
    func propagateDeletes() { tracker?.propagateDeletes() }
}

extension PersistentModel {
    /// The model that this one was merged into for its unique values, and that has taken its place; nil without one.
    var _survivor: (any PersistentModel)? {
        guard _table == nil, var survivor = _draft?.survivor else { return nil }
        while survivor._table == nil, let next = survivor._draft?.survivor { survivor = next }
        return survivor
    }
}
