import Foundation
import Synchronization

/// Everything a context knows: its tables, its pinned versions, and the models with unsaved changes.
///
/// This and its tables hold each other. The context, its models and the rows that models without context still read are
/// counted, and with the last of them, on whatever thread it goes, the cycle ends. What outlives the context serves the
/// models that are still there with the last version.
final class ContextState: StoreSessionObserver {
    weak var context: ModelContext?
    /// Held by the context.
    private(set) weak var unsaved: UnsavedModels?
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

    var inserted: ModelList { unsaved?.inserted ?? ModelList() }
    var changed: ModelList { unsaved?.changed ?? ModelList() }
    var deleted: ModelList { unsaved?.deleted ?? ModelList() }
    /// Records that were changed here and deleted elsewhere.
    var deletedElsewhere: [PersistentIdentifier] = []
    /// Models whose records are gone, so that other such models can still refer to them.
    var detachedModels = DetachedModels()
    var storedMembers = StoredMembers()
    /// What the temporary identifiers of the last save became.
    var settled = SettledIdentifiers()
    /// Whether other contexts have saved since delete rules were followed, so that these may apply to more records.
    var hasStaleDeletions = false
    /// What a save has changed on its own account so far; nil while nothing is saved, and if nothing had to be settled.
    var saveUndo: SaveUndo?
    /// While the deletion of a model is undone, that model and all models that were deleted with it.
    private var returning = ReturningModels()
    /// Whether the version being read is the result of this context's own save.
    var isTakingOver = false
    /// Changes whose observers have not been notified yet, because stores are locked; nil while none is locked.
    private var deferredNotifications: [ValueChange]?
    /// The first error that a place without `throws` ran into; the next fetch or save throws it.
    private var latched: (any Error)?
    /// What the last autosave threw. The next fetch throws it; a save says by itself what is in its way.
    private var autosaveFailure: (any Error)?
    /// Called for every model that gets its first unsaved change since the last save.
    var onChange: (() -> Void)?

    /// Creates the state of a context. `isKept` says that the container owns the context, so that the context must not
    /// retain the container.
    init(container: ModelContainer, isKept: Bool, unsaved: UnsavedModels) {
        ownContainer = isKept ? nil : container
        keeper = container
        parts = container.parts
        self.unsaved = unsaved
        stores = container.stores
        sessions = []
        sessions = container.stores.map { StoreSession($0, container.schema, observer: self) }
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
        table.verifiesRows = layout.needsVerification && source.needsVerification(for: layout)
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

    /// Runs a body of getters.
    /// - Throws: the first error that they meet; errors kept before stay kept.
    func resolving<R>(_ body: () -> R) throws -> R {
        let before = latched.take()
        let result = body()
        let met = latched
        latched = before
        if let met { throw met }
        return result
    }

    func throwLatched() throws {
        guard latched != nil || autosaveFailure != nil else { return }
        if let error = latched.take() ?? autosaveFailure.take() { throw error }
    }

    var latchedError: (any Error)? { latched }

    func latchAutosave(_ error: any Error) { autosaveFailure = error }
    func forgetAutosave() { autosaveFailure = nil }

    /// Keeps a request that cannot be carried out: the next call that can throws the error, and every save does until
    /// the request is undone.
    func refuse(
        _ error: any Error, inserting model: (any PersistentModel)? = nil,
        while holds: @escaping () -> Bool = { true }
    ) {
        latch(error)
        unsaved?.refusals.append(Refusal(inserted: model, error: error, holds: holds))
    }

    /// - Throws: the error of the first refused request that has not been undone.
    func throwRefused() throws {
        if let first = unsaved?.refusals.first { throw first.error }
    }

    /// Forgets the requests that were undone. Before a save nothing is forgotten: a deletion, say, may be taken back.
    func forgetUndoneRefusals() {
        if unsaved?.refusals.isEmpty == false { unsaved?.refusals.removeUndone() }
    }

    // MARK: Observers

    /// Whether observers have to wait.
    var defersNotifications: Bool { deferredNotifications != nil }

    func deferNotification(_ change: ValueChange) { deferredNotifications?.append(change) }
    var deferredNotificationCount: Int { deferredNotifications?.count ?? 0 }
    /// Forgets notifications of changes that were undone before anybody was notified.
    func dropDeferredNotifications(after count: Int) {
        guard let all = deferredNotifications, all.count > count else { return }
        deferredNotifications?.removeSubrange(count...)
    }

    /// Runs a body that locks stores. Observers are notified afterwards, even if it throws: they may save on another
    /// thread and wait for it, so no lock may be held then.
    func withDeferredNotifications<R>(_ body: () throws -> R) rethrows -> R {
        if defersNotifications { return try body() }
        deferredNotifications = []
        defer {
            let changes = deferredNotifications ?? []
            deferredNotifications = nil
            for change in changes { change.willSet() }
            for change in changes { change.didSet() }
        }
        return try body()
    }

    // MARK: Finding models

    /// The registered or stored model with that identifier in the pinned version; nil if there is none.
    func model(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        if identifier.isTemporary {
            if let permanent = settled.permanent(of: identifier) { return model(for: permanent) }
            return unsaved?.inserted.first(identifier)
        }
        guard let table = table(of: identifier), !Going.contains(identifier, in: self) else { return nil }
        if let row = table.source.row(of: identifier) { return isKnown(row, in: table) ? table.model(row: row) : nil }
        guard table.session.version == nil else { return nil }
        do {
            try table.session.load([identifier], as: table.layout.type)
        } catch {
            latch(error)
        }
        return table.source.row(of: identifier).map { table.model(row: $0) }
    }

    /// The existing models among those identifiers, in that order.
    func models(for identifiers: [PersistentIdentifier]) -> [any PersistentModel] {
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
        var models: [any PersistentModel] = []
        models.reserveCapacity(identifiers.count)
        // Members mostly come from one table, and its models are made in one go.
        var rows: [Int] = []
        var current: ModelTable?
        for identifier in identifiers {
            guard let table = table(of: identifier), let row = table.source.row(of: identifier),
                isKnown(row, in: table), !Going.contains(identifier, in: self)
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
        guard table.session.version != nil, unsaved?.deleted.isEmpty ?? true, !Going.isActive else { return nil }
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

    var unsavedCount: Int { inserted.count + changed.count + deleted.count }
    var hasChanges: Bool {
        guard let unsaved else { return false }
        return !unsaved.inserted.isEmpty || !unsaved.changed.isEmpty || !unsaved.deleted.isEmpty
            || !deletedElsewhere.isEmpty
    }

    /// The entities of the models with unsaved changes, and maybe of others that had some.
    var unsavedEntities: Set<String> {
        guard let unsaved else { return [] }
        return unsaved.inserted.entities.union(unsaved.changed.entities).union(unsaved.deleted.entities)
    }

    /// Whether the context has been released, so that nothing can be saved any more.
    var isGone: Bool { unsaved == nil }

    func noteChange(of model: any PersistentModel) {
        // Without the context nothing can be saved any more, and holding the model would keep the two alive for ever.
        guard let unsaved else { return }
        saveUndo?.note(model)
        model._modelState.flags.insert(.isChanged)
        keepBase(of: model)
        unsaved.changed.append(model)
        onChange?()
    }

    /// Remembers a stored model's record as it is now, unless it already has unsaved changes.
    private func keepBase(of model: any PersistentModel) {
        guard model._modelState.row >= 0, let table = model._modelState.table else { return }
        let draft = model._modelState.ensureDraft()
        if draft.base == nil { draft.base = BaseRow(of: table, row: model._modelState.row) }
        if let unsaved { draft.lend(to: unsaved.reference, required: table.layout.record.requiredTargets) }
    }

    /// Inserts a model, and every model without a context that it reaches. Inserting a deleted model also brings back what
    /// its deletion took.
    /// `isRequested` says that the program asked for this model by name, and not only for relating it to another.
    func insert(_ first: any PersistentModel, isRequested: Bool = false) {
        let outer = returning
        returning = ReturningModels()
        defer { returning = outer }
        var pending: [any PersistentModel] = []
        let unsaved = unsaved
        insert(first, &pending, unsaved, isRequested)
        while let model = pending.popLast() { insert(model, &pending, unsaved, false) }
        // Now that all are back, also what they were to each other is.
        for model in returning.all {
            if let table = model._modelState.table, table.state === self { model._relink(in: table.layout) }
        }
        onChange?()
    }

    private func insert(
        _ model: any PersistentModel, _ pending: inout [any PersistentModel], _ unsaved: UnsavedModels?,
        _ isRequested: Bool
    ) {
        model._adoptInitialValues()
        saveUndo?.note(model)
        var followers: [any PersistentModel] = []
        // What comes back with a model that comes back is among those that come back already.
        if model._modelState.flags.contains(.isDeleted), let unsaved, !returning.contains(model) {
            followers = unsaved.cascades.returning(with: model)
            returning.add(model)
            for follower in followers { returning.add(follower) }
        }
        defer { if !followers.isEmpty { pending += followers.reversed() } }
        if let table = model._modelState.table {
            if table.state === self {
                undelete(model)
            } else {
                refuse(ModelContextError.registeredElsewhere(model: model.persistentModelID), inserting: model)
            }
            return
        }
        guard let table = table(for: type(of: model)) else {
            refuse(
                ModelContextError.unknownModel(type: "\(type(of: model))"), inserting: model,
                while: isRequested ? { true } : relations(of: model))
            return
        }
        // A context that is gone takes nothing in.
        guard let unsaved else { return }
        let draft = model._modelState.ensureDraft()
        if model._modelState.flags.contains(.isDeleted) || draft.survivor != nil || draft.isLetGo {
            model._thaw(in: table, with: returning)
            draft.isLetGo = false
        }
        if draft.identifier == nil, draft.survivor == nil {
            draft.identifier = .temporary(namespace: table.temporaryNamespace)
        } else if draft.identifier?.isTemporary == false || draft.survivor != nil {
            // A deleted model that is inserted again is a new record: its old identity is gone with the old one.
            // So is one that another model took the place of.
            draft.identifier = .temporary(entityName: table.layout.entityName)
            draft.survivor = nil
        }
        model._modelState.enter(table)
        draft.lend(to: unsaved.reference, required: table.layout.record.requiredTargets)
        unsaved.inserted.append(model)
        unsaved.endDeletion(of: model)
        let reached = model._connectInserted(in: table.layout)
        if !reached.isEmpty { pending += reached.reversed() }
    }

    private func undelete(_ model: any PersistentModel) {
        guard let table = model._modelState.table, model._modelState.flags.contains(.isDeleted), let unsaved else {
            return
        }
        model._relink(in: table.layout)
        model._modelState.flags.subtract([.isDeleted, .awaitsRules])
        unsaved.deleted.remove(model)
        unsaved.endDeletion(of: model)
        if model._modelState.row < 0 {
            model._modelState.flags.insert(.isInserted)
            unsaved.inserted.append(model)
        } else if model._modelState.draft?.changed.isEmpty == false {
            model._modelState.flags.insert(.isChanged)
            unsaved.changed.append(model)
        } else {
            model._modelState.dropSavedDraft(table.layout.record)
        }
        model._leaveDeleted(in: table.layout, except: returning)
    }

    /// What keeps a model with the context that could not take it in: that a model of the context and this one refer to
    /// each other.
    private func relations(of model: any PersistentModel) -> () -> Bool {
        typealias Relation = (owner: any PersistentModel, slot: Int, target: any PersistentModel)
        func relations(of owner: any PersistentModel, where isTarget: (any PersistentModel) -> Bool) -> [Relation] {
            (owner._modelState.draft?.others ?? []).flatMap { other -> [Relation] in
                let targets: [any PersistentModel] =
                    switch other.value {
                    case .model(let target?): [target]
                    case .models(let changes): changes.added
                    default: []
                    }
                return targets.filter(isTarget).map { (owner, other.slot, $0) }
            }
        }
        var found = relations(of: model) { $0._modelState.table?.state === self }
        if found.isEmpty {
            for list in [inserted, changed] {
                for owner in list { found += relations(of: owner) { $0 === model } }
            }
        }
        return { [found, unowned self] in
            found.contains { owner, slot, target in
                let ours = owner === model ? target : owner
                return ours._modelState.table?.state === self && !ours._modelState.flags.contains(.isDeleted)
                    && owner._refers(to: target, at: slot)
            }
        }
    }

    func delete(_ model: any PersistentModel) {
        model._adoptInitialValues()
        guard let table = model._modelState.table, table.state === self else {
            if unsaved?.refusals.removeInsertions(of: model) == true { return }
            if model._modelState.table != nil {
                refuse(ModelContextError.registeredElsewhere(model: model.persistentModelID))
            } else if let survivor = model._survivor {
                delete(survivor)
            }
            return
        }
        guard let unsaved else { return }
        saveUndo?.note(model)
        guard !model._modelState.flags.contains(.isDeleted) else {
            unsaved.cascades.forget(model)
            return
        }
        unsaved.changed.remove(model)
        unsaved.inserted.remove(model)
        if model._modelState.row >= 0 {
            keepBase(of: model)
            unsaved.deleted.append(model)
        }
        model._modelState.flags = [.isDeleted, .awaitsRules]
        unsaved.unpropagated.append(model)
        onChange?()
    }

    /// Follows the delete rules of models deleted since the last call.
    ///
    /// All that is to be deleted is known before anything is taken from it, so that the order of deletions decides nothing.
    /// - Parameter again: deleted models whose rules are followed once more, to what is stored.
    func propagateDeletes(again: [any PersistentModel] = []) {
        for model in again { cascade(from: model, to: model._cascaded(storedOnly: true)) }
        guard let unsaved else { return }
        var again = again
        repeat {
            var followed: [any PersistentModel] = []
            while let model = unsaved.unpropagated.popLast() {
                guard model._modelState.flags.contains(.isDeleted) else { continue }
                cascade(from: model, to: model._cascaded())
                followed.append(model)
            }
            // An observer of what is taken away may bring models back, or roll back.
            for model in again where model._modelState.flags.contains(.isDeleted) {
                model._releaseRelated(storedOnly: true)
            }
            again = []
            for model in followed where model._modelState.flags.contains(.isDeleted) {
                model._modelState.flags.remove(.awaitsRules)
                model._releaseRelated()
            }
            for model in followed where model._modelState.flags.contains(.isDeleted) && model._modelState.row < 0 {
                guard model._modelState.table != nil else { continue }
                // Never stored: the deletion is complete.
                model._modelState.table = nil
                model._modelState.draft?.takeBackWeakly()
            }
            // It may have deleted others, too.
        } while !unsaved.unpropagated.isEmpty
    }

    /// Deletes what the deletion of a model takes with it.
    func cascade(from model: any PersistentModel, to related: [any PersistentModel]) {
        let record = related.isEmpty ? nil : LedRecord(model)
        for related in related where related !== model {
            if !related._modelState.flags.contains(.isDeleted) {
                delete(related)
            } else if unsaved?.cascades.hasTaken(related) != true {
                // The program has deleted it itself.
                continue
            }
            unsaved?.cascades.note(related, deletedWith: model, record)
        }
    }

    /// Forgets all changes that a rollback has dropped.
    func clearChanges() {
        unsaved?.clear()
        deletedElsewhere = []
    }

    /// Forgets the insertion of models that a save has written.
    func clearInserted(_ models: [any PersistentModel]) {
        guard let unsaved else { return }
        if models.count == unsaved.inserted.count, zip(models, unsaved.inserted).allSatisfy({ $0 === $1 }) {
            unsaved.inserted = ModelList()
        } else {
            for model in models { unsaved.inserted.remove(model) }
        }
    }

    func forgetDeletedElsewhere() { deletedElsewhere = [] }

    /// Notes that the record of a model with unsaved changes is gone.
    func markDeletedElsewhere(_ model: any PersistentModel) {
        unsaved?.changed.remove(model)
        deletedElsewhere.append(model.persistentModelID)
    }

    func forgetDeletion(of model: any PersistentModel) {
        unsaved?.deleted.remove(model)
        unsaved?.endDeletion(of: model)
    }

    /// Notes that the record of a model that is deleted here is gone.
    func markGone(_ model: any PersistentModel) {
        unsaved?.deleted.remove(model)
        unsaved?.cascades.noteGone(model)
    }

    /// Removes a model from the list of those to save if nothing is left to write.
    func noteUnchanged(_ model: any PersistentModel) {
        guard let table = model._modelState.table, model._modelState.flags.contains(.isChanged),
            model._modelState.draft?.changed.isEmpty ?? true
        else { return }
        removeChanged(model)
        model._modelState.flags.remove(.isChanged)
        model._modelState.dropSavedDraft(table.layout.record)
    }

    func removeChanged(_ model: any PersistentModel) { unsaved?.changed.remove(model) }
    func removeInserted(_ model: any PersistentModel) { unsaved?.inserted.remove(model) }
}

extension PersistentModel {
    /// The model that this one was merged into for its unique values, and that has taken its place; nil if there is none.
    var _survivor: (any PersistentModel)? {
        guard _modelState.table == nil, var survivor = _modelState.draft?.survivor else { return nil }
        while survivor._modelState.table == nil, let next = survivor._modelState.draft?.survivor { survivor = next }
        return survivor
    }
}
