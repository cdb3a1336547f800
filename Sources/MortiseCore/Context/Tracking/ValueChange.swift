import Observation

/// The properties of one observed model whose stored values are about to change under it.
///
/// While its context has stores locked, observers are not notified; `DeferredNotifications.deferred(_:)` notifies them
/// afterwards.
struct ValueChange {
    private let model: any PersistentModel
    private let deferred: DeferredNotifications?
    private let registrar: ObservationRegistrar
    private let keyPaths: [AnyKeyPath]

    /// Nil if the model has no observers, or if nothing that it shows differs: its own unsaved values hide the store's.
    init?(
        of model: any PersistentModel, layout: ModelLayout, _ old: (Int) -> StoredValue, _ new: (Int) -> StoredValue
    ) {
        guard let registrar = model._existingRegistrar else { return nil }
        self.init(
            model, registrar,
            slots: layout.properties.indices.filter { slot in
                if case .unset = model._draft?[slot] ?? .unset {
                    return !old(slot).isIdentical(to: new(slot))
                }
                return false
            }, layout)
    }

    /// The properties hidden by a model's unsaved changes, which are about to be dropped.
    init?(droppingDraftOf model: any PersistentModel, layout: ModelLayout) {
        guard let registrar = model._existingRegistrar, let draft = model._draft else {
            return nil
        }
        self.init(model, registrar, slots: draft.changed.slots, layout)
    }

    /// One property that is about to be set from outside its accessor.
    init?(settingSlot slot: Int, of model: any PersistentModel, layout: ModelLayout) {
        guard let registrar = model._existingRegistrar else { return nil }
        self.init(model, registrar, slots: [slot], layout)
    }

    private init?(
        _ model: any PersistentModel, _ registrar: ObservationRegistrar, slots: [Int], _ layout: ModelLayout
    ) {
        if slots.isEmpty { return nil }
        self.model = model
        deferred = model._table?.state.notifications
        self.registrar = registrar
        self.keyPaths = slots.map { layout.observedKeyPath(of: $0) }
    }

    func willSet() {
        if let deferred, deferred.isActive { deferred.append(self) } else { notify(model, isWill: true) }
    }
    func didSet() {
        if deferred?.isActive != true { notify(model, isWill: false) }
    }

    private func notify(_ model: any PersistentModel, isWill: Bool) {
        for path in keyPaths {
            func call<Root: PersistentModel, Value>(_ root: Root.Type, _ value: Value.Type) {
                guard let path = path as? KeyPath<Root, Value>, let model = model as? Root else { return }
                if isWill { registrar.willSet(model, keyPath: path) } else { registrar.didSet(model, keyPath: path) }
            }
            guard let root = type(of: path).rootType as? any PersistentModel.Type else { continue }
            func open<Value>(_ value: Value.Type) { call(root, value) }
            _openExistential(type(of: path).valueType, do: open)
        }
    }
}

/// Changes whose observers have not been notified yet, because the context has locked stores.
final class DeferredNotifications {
    /// Nil while no store is locked.
    private var changes: [ValueChange]?

    /// Whether observers have to wait.
    var isActive: Bool { changes != nil }
    var count: Int { changes?.count ?? 0 }

    func append(_ change: ValueChange) { changes?.append(change) }

    /// Forgets notifications of changes that were undone before anybody was notified.
    func drop(after count: Int) {
        guard let all = changes, all.count > count else { return }
        changes?.removeSubrange(count...)
    }

    /// Runs a body that locks stores. Observers are notified afterwards, even if it throws: they may save on another
    /// thread and wait for it, so no lock may be held then.
    func deferred<R>(_ body: () throws -> R) rethrows -> R {
        if isActive { return try body() }
        changes = []
        defer {
            let all = changes ?? []
            changes = nil
            for change in all { change.willSet() }
            for change in all { change.didSet() }
        }
        return try body()
    }
}
