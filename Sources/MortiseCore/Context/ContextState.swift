import Foundation

/// Everything a context knows: its tables, its pinned versions, and the models with unsaved changes.
///
/// Models hold their table and so this object; the public `ModelContext` holds it too and breaks the cycle when it goes.
/// What is left serves the models that are still there with the last version, and goes with the last of them.
final class ContextState {
    weak var context: ModelContext?
    let container: ModelContainer
    private(set) var tables: [String: ModelTable] = [:]
    private var tablesBySpace: [UInt32: ModelTable] = [:]
    /// The table that was asked for by name last: a fetch asks for the same one several times.
    private var lastNamed: ModelTable?
    private var families: [ObjectIdentifier: [ModelTable]] = [:]
    private var tablesByType: [ObjectIdentifier: ModelTable] = [:]
    // Models mostly come many of one type after the other.
    private var lastTable: (type: ObjectIdentifier, table: ModelTable)?
    private(set) var bindings: [StoreBinding]

    private(set) var inserted = ModelList()
    private(set) var changed = ModelList()
    private(set) var deleted = ModelList()
    /// Deleted models whose delete rules have not been followed yet.
    private var unpropagated: [any PersistentModel] = []
    /// Records that were changed here and deleted elsewhere.
    private(set) var vanished: [PersistentIdentifier] = []
    /// Models whose records are gone, for others of the kind that refer to them.
    var departed = DepartedModels()
    /// Whether others have saved since delete rules were followed, so that there may be more to follow them to.
    var hasStaleDeletions = false
    /// Changes whose observers have not been told, because stores are locked; nil while none is.
    private var untold: [ValueChange]?
    /// The first error that a place without `throws` ran into; the next fetch or save throws it.
    private var latched: (any Error)?
    /// Told of every model that gets unsaved changes, once until the next save.
    var onChange: (() -> Void)?

    init(container: ModelContainer) {
        self.container = container
        self.bindings = container.stores.map(StoreBinding.init)
    }

    // MARK: Tables

    /// The context's table of a model type's entity; nil where the container's schema does not hold the type.
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

    /// The table of a record's entity; nil where the container's schema does not hold it.
    func table(of identifier: PersistentIdentifier) -> ModelTable? {
        // Names are looked up once for each store and entity: they cost more than finding the row.
        if let table = tablesBySpace[identifier.space] { return table }
        guard let table = table(named: identifier.entityName) else { return nil }
        tablesBySpace[identifier.space] = table
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
        let binding = bindings[index]
        if binding.version == nil { binding.version = binding.store.version }
        let source = binding.version.map { $0.rows(ofEntity: layout.entityName) ?? RowSource() } ?? SnapshotRows()
        let table = ModelTable(state: self, layout: layout, binding: binding, source: source)
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
            table.isFetched = true
            // The binding may have been verified before this table was asked for.
            if table.verifiesRows { table.binding.isVerified = false }
            return table
        }
    }

    func tableEmptied() {
        if context == nil, tables.values.allSatisfy({ $0.registeredCount == 0 }) {
            tables = [:]
            lastNamed = nil
            tablesBySpace = [:]
            families = [:]
            tablesByType = [:]
            lastTable = nil
        }
    }

    /// The public context is going: unsaved changes are dropped, since nothing could save them any more.
    func contextWillGo() {
        inserted = ModelList()
        changed = ModelList()
        deleted = ModelList()
        unpropagated = []
        onChange = nil
        tableEmptied()
    }

    // MARK: Errors

    func latch(_ error: any Error) {
        if latched == nil { latched = error }
    }

    /// Runs a body of getters.
    /// - Throws: the first error that they ran into; what was latched before stays latched.
    func resolving<R>(_ body: () -> R) throws -> R {
        let before = latched.take()
        let result = body()
        let met = latched
        latched = before
        if let met { throw met }
        return result
    }

    func throwLatched() throws {
        guard let error = latched else { return }
        latched = nil
        throw error
    }

    // MARK: Observers

    /// Whether observers have to wait.
    var isHoldingObservers: Bool { untold != nil }

    func hold(_ change: ValueChange) { untold?.append(change) }

    /// Runs what locks stores. Observers are told afterwards, also where it throws: they may save on another thread and
    /// wait for it, so no lock may be held then.
    func holdingObservers<R>(_ body: () throws -> R) rethrows -> R {
        if isHoldingObservers { return try body() }
        untold = []
        defer {
            let changes = untold ?? []
            untold = nil
            for change in changes { change.willSet() }
            for change in changes { change.didSet() }
        }
        return try body()
    }

    // MARK: Finding models

    /// The registered or stored model with that identifier, as far as the pinned version knows it.
    func model(for identifier: PersistentIdentifier) -> (any PersistentModel)? {
        if identifier.isTemporary { return inserted.first { $0.persistentModelID == identifier } }
        guard let table = table(of: identifier) else { return nil }
        if let row = table.source.row(of: identifier) { return isKnown(row, in: table) ? table.model(row: row) : nil }
        guard table.binding.version == nil else { return nil }
        do {
            try table.binding.store.load([identifier], into: self, of: table)
        } catch {
            latch(error)
        }
        return table.source.row(of: identifier).map { table.model(row: $0) }
    }

    /// The models with those identifiers that exist, in that order.
    func models(for identifiers: [PersistentIdentifier]) -> [any PersistentModel] {
        var missing: [String: [PersistentIdentifier]] = [:]
        for identifier in identifiers {
            guard let table = table(of: identifier), table.binding.version == nil,
                table.source.row(of: identifier) == nil
            else { continue }
            missing[table.layout.entityName, default: []].append(identifier)
        }
        for (name, identifiers) in missing {
            guard let table = table(named: name) else { continue }
            do { try table.binding.store.load(identifiers, into: self, of: table) } catch { latch(error) }
        }
        var models: [any PersistentModel] = []
        models.reserveCapacity(identifiers.count)
        // Members mostly come from one table, and its models are made in one go.
        var rows: [Int] = []
        var current: ModelTable?
        for identifier in identifiers {
            guard let table = table(of: identifier), let row = table.source.row(of: identifier),
                isKnown(row, in: table)
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

    /// Whether a row that a getter leads to has only values that its properties' types know; what has others is latched.
    @inline(__always)
    func isKnown(_ row: Int, in table: ModelTable) -> Bool { !table.verifiesRows || verify(row, in: table) }

    private func verify(_ row: Int, in table: ModelTable) -> Bool {
        // Whatever has a model has been verified.
        if table.registered(row: row) != nil { return true }
        do {
            try table.source.verify(row: row, table.layout)
            return true
        } catch {
            latch(error)
            return false
        }
    }

    /// The members of a stored model's to-many relationship, for one that has no values of its own.
    /// - Returns: nil where they are not all of one table with models of that type, or cannot be read from rows alone.
    func members<T: PersistentModel>(of table: ModelTable, row: Int, slot: Int, as type: T.Type) -> [T]? {
        guard table.binding.version != nil, deleted.isEmpty else { return nil }
        let identifiers = table.source.identifiers(row: row, slot: slot)
        guard let first = identifiers.first else { return [] }
        guard let target = self.table(of: first), target.layout.type == type, target.binding.version != nil else {
            return nil
        }
        var rows: [Int] = []
        rows.reserveCapacity(identifiers.count)
        for identifier in identifiers {
            guard identifier.space == first.space else { return nil }
            if let row = target.source.row(of: identifier), isKnown(row, in: target) { rows.append(row) }
        }
        return target.models(rows: rows, ifAllAre: type)
    }

    // MARK: Changes

    var hasChanges: Bool { !inserted.isEmpty || !changed.isEmpty || !deleted.isEmpty }

    func noteChange(of model: any PersistentModel) {
        // Without the context nothing can be saved any more, and holding the model would keep the two alive for ever.
        guard context != nil else { return }
        model._modelState.flags.insert(.isChanged)
        keepBase(of: model)
        changed.append(model)
        onChange?()
    }

    /// Remembers a stored model's record as it is now, unless it already has unsaved changes.
    private func keepBase(of model: any PersistentModel) {
        guard model._modelState.row >= 0, let table = model._modelState.table else { return }
        let draft = model._modelState.ensureDraft()
        if draft.base == nil { draft.base = BaseRow(table.source, model._modelState.row) }
    }

    /// Takes a model in, and with it every model without context that it reaches.
    func insert(_ first: any PersistentModel) {
        var pending: [any PersistentModel] = []
        insert(first, &pending)
        while let model = pending.popLast() { insert(model, &pending) }
        onChange?()
    }

    private func insert(_ model: any PersistentModel, _ pending: inout [any PersistentModel]) {
        model._adoptInitialValues()
        if let table = model._modelState.table {
            if table.state === self {
                undelete(model)
            } else {
                latch(ModelContextError.registeredElsewhere(model: model.persistentModelID))
            }
            return
        }
        guard let table = table(for: type(of: model)) else {
            latch(ModelContextError.unknownModel(type: "\(type(of: model))"))
            return
        }
        let draft = model._modelState.ensureDraft()
        if draft.identifier == nil, draft.survivor == nil {
            draft.identifier = .temporary(space: table.temporarySpace)
        } else if draft.identifier?.isTemporary == false || draft.survivor != nil {
            // A deleted model that is inserted again is a new record: its old identity is gone with the old one.
            // So is one that another model took the place of.
            draft.identifier = .temporary(entityName: table.layout.entityName)
            draft.survivor = nil
            model._thaw(in: table.layout)
        }
        model._modelState.enter(table)
        inserted.append(model)
        let reached = model._connectInserted(in: table.layout)
        if !reached.isEmpty { pending += reached.reversed() }
    }

    private func undelete(_ model: any PersistentModel) {
        guard let table = model._modelState.table, model._modelState.flags.contains(.isDeleted) else { return }
        model._relink(in: table.layout)
        model._modelState.flags.remove(.isDeleted)
        deleted.remove(model)
        if model._modelState.row < 0 {
            model._modelState.flags.insert(.isInserted)
            inserted.append(model)
        } else if model._modelState.draft?.changed.isEmpty == false {
            model._modelState.flags.insert(.isChanged)
            changed.append(model)
        }
    }

    func delete(_ model: any PersistentModel) {
        model._adoptInitialValues()
        guard let table = model._modelState.table, table.state === self else {
            if model._modelState.table != nil {
                latch(ModelContextError.registeredElsewhere(model: model.persistentModelID))
            }
            return
        }
        guard !model._modelState.flags.contains(.isDeleted) else { return }
        changed.remove(model)
        inserted.remove(model)
        if model._modelState.row >= 0 {
            keepBase(of: model)
            deleted.append(model)
        }
        model._modelState.flags = .isDeleted
        unpropagated.append(model)
        onChange?()
    }

    /// Follows the delete rules of models deleted since the last time.
    func propagateDeletes() {
        while let model = unpropagated.popLast() {
            guard model._modelState.flags.contains(.isDeleted) else { continue }
            for related in model._applyDeleteRules() { delete(related) }
            if model._modelState.row < 0 {
                // Never stored: the deletion is complete.
                model._modelState.table = nil
            }
        }
    }

    /// Forgets all changes that a save has written, or a rollback dropped.
    func clearChanges() {
        inserted = ModelList()
        changed = ModelList()
        deleted = ModelList()
        unpropagated = []
        vanished = []
    }

    /// Forgets the insertion of models that a save has written.
    func clearInserted(_ models: [any PersistentModel]) {
        if models.count == inserted.count, zip(models, inserted).allSatisfy({ $0 === $1 }) {
            inserted = ModelList()
        } else {
            for model in models { inserted.remove(model) }
        }
    }

    func forgetVanished() { vanished = [] }

    /// A model with unsaved changes whose record is gone.
    func vanish(_ model: any PersistentModel) {
        changed.remove(model)
        vanished.append(model.persistentModelID)
    }

    func forgetDeletion(of model: any PersistentModel) { deleted.remove(model) }
    func removeChanged(_ model: any PersistentModel) { changed.remove(model) }
    func removeInserted(_ model: any PersistentModel) { inserted.remove(model) }
}

/// Models in the order in which they were added, each once, found and removed in constant time: a model knows its place
/// in the one list that it is in.
struct ModelList: Sequence {
    private var models: [(any PersistentModel)?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ model: any PersistentModel) {
        if contains(model) { return }
        models.append(model)
        model._modelState.place = UInt32(truncatingIfNeeded: models.count)
        count += 1
    }

    mutating func remove(_ model: any PersistentModel) {
        guard contains(model) else { return }
        models[Int(model._modelState.place) - 1] = nil
        model._modelState.place = 0
        count -= 1
        if count == 0 {
            models = []
        } else if models.count > 32, count < models.count / 2 {
            models.removeAll { $0 == nil }
            for (place, model) in models.enumerated() {
                model?._modelState.place = UInt32(truncatingIfNeeded: place + 1)
            }
        }
    }

    /// A place may be left from another list, so what stands there decides.
    func contains(_ model: any PersistentModel) -> Bool {
        let place = Int(model._modelState.place)
        return place > 0 && place <= models.count && models[place - 1] === model
    }
    var underestimatedCount: Int { count }

    struct Iterator: IteratorProtocol {
        fileprivate var models: IndexingIterator<[(any PersistentModel)?]>

        mutating func next() -> (any PersistentModel)? {
            while let next = models.next() {
                if let model = next { return model }
            }
            return nil
        }
    }

    func makeIterator() -> Iterator { Iterator(models: models.makeIterator()) }
}
