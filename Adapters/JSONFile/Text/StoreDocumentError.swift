import MortiseCore
public import MortiseEngine

/// What is wrong with the text of a JSON store, and where. The text has not been changed, and nothing that was read
/// from it may be used.
public struct StoreDocumentError: Error, Hashable, Sendable {
    /// What is wrong with a document. FORMAT.md lists the reasons in the order in which they are looked for.
    public enum Reason: Hashable, Sendable {
        /// The file has no bytes.
        case empty
        /// The file is shorter than the shortest document.
        case tooShort(byteCount: Int, minimum: Int)
        /// The file does not begin as a Mortise JSON store; the format that it names, if it names one.
        case anotherFormat(found: String?)
        /// The file has a format version that this library does not know yet.
        case newerFormat(version: UInt64, supported: UInt64)
        /// No format version has that number.
        case unknownFormatVersion
        /// The text is not JSON.
        case malformed(JSONTextError.Reason)
        /// The text does not end with a seal.
        case sealMissing
        /// The text is not the one that was sealed.
        case sealBroken(stored: UInt32, computed: UInt32)
        /// The document has another member than expected at this position.
        case unexpectedMember(found: String?, expected: String)
        /// An object of the schema has a member that the format does not define.
        case unknownMember(String)
        /// An object of the schema lacks a member.
        case missingMember(String)
        /// The schema contradicts itself or goes beyond a limit.
        case invalidSchema(StoredSchemaFault)
        /// The value has another type than expected.
        case wrongType(expected: String, found: String)
        /// The number is outside the range of the attribute's kind.
        case numberOutOfRange(StorageKind)
        /// The text is not a valid value of the attribute's kind.
        case invalidText(StorageKind)
        /// A text of the schema is not one of those defined.
        case invalidWord(String, expected: String)
        /// The schema has no such entity.
        case unknownEntity(String)
        /// The records of an entity are missing; a list is required, even an empty one.
        case missingEntity(String)
        /// A record does not begin with its number, `$id`.
        case missingIdentifier
        /// Two records have the number.
        case duplicateIdentifier
        /// The record's number is smaller than that of the record before it.
        case identifierOutOfOrder(previous: UInt64)
        /// The record's number has not been given out yet.
        case identifierNotBelowNext(next: UInt64)
        /// The entity has no such property.
        case unknownProperty(String)
        /// The property is not kept in the file: an ephemeral attribute, or a relationship kept on the other side.
        case propertyNotStored(String)
        /// The record lacks a property.
        case missingProperty(isOptional: Bool)
        /// The property must have a value.
        case nullForRequired
        /// No record has the number that a relationship refers to.
        case danglingReference(target: UInt64)
        /// A relationship refers to a record of an entity that is not its destination.
        case wrongDestination(target: UInt64, found: String, expected: String)
        /// The record at the other end of a one-to-one relationship does not refer back.
        case oneSidedReference(target: UInt64, inverse: String)
        /// The numbers of a to-many relationship are not in ascending order, each once.
        case referencesOutOfOrder
        /// `nextSequence` is not below the limit, so that new records could have no numbers.
        case nextSequenceTooLarge(limit: UInt64)
        /// Another record has the same values in properties that are unique together.
        case notUnique(properties: [String], other: UInt64)
    }

    /// What is wrong.
    public let reason: Reason
    /// The entity, property and record at fault, as far as they were known.
    public let entity: String?
    /// The property at fault; nil if it is not known.
    public let property: String?
    /// The number of the record at fault; nil if it is not known.
    public let identifier: UInt64?
    /// Where it is in the text.
    public let position: TextPosition
    /// The path of the innermost value at the position, such as `$.records.Trip[3].name`.
    public let path: String
}

extension StoreDocumentError: CustomStringConvertible {
    /// Position, path, record, reason and way out, in one line.
    public var description: String {
        var subject = ""
        if let entity { subject += " " + entity }
        if let property { subject += (subject.isEmpty ? " " : ".") + property }
        if let identifier { subject += " of record \(identifier)" }
        return "\(position) (\(path))\(subject): \(reason)"
    }
}

extension StoreDocumentError.Reason: CustomStringConvertible {
    /// The reason and the way out.
    public var description: String {
        switch self {
        case .empty: "The file is empty. Restore it from a copy, or remove it to begin a new store."
        case .tooShort(let count, let minimum):
            "The file has \(count) bytes; the shortest store has \(minimum). Restore it from a copy."
        case .anotherFormat(let found?):
            "The file has the format \"\(found)\". Open it with the program that wrote it."
        case .anotherFormat(nil):
            "Expected a Mortise JSON store, which begins with \"format\": \"\(StoreDocument.format)\". Check the path."
        case .newerFormat(let version, let supported):
            "The file has format version \(version); this library reads up to \(supported). Update the library."
        case .unknownFormatVersion: "Unknown format version. Versions start at 1."
        case .malformed(let reason): reason.description
        case .sealMissing, .sealBroken: sealDescription
        case .unexpectedMember(nil, let expected): "The member \"\(expected)\" is missing here. Add it."
        case .unexpectedMember(let found?, let expected):
            "Expected the member \"\(expected)\", found \"\(found)\". Keep the document's members in order."
        case .unknownMember(let name): "Unknown member \"\(name)\". Remove it, or correct its name."
        case .missingMember(let name): "The member \"\(name)\" is missing. Add it."
        case .invalidSchema(let fault): fault.description
        case .wrongType(let expected, let found): "Expected \(expected), found \(found)."
        case .numberOutOfRange(let kind):
            "The number is out of range for \(kind.rawValue). Correct it, or change the model."
        case .invalidText(let kind): "Invalid \(kind.rawValue). Use the form in FORMAT.md, \"The records\"."
        case .invalidWord(let found, let expected): "Expected \(expected), found \"\(found)\"."
        case .unknownEntity(let name): "The schema has no entity \"\(name)\". Correct the name, or remove its records."
        case .nextSequenceTooLarge(let limit):
            "\"nextSequence\" must be below \(limit). Set it to one more than the highest \"$id\"."
        case .missingEntity(let name): "The entity \(name) has no list of records. Add \"\(name)\": []."
        default: recordDescription
        }
    }

    private var sealDescription: String {
        let wayOut =
            "If it was edited by hand, reseal it or open it with integrity: .acceptEdits; if not, the file is damaged: "
            + "restore it from a copy."
        if case .sealBroken(let stored, let computed) = self {
            let (stored, computed) = (DocumentSeal.text(of: stored), DocumentSeal.text(of: computed))
            return "The seal is \(stored), but the text's checksum is \(computed). " + wayOut
        }
        return "The text does not end with a seal. " + wayOut
    }

    private var recordDescription: String {
        switch self {
        case .missingIdentifier: "A record must begin with its number, as in {\"$id\": 17, …}. Add it."
        case .duplicateIdentifier: "Another record has this number too. Give one of them a number of its own."
        case .identifierOutOfOrder(let previous):
            "Records must ascend by \"$id\"; this one comes after \(previous). Reorder them."
        case .identifierNotBelowNext(let next):
            "The number must be below \"nextSequence\", which is \(next). Raise \"nextSequence\"."
        case .unknownProperty(let name): "The entity has no property \"\(name)\". Correct the name, or remove it."
        case .propertyNotStored(let name):
            "\"\(name)\" is not stored: it is ephemeral, or derived from the other side of the relationship. "
                + "Remove it here."
        case .missingProperty(true): "The property is missing. Write null if it has no value."
        case .missingProperty(false): "The required property is missing. Add it with a value."
        case .nullForRequired: "A required property is null. Give it a value."
        case .danglingReference(let target):
            "There is no record \(target). Refer to one that exists, or add that record."
        case .wrongDestination(let target, let found, let expected):
            "Expected a record of \(expected), found record \(target), a \(found). Refer to another record."
        case .oneSidedReference(let target, let inverse):
            "Record \(target) does not refer back with \"\(inverse)\". Make both sides agree."
        case .referencesOutOfOrder: "The numbers must ascend without repeats. Sort them."
        case .notUnique(let properties, let other):
            "Record \(other) has the same \(properties.joined(separator: ", ")), which must be unique. Change "
                + "one of them."
        default: ""
        }
    }
}

/// An error on its way out of the document reader: the position is worked out once, where it leaves.
struct DocumentFault: Error {
    var reason: StoreDocumentError.Reason
    var offset: Int
    var entity: String?
    var property: String?
    var identifier: UInt64?

    init(
        _ reason: StoreDocumentError.Reason, at offset: Int, entity: String? = nil, property: String? = nil,
        identifier: UInt64? = nil
    ) {
        self.reason = reason
        self.offset = offset
        self.entity = entity
        self.property = property
        self.identifier = identifier
    }

    init(_ fault: JSONFault) { self.init(.malformed(fault.reason), at: fault.offset) }

    func located(in bytes: UnsafeRawBufferPointer) -> StoreDocumentError {
        let (position, path) = TextLocator.locate(offset, in: bytes)
        return StoreDocumentError(
            reason: reason, entity: entity, property: property, identifier: identifier, position: position, path: path)
    }
}
