#if !canImport(Darwin)
public import Foundation

extension Notification.Name {
    /// Posted before a group opens inside another one, before a group closes, and by `UndoManager.canRedo`: the moment
    /// to register what is pending.
    public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
    /// Posted after a group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    /// Posted before a group closes. With `NSUndoManagerGroupIsDiscardableKey` in its user info if all of the group is
    /// discardable.
    public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
    /// Posted after a group was closed.
    public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
    /// Posted before an undo.
    public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
    /// Posted after an undo.
    public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
    /// Posted before a redo.
    public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
    /// Posted after a redo.
    public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}

/// The key in the user info of `NSUndoManagerWillCloseUndoGroup` whose value is `true` if all of the group is
/// discardable. Absent otherwise.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

/// The place of the end of an event's group among what a run loop does in one turn. Foundation's run loops on Linux
/// have no such places: there the group closes in the turn that follows the event's code.
public let NSUndoCloseGroupingRunLoopOrdering = 350000

extension UndoManager {
    /// The name of a value that is kept with a group of actions.
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        /// The name itself.
        public let rawValue: String
        /// Makes a name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Makes a name.
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }

    /// Needs Objective-C: use `registerUndo(withTarget:handler:)`.
    @available(*, unavailable, message: "needs Objective-C: use registerUndo(withTarget:handler:)")
    public func registerUndo<Selector>(withTarget target: Any, selector: Selector, object anObject: Any?) {}

    /// Needs Objective-C: use `registerUndo(withTarget:handler:)`.
    @available(*, unavailable, message: "needs Objective-C: use registerUndo(withTarget:handler:)")
    public func prepare(withInvocationTarget target: Any) -> Any { target }
}
#endif
