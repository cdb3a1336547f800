#if Tool
import MortiseCore

/// What a `set` or a `delete` has shown, for one that carries it out later: it changes nothing but that.
final class ShownChanges: @unchecked Sendable {
    // @unchecked: used by the thread of one shell only.

    /// Of the verb that is running; nil where nothing was shown before, and nothing will be carried out later.
    @TaskLocal static var current: ShownChanges?

    var changes: ChangeSet?
}
#endif
