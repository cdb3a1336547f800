/// Why a text is no schema, or a schema has no text.
public struct SchemaDocumentError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Fault: Hashable, Sendable {
        /// The text is not JSON.
        case notJSON(expected: String, found: String)
        /// The text is JSON of another format, or names none.
        case otherFormat(String)
        /// The text is of a version of the format that this library does not read.
        case unknownFormatVersion(String)
        /// A member appears twice.
        case duplicateMember(String)
        /// A member that the format does not have. Those whose names begin with `x-` are skipped.
        case unknownMember(String)
        /// A member is missing.
        case missingMember(String)
        /// A member of an attribute comes before `kind`, or one of a relationship before `toOne` or `toMany`.
        case memberBeforeKind(String)
        /// A value of another type of JSON.
        case wrongType(expected: String, found: String)
        /// A word that has no meaning here.
        case invalidWord(String, expected: String)
        /// A value that is not of its attribute's kind.
        case invalidValue(StorageKind)
        /// More than the format allows.
        case limitExceeded(String, most: Int)
        /// Two entities have one name.
        case duplicateEntity(String)
        /// A property has the name of another, perhaps an inherited one.
        case duplicateProperty(entity: String, property: String)
        /// An entity inherits from one that is not there.
        case unknownSuperentity(entity: String, superentity: String)
        /// An entity inherits from itself.
        case inheritanceCycle(entity: String)
        /// A relationship leads to an entity that is not there.
        case unknownDestination(entity: String, property: String, destination: String)
        /// The inverse is no relationship of the destination.
        case unknownInverse(entity: String, property: String, inverse: String)
        /// A constraint or an index names what the entity does not have.
        case unknownConstrainedProperty(entity: String, property: String)
        /// A default value or an option has no form in the text.
        case unwritable(entity: String, property: String)
    }

    /// What is wrong.
    public let fault: Fault
    /// The line of the text, counted from 1; nil for a schema without a text.
    public let line: Int?
    /// The column, counted from 1, in UTF-8 bytes; nil for a schema without a text.
    public let column: Int?

    init(_ fault: Fault, line: Int? = nil, column: Int? = nil) {
        self.fault = fault
        self.line = line
        self.column = column
    }
}

extension SchemaDocumentError: CustomStringConvertible {
    /// Where and what, in one line.
    public var description: String {
        guard let line, let column else { return fault.description }
        return "line \(line), column \(column): \(fault)"
    }
}

extension SchemaDocumentError.Fault: CustomStringConvertible {
    /// What is wrong and the way out, in one line.
    public var description: String {
        switch self {
        case .notJSON(let expected, let found): "expected \(expected), found \(found)"
        case .otherFormat(let format):
            "expected the format \"\(SchemaDocument.format)\", found \"\(format)\"; "
                + "give a store by its URL, as in json:library.json"
        case .unknownFormatVersion(let version):
            "expected format version \(SchemaDocument.formatVersion), found \(version); update the library"
        case .duplicateMember(let name): "the member \"\(name)\" appears twice; remove one"
        case .unknownMember(let name):
            "unknown member \"\(name)\"; correct it, or begin its name with x- to have it skipped"
        case .missingMember(let name): "the member \"\(name)\" is missing; add it"
        case .memberBeforeKind(let name):
            "the member \"\(name)\" comes before \"kind\", \"toOne\" or \"toMany\", or belongs to the other sort of "
                + "property"
        case .wrongType(let expected, let found): "expected \(expected), found \(found)"
        case .invalidWord(let word, let expected): "expected \(expected), found \"\(word)\""
        case .invalidValue(let kind): "expected a value of kind \(kind.rawValue)"
        case .limitExceeded(let what, let most): "more than \(most) \(what); make the schema smaller"
        case .duplicateEntity(let entity): "two entities are called \(entity); rename one"
        case .duplicateProperty(let entity, let property):
            "\(entity) has two properties \(property), perhaps one by inheritance; rename one"
        case .unknownSuperentity(let entity, let superentity):
            "\(entity) inherits from \(superentity), which the schema does not have; add it"
        case .inheritanceCycle(let entity): "\(entity) inherits from itself; break the cycle"
        case .unknownDestination(let entity, let property, let destination):
            "\(entity).\(property) leads to \(destination), which the schema does not have; add that entity"
        case .unknownInverse(let entity, let property, let inverse):
            "\(entity).\(property) names \(inverse) as its inverse, which is not a relationship of its destination; "
                + "correct it"
        case .unknownConstrainedProperty(let entity, let property):
            "a constraint or index names \(entity).\(property), which does not exist; correct it"
        case .unwritable(let entity, let property):
            "\(entity).\(property) has a default value or an option that the format has no form for; remove it"
        }
    }
}
