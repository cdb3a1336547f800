/// How a save treats a record that another save has changed since this context read it.
///
/// A save that fails leaves the context's changes as they were, so that another policy can be tried. A record that this
/// context deletes is deleted under `objectWins` and `propertyWise`. If only the cascade of another deletion took it, and
/// another save has moved it away from there, it stays.
public enum MergePolicy: Sendable, Hashable {
    /// The save fails with `SaveConflict`, which shows both sides.
    case error
    /// The stored record stays; this context's changes to it are dropped.
    case storeWins
    /// The record gets all of this context's values, even for properties that only the store has changed.
    case objectWins
    /// Each property gets the last value set: changes of both sides to different properties are kept, and if both have
    /// changed one, this context's value wins. A relationship that is nil here while what it led to is deleted here takes
    /// the model that the other side has given it.
    case propertyWise
}

/// A record was changed here and, since this context read it, in the store.
///
/// Nothing was saved. Take the store's side with `rollback()`, or save again under another `mergePolicy`.
public struct SaveConflict: Error, Sendable, Hashable {
    /// One property that both saves changed.
    public struct Property: Sendable, Hashable {
        /// The property's name.
        public let name: String
        /// The value that this context read.
        public let base: StoredValue
        /// The value that the other save stored.
        public let stored: StoredValue
        /// This context's value; nil if it did not change the property.
        public let unsaved: StoredValue?

        /// Describes a conflict in one property. `base` is the value that this context had read.
        public init(name: String, base: StoredValue, stored: StoredValue, unsaved: StoredValue?) {
            self.name = name
            self.base = base
            self.stored = stored
            self.unsaved = unsaved
        }
    }

    /// The entity of the record in conflict.
    public let entity: String
    /// The record in conflict.
    public let model: PersistentIdentifier
    /// The properties that the store has changed.
    public let properties: [Property]
    /// Whether the context is about to delete the record.
    public let isDeletion: Bool
}

extension SaveConflict: ClassifiedStoreError, SwiftDataErrorConvertible {
    /// `conflict`.
    public var errorClass: StoreErrorClass { .conflict }
    /// The record, the properties in conflict, and the ways out, in one line.
    public var description: String {
        "\(model) was changed by another save (\(properties.map(\.name).joined(separator: ", "))) since it was read here"
            + (isDeletion ? " and is deleted here" : "") + ". Roll back, or save with another mergePolicy."
    }
    /// The error of SwiftData that this one matches: `modelValidationFailure`.
    public var swiftDataError: SwiftDataError { .modelValidationFailure }
}
