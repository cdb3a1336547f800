#if canImport(Darwin)
import Foundation
#endif

/// How a context records changes.
struct UndoSettings {
    var manager: UndoManager?
    /// The manager of a context that records without one that it was given.
    var own: UndoManager?
    var policy = UndoPolicy()
}
