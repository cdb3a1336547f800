extension SchemaDocument {
    /// Reads a document.
    ///
    /// Members that the format does not have are refused, unless their names begin with `x-`. Time and memory are bounded by the
    /// length of the text, of which 16 MiB are read at most. The schema fits together: what it names is there.
    /// - Parameter bytes: the text in UTF-8.
    /// - Throws: `SchemaDocumentError`, with line and column.
    public init(reading bytes: [UInt8]) throws {
        var reader = SchemaDocumentReader(cursor: try SchemaTextCursor(bytes))
        self = try reader.read()
    }

    /// What is wrong with the text of a document: one fault for each property, and for each entity besides its properties.
    ///
    /// A fault in the syntax ends the search, and so do the first hundred. Whether the parts fit together is looked at where each of
    /// them is right.
    /// - Parameter bytes: the text in UTF-8.
    /// - Returns: the faults in the order of the text, none for a text that `init(reading:)` reads.
    public static func faults(in bytes: [UInt8]) -> [SchemaDocumentError] {
        do {
            var reader = SchemaDocumentReader(cursor: try SchemaTextCursor(bytes))
            reader.faults = []
            do { _ = try reader.read() } catch let error as SchemaDocumentError { reader.faults?.append(error) }
            return (reader.faults ?? []).sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
        } catch { return (error as? SchemaDocumentError).map { [$0] } ?? [] }
    }
}

/// Reads the text of a schema, and keeps where its parts are.
struct SchemaDocumentReader {
    var cursor: SchemaTextCursor
    /// By entity and property, in the order of the text.
    private(set) var places: [(entity: Int, properties: [Int])] = []
    var parts = SchemaDocumentLimit.parts
    private var constrained = 0
    /// What was found wrong so far; nil where the first fault ends the reading.
    var faults: [SchemaDocumentError]?

    init(cursor: SchemaTextCursor) { self.cursor = cursor }

    fileprivate mutating func read() throws -> SchemaDocument {
        var members = MemberNames(
            ["format", "formatVersion", "version", "entities"], ["storage"], at: try cursor.expect(.object))
        var version = Schema.Version(0, 0, 0)
        var entities: [StoredEntity] = []
        var document = SchemaDocument(StoredSchema(entities: []))
        var stated: String?
        try cursor.beginObject()
        while let name = try members.next(&cursor) {
            switch name {
            case "format":
                let start = try cursor.expect(.string)
                let format = try text()
                guard format == SchemaDocument.format else { throw cursor.error(.otherFormat(format), at: start) }
            case "formatVersion":
                let start = try cursor.expect(.number)
                let number = try cursor.number()
                guard number == "\(SchemaDocument.formatVersion)" else {
                    throw cursor.error(.unknownFormatVersion(number), at: start)
                }
            case "version": version = try readVersion()
            case "storage":
                let start = try cursor.expect(.string)
                let digest = try text()
                guard digest.utf8.count == 32, digest.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) else {
                    throw cursor.error(
                        .invalidWord(String(digest.prefix(40)), expected: "32 hexadecimal digits"), at: start)
                }
                stated = digest
            default:
                try list("entities", most: SchemaDocumentLimit.entities) { reader in
                    try reader.element { reader in
                        let (entity, details) = try reader.readEntity()
                        entities.append(entity)
                        if details != SchemaDocument.EntityDetails() { document.details[entity.name] = details }
                    }
                }
            }
        }
        try cursor.finish()
        if faults == nil {
            try SchemaDocumentCheck(entities, places, cursor).run()
        } else if faults == [] {
            faults = SchemaDocumentCheck(entities, places, cursor).all
        }
        document.schema = StoredSchema(version: version, entities: entities)
        if let stated, stated != document.storageDigest { document.staleStorage = stated }
        return document
    }

    private mutating func readVersion() throws -> Schema.Version {
        let start = try cursor.expect(.string)
        let word = try text()
        let numbers = word.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2],
            "\(major).\(minor).\(patch)" == word, !word.contains("-")
        else { throw cursor.error(.invalidWord(word, expected: "three numbers, as in 1.0.0"), at: start) }
        return Schema.Version(major, minor, patch)
    }

    private mutating func readEntity() throws -> (StoredEntity, SchemaDocument.EntityDetails) {
        let start = try cursor.expect(.object)
        var members = MemberNames(
            ["name", "properties"],
            [
                "originalName", "superentity", "abstract", "hashModifier", "formerNames", "reserved", "unique",
                "indices",
            ],
            at: start)
        var entity = StoredEntity(name: "", properties: [])
        var originalName: String?
        var details = SchemaDocument.EntityDetails()
        var properties: [Int] = []
        try cursor.beginObject()
        while let member = try members.next(&cursor) {
            switch member {
            case "name": entity.name = try name()
            case "originalName": originalName = try name()
            case "superentity": entity.superentity = try name()
            case "abstract": details.isAbstract = try cursor.bool()
            case "hashModifier": details.hashModifier = try text()
            case "formerNames":
                try list("former names", most: SchemaDocumentLimit.names) { reader in
                    details.formerNames.append(try reader.readFormerName())
                }
            case "reserved":
                try list("reserved names", most: SchemaDocumentLimit.names) { details.reserved.append(try $0.name()) }
            case "properties":
                try list("properties", most: SchemaDocumentLimit.propertiesOfEntity) { reader in
                    try reader.element { reader in
                        let place = try reader.cursor.expect(.object)
                        let (property, more) = try reader.readProperty()
                        properties.append(place)
                        entity.properties.append(property)
                        if more != SchemaDocument.PropertyDetails() { details.properties[property.name] = more }
                    }
                }
            case "unique":
                try list("constraints", most: SchemaDocumentLimit.constrained) { reader in
                    entity.uniquenessConstraints.append(try reader.names())
                }
            default:
                try list("indexes", most: SchemaDocumentLimit.constrained) { reader in
                    entity.indices.append(try reader.readIndex())
                }
            }
        }
        entity.originalName = originalName ?? entity.name
        places.append((start, properties))
        return (entity, details)
    }

    private mutating func readFormerName() throws -> SchemaDocument.EntityDetails.FormerName {
        var members = MemberNames(["name", "until"], [], at: try cursor.expect(.object))
        var former = SchemaDocument.EntityDetails.FormerName(name: "", until: Schema.Version(0, 0, 0))
        try cursor.beginObject()
        while let member = try members.next(&cursor) {
            if member == "name" { former.name = try name() } else { former.until = try readVersion() }
        }
        return former
    }

    private mutating func readIndex() throws -> StoredIndex {
        var members = MemberNames(["properties"], ["kind"], at: try cursor.expect(.object))
        var index = StoredIndex(properties: [])
        try cursor.beginObject()
        while let member = try members.next(&cursor) {
            if member == "properties" {
                index.properties = try names()
            } else {
                index.kind = try word("binary or rtree") { StoredIndex.Kind(rawValue: $0) }
            }
        }
        return index
    }
}

// MARK: - Parts

extension SchemaDocumentReader {
    mutating func text() throws -> String { try cursor.string(limit: SchemaDocumentLimit.textLength) }

    /// A name, which has at least one character.
    mutating func name() throws -> String {
        let start = try cursor.expect(.string)
        let name = try cursor.string(limit: SchemaDocumentLimit.nameLength)
        if name.isEmpty { throw cursor.error(.invalidWord("", expected: "a name"), at: start) }
        return name
    }

    /// Names of properties in a constraint or an index.
    private mutating func names() throws -> [String] {
        var names: [String] = []
        constrained += 1
        try list("names", most: SchemaDocumentLimit.constrained) { reader in
            reader.constrained += 1
            names.append(try reader.name())
        }
        guard constrained <= SchemaDocumentLimit.constrained else {
            throw cursor.error(
                .limitExceeded("names in constraints and indexes", most: SchemaDocumentLimit.constrained),
                at: cursor.position)
        }
        return names
    }

    /// Reads an element of a list. Where faults are collected, one that is no fault of the syntax is noted, and the element skipped.
    private mutating func element(_ read: (inout SchemaDocumentReader) throws -> Void) throws {
        guard let known = faults, known.count < 100 else { return try read(&self) }
        let start = cursor
        do {
            try read(&self)
        } catch let error as SchemaDocumentError {
            cursor = start
            try cursor.skipValue()
            faults?.append(error)
        }
    }

    mutating func word<Word>(_ expected: String, _ meaning: (String) -> Word?) throws -> Word {
        let start = try cursor.expect(.string)
        let word = try text()
        guard let found = meaning(word) else {
            throw cursor.error(.invalidWord(String(word.prefix(60)), expected: expected), at: start)
        }
        return found
    }

    mutating func list(
        _ what: String, most: Int, _ read: (inout SchemaDocumentReader) throws -> Void
    ) throws {
        var count = 0
        try cursor.beginArray()
        while try cursor.nextElement() {
            count += 1
            guard count <= most else { throw cursor.error(.limitExceeded(what, most: most), at: cursor.position) }
            try read(&self)
        }
    }
}

/// Reads the members of one object: in any order, each at most once, and none beside those that are known or begin with `x-`.
struct MemberNames {
    private let required: [String]
    private let known: Set<String>
    private let start: Int
    private var seen: Set<String> = []

    init(_ required: [String], _ optional: [String], at start: Int) {
        self.required = required
        known = Set(required + optional)
        self.start = start
    }

    /// The next member's name; nil after the last.
    mutating func next(_ cursor: inout SchemaTextCursor) throws -> String? {
        while let name = try cursor.nextKey() {
            guard seen.insert(name).inserted else { throw cursor.error(.duplicateMember(name), at: cursor.keyPosition) }
            if known.contains(name) { return name }
            guard name.hasPrefix("x-") else { throw cursor.error(.unknownMember(name), at: cursor.keyPosition) }
            try cursor.skipValue()
        }
        if let missing = required.first(where: { !seen.contains($0) }) {
            throw cursor.error(.missingMember(missing), at: start)
        }
        return nil
    }
}
