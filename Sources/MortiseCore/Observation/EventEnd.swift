import Foundation

/// The end of the stretch of synchronous code that runs now.
enum EventEnd {
    /// Runs a body where the current code runs, after that code: in the next turn of its run loop in one of the modes,
    /// or as a job of the main actor.
    /// - Returns: false if neither is there, so that the body never runs.
    static func schedule(_ modes: [RunLoop.Mode], _ body: @escaping @Sendable () -> Void) -> Bool {
        if RunLoop.current.currentMode != nil {
            RunLoop.current.perform(inModes: modes, block: body)
            return true
        }
        guard CurrentIsolation.isMainActor else { return false }
        Task.detached { @MainActor in body() }
        return true
    }
}

/// An object that is referred to weakly from a job that runs where the object is used.
///
/// @unchecked Sendable: the job runs where the object is used, and nothing else looks at what this refers to.
final class JobReference<Object: AnyObject>: @unchecked Sendable {
    private(set) weak var object: Object?
    init(_ object: Object) { self.object = object }
}
