#if !canImport(Darwin)
/// Replaces Foundation's class of this name, which Linux does not have, as far as setting it on a context needs.
open class UndoManager {
    /// Makes an undo manager without recorded changes.
    public init() {}
}
#else
public import Foundation
#endif
