#if !canImport(Darwin)
public import Foundation
import Logging

/// Records actions that undo what was done, in groups, and carries them out: Foundation's class of this name, which
/// Linux lacks.
///
///     manager.registerUndo(withTarget: account) { $0.balance = 10 }
///     manager.setActionName("Deposit")
///     manager.undo()
///
/// An action that is undone registers actions of its own, which `redo()` carries out. Names, values and notifications
/// are those of Foundation. These differ:
/// - Misuse is logged and does nothing. Foundation raises an exception, which ends the program.
/// - A group without actions is dropped when it closes. Foundation keeps it, as a step that undoes nothing.
/// - A target that is gone is passed over. Foundation calls it.
///
/// A manager is used from one isolation domain; it is not `Sendable`.
open class UndoManager: NSObject {
    /// The open groups, the innermost one last.
    private var open: [UndoActionGroup] = []
    private var undoStack: [UndoActionGroup] = []
    private var redoStack: [UndoActionGroup] = []
    private enum Work { case none, undoing, redoing }
    private var work = Work.none
    /// Whether an undo or redo has begun, notifications included.
    private(set) var isBusy = false
    /// Whether the only open group is an event's.
    var isInEvent: Bool { open.count == 1 && eventGroup != nil }
    private var disableCount = 0

    /// The group that an event has opened, while it is open, and how its end is found.
    private var eventGroup: UndoActionGroup?
    private var eventIsOver = false
    private var endIsScheduled = false
    /// Has a body run after the present code, where nothing else is known of that. False if it cannot.
    var schedulesEnd: ((@escaping @Sendable () -> Void) -> Bool)?

    /// Called for each misuse, which the log gets as well.
    var onMisuse: ((String) -> Void)?
    private static let logger = Logger(label: "mortise.undo")

    /// Makes a manager without actions, which groups by event.
    public override init() { super.init() }

    // MARK: Groups

    /// Opens a group, inside the one that is open. `endUndoGrouping()` closes it.
    ///
    /// Posts `NSUndoManagerCheckpoint` before, unless the group is a top-level one or the manager undoes or redoes, and
    /// `NSUndoManagerDidOpenUndoGroup` after. With `groupsByEvent`, the event's group opens first if no group is open.
    open func beginUndoGrouping() {
        if groupsByEvent, work == .none {
            // Nobody will say that the event before is over.
            if open.count == 1, eventGroup != nil, !endIsScheduled { endUndoGrouping() }
            if open.isEmpty { openEventGroup() }
        }
        openGroup()
    }

    private func openGroup() {
        if !open.isEmpty, work == .none { post(.NSUndoManagerCheckpoint) }
        open.append(UndoActionGroup())
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    private func openEventGroup() {
        openGroup()
        eventGroup = open.last
        eventIsOver = false
        let reference = JobReference(self)
        // Compared only.
        let opened = open.last.map { ObjectIdentifier($0) }
        let end: @Sendable () -> Void = {
            guard let manager = reference.object, let group = manager.eventGroup, ObjectIdentifier(group) == opened
            else {
                return
            }
            manager.endEvent()
        }
        endIsScheduled = schedulesEnd?(end) == true || EventEnd.schedule(runLoopModes, end)
    }

    /// Closes the group of an event that is over, or does so when the groups inside it are closed.
    private func endEvent() {
        eventIsOver = true
        if open.count == 1, open.last === eventGroup, work == .none { endUndoGrouping() }
    }

    /// Closes the event's group if it is the only one that is open and nobody else will close it.
    func endUnscheduledEvent() {
        if open.count == 1, eventGroup != nil, !endIsScheduled, work == .none { endUndoGrouping() }
    }

    /// Closes the group that was opened last. A nested group's actions become the end of the group around it; a
    /// top-level group becomes the next step to be undone, and the oldest steps beyond `levelsOfUndo` go. A group
    /// without actions is dropped.
    ///
    /// Posts `NSUndoManagerCheckpoint`, whose observers may still register in this group,
    /// `NSUndoManagerWillCloseUndoGroup` and `NSUndoManagerDidCloseUndoGroup`. It is a misuse if no group is open, or
    /// only the one of an undo or redo.
    open func endUndoGrouping() {
        if work != .none, open.count == 1 {
            return misuse("endUndoGrouping() closes a group that an undo or redo has opened")
        }
        closeGroup()
    }

    private func closeGroup() {
        guard !open.isEmpty else { return misuse("endUndoGrouping() was called, and no group is open") }
        post(.NSUndoManagerCheckpoint)
        let isDiscardable = open.last?.isDiscardable == true
        post(.NSUndoManagerWillCloseUndoGroup, isDiscardable ? [NSUndoManagerGroupIsDiscardableKey: true] : nil)
        guard let group = open.popLast() else { return }
        if let outer = open.last {
            outer.take(group)
        } else if !group.actions.isEmpty {
            if work == .undoing { redoStack.append(group) } else { undoStack.append(group) }
            trim()
        }
        if group === eventGroup { eventGroup = nil }
        post(.NSUndoManagerDidCloseUndoGroup)
        if eventIsOver, open.count == 1, open.last === eventGroup, work == .none { endUndoGrouping() }
    }

    /// The number of open groups; 0 if none is. While the manager undoes or redoes, the group that records that counts.
    open var groupingLevel: Int { open.count }

    /// Whether the first action that is registered while no group is open opens one for the rest of the event; true at
    /// first.
    ///
    /// The group closes after the code that runs now: in the next turn of the run loop, as a job of the main actor or
    /// of the model actor whose context has this manager. Elsewhere the end of that code cannot be found: there it
    /// closes at `undo()`, before a group is opened by hand, and when a context of the manager is saved.
    open var groupsByEvent = true

    /// The modes of the run loop in which an event's group closes; `[.default]` at first.
    open var runLoopModes: [RunLoop.Mode] = [.default]

    /// The largest number of top-level groups that can be undone, and as many again that can be redone; 0, as at first,
    /// is no limit. Lowering it drops the oldest at once. Negative numbers count as 0.
    open var levelsOfUndo = 0 {
        didSet { trim() }
    }

    private func trim() {
        guard levelsOfUndo > 0 else { return }
        if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
        if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
    }

    // MARK: Registering

    /// Records an action: while the manager undoes for redo, else for undo, and what could be redone is forgotten then.
    ///
    /// The action is part of the open group; see `groupsByEvent`. Without that, and with no group open, it is a misuse,
    /// and the action gets a group of its own. While registration is disabled it does nothing.
    /// - Parameters:
    ///   - target: what the action changes. It is not kept alive; an action whose target is gone does nothing.
    ///   - handler: undoes the change; called with the target.
    public func registerUndo<TargetType: AnyObject>(
        withTarget target: TargetType, handler: @escaping (TargetType) -> Void
    ) {
        guard isUndoRegistrationEnabled else { return }
        var isAlone = false
        if open.isEmpty {
            if groupsByEvent {
                openEventGroup()
            } else {
                misuse("registerUndo(withTarget:handler:) was called, and no group is open")
                openGroup()
                isAlone = true
            }
        }
        if work == .none { redoStack = [] }
        open.last?.append(UndoAction(target, handler))
        if isAlone { closeGroup() }
    }

    /// Has registering do nothing until `enableUndoRegistration()` was called as often as this.
    open func disableUndoRegistration() { disableCount += 1 }

    /// Takes one `disableUndoRegistration()` back. It is a misuse where there was none.
    open func enableUndoRegistration() {
        if disableCount == 0 { return misuse("enableUndoRegistration() was called, and registration is not disabled") }
        disableCount -= 1
    }

    /// Whether actions are recorded.
    open var isUndoRegistrationEnabled: Bool { disableCount == 0 }

    /// Forgets all actions, those of open groups included, and enables registration. What is being undone or redone
    /// finishes.
    open func removeAllActions() {
        undoStack = []
        redoStack = []
        for group in open { _ = group.takeActions() }
        disableCount = 0
    }

    /// Forgets the actions of a target, and the groups that have no other. Registration stays as it is.
    open func removeAllActions(withTarget target: Any) {
        let target = target as AnyObject
        removeActions { $0 === target }
    }

    /// Forgets the actions with matching targets, and those whose targets are gone.
    func removeActions(where matches: (AnyObject) -> Bool) {
        for group in undoStack + redoStack + open { group.removeActions(where: matches) }
        undoStack.removeAll(where: \.actions.isEmpty)
        redoStack.removeAll(where: \.actions.isEmpty)
    }

    // MARK: Undoing

    /// Undoes the last top-level group, after closing it if it is the only open one. Nothing to undo: does nothing, but
    /// for that.
    ///
    /// It is a misuse, and nothing changes, while more than one group is open or while the manager undoes or redoes.
    open func undo() {
        if isBusy { return misuse("undo() was called within an undo or redo") }
        if open.count == 1 { endUndoGrouping() }
        guard open.isEmpty else { return misuse("undo() was called at grouping level \(open.count), expected 1 or 0") }
        undoNestedGroup()
    }

    /// Undoes the actions of the innermost open group, which stays open and is empty then; with none open, the last
    /// top-level group. What that registers can be redone as one group.
    ///
    /// Posts `NSUndoManagerCheckpoint`, `NSUndoManagerWillUndoChange` and `NSUndoManagerDidUndoChange`. It is a misuse
    /// while the manager undoes or redoes.
    open func undoNestedGroup() {
        if isBusy { return misuse("undoNestedGroup() was called within an undo or redo") }
        post(.NSUndoManagerCheckpoint)
        guard let group = open.last ?? undoStack.last, !group.actions.isEmpty, allows(group) else { return }
        if open.isEmpty { undoStack.removeLast() }
        run(group, .undoing, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange)
    }

    /// Carries out again what was undone last. Nothing to redo: does nothing. It is a misuse while the manager undoes
    /// or redoes, and while a group is open that is not an event's.
    ///
    /// Posts `NSUndoManagerCheckpoint`, `NSUndoManagerWillRedoChange` and `NSUndoManagerDidRedoChange`.
    open func redo() {
        if isBusy { return misuse("redo() was called within an undo or redo") }
        post(.NSUndoManagerCheckpoint)
        if open.count == 1, eventGroup != nil { endUndoGrouping() }
        guard open.isEmpty else { return misuse("redo() was called at grouping level \(open.count), expected 0") }
        guard let group = redoStack.last, allows(group) else { return }
        redoStack.removeLast()
        run(group, .redoing, .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange)
    }

    private func allows(_ group: UndoActionGroup) -> Bool {
        group.actions.reversed().allSatisfy { ($0.target as? any UndoRefusing)?.mayPerform() ?? true }
    }

    private func run(_ group: UndoActionGroup, _ kind: Work, _ will: Notification.Name, _ did: Notification.Name) {
        isBusy = true
        defer { isBusy = false }
        post(will)
        let isDiscardable = group.isDiscardable
        let actions = group.takeActions()
        let outer = open
        open = []
        work = kind
        openGroup()
        let recording = open.last
        recording?.describe(as: group)
        for action in actions.reversed() { action.perform() }
        while open.count > 1 { closeGroup() }
        if isDiscardable { recording?.discardAll() }
        closeGroup()
        work = .none
        open = outer
        post(did)
    }

    /// Whether there are actions to undo, in the open group or in one that is closed. Does not promise that `undo()`
    /// may be called.
    open var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.actions.isEmpty } }

    /// Whether there are actions to redo. Posts `NSUndoManagerCheckpoint` first: what is pending and is registered then
    /// ends that.
    open var canRedo: Bool {
        post(.NSUndoManagerCheckpoint)
        return !redoStack.isEmpty
    }

    /// How many top-level groups can be undone, apart from the open one.
    open var undoCount: Int { undoStack.count }
    /// How many top-level groups can be redone.
    open var redoCount: Int { redoStack.count }
    /// Whether actions are being undone now. False in observers of `NSUndoManagerWillUndoChange` and
    /// `NSUndoManagerDidUndoChange`.
    open var isUndoing: Bool { work == .undoing }
    /// Whether actions are being redone now. False in observers of `NSUndoManagerWillRedoChange` and
    /// `NSUndoManagerDidRedoChange`.
    open var isRedoing: Bool { work == .redoing }

    // MARK: Describing

    /// The group that a description is of: the open one, else the one to be undone next.
    private var described: UndoActionGroup? { open.last ?? undoStack.last }
    /// The group that would be undone next if the open ones were closed now.
    private var nextToUndo: UndoActionGroup? {
        open.last { !$0.name.isEmpty } ?? open.first { !$0.actions.isEmpty } ?? undoStack.last
    }

    /// Names the open group; with none open, the one to be undone next. An empty name removes it.
    open func setActionName(_ actionName: String) { described?.name = actionName }
    /// The name of what is undone next; empty if it has none, or there is nothing.
    open var undoActionName: String { nextToUndo?.name ?? "" }
    /// The name of what is redone next; empty if it has none, or there is nothing.
    open var redoActionName: String { redoStack.last?.name ?? "" }

    /// The title of a menu item for `undo()`: "Undo", with the name of what is undone.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// The title of a menu item for `redo()`: "Redo", with the name of what is redone.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }
    /// The title of a menu item that undoes an action of that name, in English; a subclass may say it otherwise.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }
    /// The title of a menu item that redoes an action of that name, in English; a subclass may say it otherwise.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    /// Says whether the latest action of the open group, else of the group to be undone next, may be discarded without
    /// asking. Before the first action of a group it says so of that.
    open func setActionIsDiscardable(_ discardable: Bool) { described?.setIsDiscardable(discardable) }
    /// Whether all actions of what is undone next are discardable.
    open var undoActionIsDiscardable: Bool {
        (open.first { !$0.actions.isEmpty } ?? undoStack.last)?.isDiscardable ?? false
    }
    /// Whether all actions of what is redone next are discardable.
    open var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

    /// Keeps a value with the open group; with none open, with the one to be undone next. Nil removes it.
    open func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) { described?.userInfo[key] = info }
    /// The value that what is undone next has; nil if it has none.
    open func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? {
        for group in open.reversed() {
            if let value = group.userInfo[key] { return value }
        }
        return (open.first { !$0.actions.isEmpty } ?? undoStack.last)?.userInfo[key]
    }
    /// The value that what is redone next has; nil if it has none.
    open func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.last?.userInfo[key] }

    // MARK: Telling

    private func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]? = nil) {
        NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
    }

    private func misuse(_ text: String) {
        Self.logger.error("misuse of an undo manager", metadata: ["misuse": "\(text)"])
        onMisuse?(text)
    }
}
#endif
