public import Foundation

// A new key is named here, and its value is made by SavedChanges.

extension ModelContext {
    /// Posted before a save, on the saving thread, with the context as object.
    ///
    /// Handlers may still change what is saved. Delete rules are mostly followed afterwards, so that what they delete and change is
    /// not among the unsaved changes yet. `didSave` follows unless the save throws before a store has stored anything.
    public static let willSave = Notification.Name("ModelContext.willSave")
    /// Posted after a save, on the saving thread, with the context as object and the identifiers of the saved models.
    ///
    /// Also posted if handlers of `willSave` have taken all changes back, without identifiers, and by a save that throws after a
    /// store has stored its part.
    public static let didSave = Notification.Name("ModelContext.didSave")

    /// The keys of `didSave`'s user info, by raw value. The identifiers are arrays of `PersistentIdentifier`.
    public enum NotificationKey: String, Sendable {
        /// The number of the store's version after the save, by store identifier.
        case queryGeneration
        /// True if a store deleted records without reporting which; the identifiers are then incomplete.
        case invalidatedAllIdentifiers
        /// The identifiers of inserted models.
        case insertedIdentifiers
        /// The identifiers of updated models.
        case updatedIdentifiers
        /// The identifiers of deleted models.
        case deletedIdentifiers
        /// The tokens of the save in the histories of the stores, by store identifier, also of those of which the container records
        /// one. A store is missing if the place is not known, and the key if no place is.
        case historyTokens
    }
}
