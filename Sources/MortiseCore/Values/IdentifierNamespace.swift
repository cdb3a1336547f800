/// The namespace that the identifiers of one entity's records in one store share. It makes identifiers from record
/// numbers and returns the numbers, without a lock and without looking up names.
public struct IdentifierNamespace: Sendable, Hashable {
    /// The number of the namespace in this process. Two namespaces have the same number if and only if both name the same
    /// store and the same entity. Never write it to a file: another process numbers its namespaces differently.
    public let namespace: UInt32

    /// The namespace of an entity's records in a store.
    public init(storeIdentifier: String, entityName: String) {
        namespace = NamespaceNames.table.index(storeIdentifier: storeIdentifier, entityName: entityName)
    }

    /// The namespace of an entity's temporary identifiers, before models are saved.
    public init(temporaryOf entityName: String) {
        namespace = NamespaceNames.table.index(storeIdentifier: nil, entityName: entityName)
    }

    /// The identifier of the record with this number.
    @inlinable
    public subscript(sequence: UInt64) -> PersistentIdentifier {
        PersistentIdentifier(namespace: namespace, sequence: sequence)
    }

    /// The record number in an identifier of this namespace; nil for every other identifier.
    @inlinable
    public func sequence(of identifier: PersistentIdentifier) -> UInt64? {
        identifier.namespace == namespace ? identifier.sequenceNumber : nil
    }
}

extension PersistentIdentifier {
    /// The number of the identifier's namespace; see `IdentifierNamespace`.
    public var namespace: UInt32 { id.namespace }

    /// Makes an identifier from the number of an `IdentifierNamespace` and the number of a record. With a namespace
    /// number that does not exist, the identifier belongs to no record and its entity name is empty.
    public init(namespace: UInt32, sequence: UInt64) {
        self.init(id: ID(namespace: namespace, key: .sequence(sequence)))
    }
}
