#if Tool
public import MortiseCore

/// Why a schema has no models in Swift: each fault with the entity and property that it is about.
public struct ModelSourceError: Error, Hashable, Sendable {
    /// What is in the way, one line each.
    public let faults: [String]
}

extension ModelSourceError: CustomStringConvertible, ClassifiedStoreError {
    /// The first faults, in one line.
    public var description: String {
        "the schema has no models in Swift: " + faults.prefix(5).joined(separator: "; ")
            + (faults.count > 5 ? "; and \(faults.count - 5) more" : "")
    }
    /// What was asked for cannot be had of that schema.
    public var errorClass: StoreErrorClass { .conflict }
}
#endif
