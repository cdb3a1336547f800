public import MortiseEngine

/// What a JSON store refuses to write, because it could not be read back as it was.
public struct StoreDocumentWriteError: Error, Hashable, Sendable {
    /// Why the writer refuses a document: it would not read back.
    public enum Reason: Error, Hashable, Sendable {
        /// The schema contradicts itself or goes beyond a limit of the format.
        case invalidSchema(StoredSchemaFault)
        /// The schema has no such entity, or its records should have been written earlier.
        case entityOutOfOrder
        /// `begin(entity:)` has not been called.
        case noEntity
        /// The record's number is not above that of the record before it.
        case sequenceOutOfOrder(previous: UInt64)
        /// The record's number is not below the next one to be given out.
        case sequenceNotBelowNext(next: UInt64)
        /// The next number to be given out is not below the limit.
        case nextSequenceTooLarge(limit: UInt64)
        /// Two entities have a record of that number.
        case duplicateSequence
        /// The value is not of the property's kind.
        case unfitValue(expected: String, found: String)
        /// The property must have a value.
        case nullForRequired
        /// A coded value is nested too deep; the limit is that of the value itself.
        case nestingTooDeep(limit: Int)
        /// The coded values of the record have too many parts for their length.
        case valueTooLarge
        /// The URL's text and base do not give the same URL again.
        case unreadableURL(String)
        /// The identifier is temporary, of another store, or no number.
        case foreignIdentifier(String)
        /// A to-many relationship holds the target twice.
        case duplicateReference(target: UInt64)
        /// No record that was written has the number.
        case danglingReference(target: UInt64)
        /// The record referred to is of an entity that is not the relationship's destination.
        case wrongDestination(target: UInt64, found: String, expected: String)
        /// The record at the other end of a one-to-one relationship does not refer back.
        case oneSidedReference(target: UInt64, inverse: String)
    }

    /// What is wrong.
    public let reason: Reason
    /// The entity at fault; nil if no entity is.
    public let entity: String?
    /// The property at fault; nil if no property is.
    public let property: String?
    /// The number of the record at fault; nil if no record is.
    public let identifier: UInt64?

    package init(reason: Reason, entity: String?, property: String?, identifier: UInt64?) {
        self.reason = reason
        self.entity = entity
        self.property = property
        self.identifier = identifier
    }
}

extension StoreDocumentWriteError: CustomStringConvertible {
    /// Entity, property, record, reason and way out, in one line.
    public var description: String {
        let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
        let record = identifier.map { " of record \($0)" } ?? ""
        return (subject.isEmpty ? "The document" : subject) + record + ": \(reason)"
    }
}

extension StoreDocumentWriteError.Reason: CustomStringConvertible {
    /// The reason and the way out.
    public var description: String {
        switch self {
        case .invalidSchema(let fault): fault.description
        case .entityOutOfOrder: "Write the entities in the order of the schema, each once."
        case .noEntity: "Begin an entity before writing records."
        case .sequenceOutOfOrder(let previous):
            "Record \(previous) was written before it. Write records in ascending order."
        case .sequenceNotBelowNext(let next): "The number must be below the next record's, \(next)."
        case .nextSequenceTooLarge(let limit):
            "All record numbers below \(limit) are used up. Copy the records to a new store."
        case .duplicateSequence: "A record of another entity has this number too. Numbers are unique in a store."
        case .unfitValue(let expected, let found):
            "Expected \(expected), found \(found). Check the store's schema."
        case .nullForRequired: "A required property has no value. Set it, or make it optional."
        case .nestingTooDeep(let limit):
            "The value is nested more than \(limit) levels deep. Flatten it, or store it as Data."
        case .valueTooLarge: "The record's coded values have too many parts. Split them, or store them as Data."
        case .unreadableURL(let text):
            "The URL \"\(text)\" would not read back unchanged. Store it as text."
        case .foreignIdentifier(let text): "\(text) is not a record of this store. Save or insert the model here first."
        case .duplicateReference(let target): "The relationship names record \(target) twice. Name it once."
        case .danglingReference(let target):
            "There is no record \(target). Clear the relationship, or keep that record."
        case .wrongDestination(let target, let found, let expected):
            "Expected a record of \(expected), found record \(target), a \(found). Refer to another record."
        case .oneSidedReference(let target, let inverse):
            "Record \(target) does not refer back with \"\(inverse)\". Set both sides."
        }
    }
}
