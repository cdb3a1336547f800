/// The values of one record at one time, exchanged between contexts and stores.
///
/// Its `Codable` form is keyed by `DataStoreSnapshotCodingKey`; the context reads snapshots of other types through that
/// form, by property name. Encode nil as an explicit null; relationships are `PersistentIdentifier` or
/// `[PersistentIdentifier]`.
public protocol DataStoreSnapshot: Codable, Sendable {
    /// The record that has these values.
    var persistentIdentifier: PersistentIdentifier { get }

    /// Takes the values of a model. Related models that are not saved yet may be added to `relatedBackingDatas`.
    init(
        from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// Returns the same values under another identifier, with the identifiers in relationships replaced. Identifiers
    /// that the map does not have stay.
    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// A property value that a store can keep.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The keys of a snapshot's `Codable` form: its identifier, and each property under its own name.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable, Sendable {
    /// The key of the record's identifier.
    case persistentIdentifier
    /// The key of a property, by name.
    case modeledProperty(String)

    /// The property's name, or `persistentIdentifier`.
    public var stringValue: String {
        switch self {
        case .persistentIdentifier: "persistentIdentifier"
        case .modeledProperty(let name): name
        }
    }
    /// Makes the key of a property; `persistentIdentifier` gives that of the identifier.
    public init?(stringValue: String) {
        self = stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
    }
    /// Always nil: keys are names.
    public var intValue: Int? { nil }
    /// Always nil: keys are names.
    public init?(intValue: Int) { return nil }
}
