#if !canImport(Darwin)
/// Foundation's class of this name, which Linux does not have, as far as a model context needs it to be settable.
open class UndoManager {
    public init() {}
}
#else
public import Foundation
#endif
