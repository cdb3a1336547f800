#if !canImport(Darwin)
/// One registered action of an undo manager.
struct UndoAction {
    private(set) weak var target: AnyObject?
    let perform: () -> Void
    var isDiscardable = false

    /// Calls the handler with the target, unless the target has gone by then.
    init<Target: AnyObject>(_ target: Target, _ handler: @escaping (Target) -> Void) {
        self.target = target
        perform = { [weak target] in
            if let target { handler(target) }
        }
    }
}

/// The actions of an undo manager that are undone together.
final class UndoActionGroup {
    /// In the order in which they were registered.
    private(set) var actions: [UndoAction] = []
    var name = ""
    var userInfo: [UndoManager.UserInfoKey: Any] = [:]
    /// What was said of the next action, before there was one.
    private var nextIsDiscardable = false

    /// Whether all of its actions are discardable; false without actions.
    var isDiscardable: Bool { !actions.isEmpty && actions.allSatisfy(\.isDiscardable) }

    func append(_ action: UndoAction) {
        var action = action
        if nextIsDiscardable { action.isDiscardable = true }
        nextIsDiscardable = false
        actions.append(action)
    }

    /// Says it of the latest action; of the next one in an empty group.
    func setIsDiscardable(_ isDiscardable: Bool) {
        if actions.isEmpty {
            nextIsDiscardable = isDiscardable
        } else {
            actions[actions.count - 1].isDiscardable = isDiscardable
        }
    }

    /// Takes over what a nested group has come to. Its name and values replace those of the same kind.
    func take(_ nested: UndoActionGroup) {
        if nested.actions.isEmpty { return }
        actions += nested.actions
        if !nested.name.isEmpty { name = nested.name }
        userInfo.merge(nested.userInfo) { _, new in new }
    }

    /// Takes over what describes a group whose actions are being undone.
    func describe(as undone: UndoActionGroup) {
        name = undone.name
        userInfo = undone.userInfo
    }

    /// Makes all of its actions discardable.
    func discardAll() {
        for place in actions.indices { actions[place].isDiscardable = true }
    }

    /// Removes matching actions, and those whose targets are gone.
    func removeActions(where matches: (AnyObject) -> Bool) {
        actions.removeAll { $0.target.map(matches) ?? true }
    }

    /// Takes all actions out.
    func takeActions() -> [UndoAction] {
        defer { actions = [] }
        return actions
    }
}

/// A target that may keep a group from being undone or redone before any of its actions has run.
protocol UndoRefusing: AnyObject {
    /// Whether the action may run. If not, its whole group stays where it is.
    func mayPerform() -> Bool
}
#endif
