/// The identifiers of one entity's records in one store that numbers them. Making one and looking into one costs neither
/// a lock nor a look-up of names.
public struct NumberedIdentifiers: Sendable, Hashable {
    /// Equal for two identifiers exactly if their stores and entities are.
    public let space: UInt32

    public init(storeIdentifier: String, entityName: String) {
        space = IdentifierSpace.table.index(storeIdentifier: storeIdentifier, entityName: entityName)
    }

    /// The family of the identifiers that new models of an entity have.
    public init(temporaryOf entityName: String) {
        space = IdentifierSpace.table.index(storeIdentifier: nil, entityName: entityName)
    }

    @inlinable
    public subscript(sequence: UInt64) -> PersistentIdentifier {
        PersistentIdentifier(space: space, sequence: sequence)
    }

    /// The number of a record of this family; nil for all other identifiers.
    @inlinable
    public func sequence(of identifier: PersistentIdentifier) -> UInt64? {
        identifier.space == space ? identifier.sequenceNumber : nil
    }
}

extension PersistentIdentifier {
    /// Names the store and the entity; see `NumberedIdentifiers`.
    public var space: UInt32 { id.space }

    public init(space: UInt32, sequence: UInt64) { self.init(id: ID(space: space, key: .sequence(sequence))) }
}
