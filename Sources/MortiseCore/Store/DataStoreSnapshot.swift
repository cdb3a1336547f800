/// The values of one record at one point: what travels between contexts and stores.
///
/// Its `Codable` form is keyed by `DataStoreSnapshotCodingKey`; the context reads a snapshot type that is not its own
/// through that form, by property name. A nil value must be there as an explicit null; relationships are
/// `PersistentIdentifier` or `[PersistentIdentifier]`.
public protocol DataStoreSnapshot: Codable, Sendable {
    var persistentIdentifier: PersistentIdentifier { get }

    /// Takes the values of a model. Related models that are not saved yet may be added to `relatedBackingDatas`.
    init(
        from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// The same values under another identifier, with the identifiers inside relationships exchanged.
    func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// What a store can keep as a property's value.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The keys of a snapshot's `Codable` form: its identifier, and each property under its own name.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable, Sendable {
    case persistentIdentifier
    case modeledProperty(String)

    public var stringValue: String {
        switch self {
        case .persistentIdentifier: "persistentIdentifier"
        case .modeledProperty(let name): name
        }
    }
    public init?(stringValue: String) {
        self = stringValue == "persistentIdentifier" ? .persistentIdentifier : .modeledProperty(stringValue)
    }
    public var intValue: Int? { nil }
    public init?(intValue: Int) { return nil }
}
