extension SchemaDocumentReader {
    private static let attributeMembers = [
        "options", "default", "transformer", "codable", "members", "allowedValues",
    ]
    private static let relationshipMembers = [
        "inverse", "deleteRule", "minimumCount", "maximumCount", "unique", "keptHere", "ordered",
    ]
    private static let commonMembers = ["optional", "originalName", "swiftType", "hashModifier", "documentation"]

    mutating func readProperty() throws -> (StoredProperty, SchemaDocument.PropertyDetails) {
        let start = try cursor.expect(.object)
        var members = MemberNames(
            ["name"],
            ["kind", "toOne", "toMany"] + Self.commonMembers + Self.attributeMembers + Self.relationshipMembers,
            at: start)
        var (name, originalName, isOptional) = ("", String?.none, false)
        var content: StoredProperty.Content?
        var details = SchemaDocument.PropertyDetails()
        try cursor.beginObject()
        while let member = try members.next(&cursor) {
            let place = cursor.keyPosition
            switch member {
            case "name": name = try self.name()
            case "optional": isOptional = try cursor.bool()
            case "originalName": originalName = try self.name()
            case "swiftType": details.swiftType = try text()
            case "documentation": details.documentation = try text()
            case "kind", "toOne", "toMany":
                guard content == nil else { throw cursor.error(.memberBeforeKind(member), at: place) }
                content = try readContent(member)
            default:
                switch content {
                case .attribute(var attribute)? where !Self.relationshipMembers.contains(member):
                    try read(member, of: &attribute, &details)
                    content = .attribute(attribute)
                case .relationship(var relationship)? where !Self.attributeMembers.contains(member):
                    try read(member, of: &relationship, &details)
                    content = .relationship(relationship)
                default: throw cursor.error(.memberBeforeKind(member), at: place)
                }
            }
        }
        guard let content else { throw cursor.error(.missingMember("kind"), at: start) }
        return (
            StoredProperty(name: name, originalName: originalName, isOptional: isOptional, content: content), details
        )
    }

    private mutating func readContent(_ member: String) throws -> StoredProperty.Content {
        guard member == "kind" else {
            return .relationship(StoredRelationship(destination: try name(), isToMany: member == "toMany"))
        }
        return .attribute(StoredAttribute(kind: try readKind()))
    }

    private mutating func readKind() throws -> StorageKind {
        try word("a kind of value, as in SCHEMA.md") { StorageKind(rawValue: $0) }
    }

    private mutating func read(
        _ member: String, of attribute: inout StoredAttribute, _ details: inout SchemaDocument.PropertyDetails
    ) throws {
        let kind = attribute.kind
        switch member {
        case "options":
            try list("options", most: SchemaWords.options.count) { reader in
                attribute.options.insert(
                    try reader.word("an option, as in SCHEMA.md") { word in
                        SchemaWords.options.first { $0.word == word }?.option
                    })
            }
        case "default": attribute.defaultValue = try cursor.value(kind, parts: &parts)
        case "hashModifier": attribute.hashModifier = try text()
        case "transformer": details.transformer = try text()
        case "codable": details.isCodable = try cursor.bool()
        case "members": details.members = try readMembers(depth: 1)
        default:
            try list("allowed values", most: SchemaDocumentLimit.allowedValues) { reader in
                details.allowedValues.append(try reader.cursor.value(kind, parts: &reader.parts))
            }
        }
    }

    private mutating func readMembers(depth: Int) throws -> [SchemaDocument.Member] {
        guard depth <= SchemaDocumentLimit.memberDepth else {
            throw cursor.error(
                .limitExceeded("levels of members", most: SchemaDocumentLimit.memberDepth), at: cursor.position)
        }
        var found: [SchemaDocument.Member] = []
        try list("members", most: SchemaDocumentLimit.names) { reader in
            found.append(try reader.readMember(depth: depth))
        }
        return found
    }

    private mutating func readMember(depth: Int) throws -> SchemaDocument.Member {
        let start = try cursor.expect(.object)
        parts -= 1
        guard parts >= 0 else {
            throw cursor.error(.limitExceeded("parts of values", most: SchemaDocumentLimit.parts), at: start)
        }
        var members = MemberNames(["name", "kind"], ["optional", "default", "members"], at: start)
        var found = SchemaDocument.Member(name: "", kind: .coded)
        var hasKind = false
        try cursor.beginObject()
        while let member = try members.next(&cursor) {
            switch member {
            case "name": found.name = try name()
            case "kind":
                found.kind = try readKind()
                hasKind = true
            case "optional": found.isOptional = try cursor.bool()
            case "default":
                guard hasKind else { throw cursor.error(.memberBeforeKind(member), at: cursor.keyPosition) }
                found.defaultValue = try cursor.value(found.kind, parts: &parts)
            default: found.members = try readMembers(depth: depth + 1)
            }
        }
        return found
    }

    private mutating func read(
        _ member: String, of relationship: inout StoredRelationship,
        _ details: inout SchemaDocument.PropertyDetails
    ) throws {
        switch member {
        case "inverse": relationship.inverse = try name()
        case "deleteRule":
            let rules = Schema.Relationship.DeleteRule.all
            relationship.deleteRule = try word("noAction, nullify, cascade or deny") { word in
                rules.first { SchemaWords.word(for: $0) == word }
            }
        case "minimumCount": relationship.minimumCount = try readCount()
        case "maximumCount": relationship.maximumCount = try readCount()
        case "unique": relationship.isUnique = try cursor.bool()
        case "hashModifier": details.hashModifier = try text()
        case "keptHere": details.isKeptHere = try cursor.bool()
        default: details.isOrdered = try cursor.bool()
        }
    }

    private mutating func readCount() throws -> Int {
        let start = try cursor.expect(.number)
        let number = try cursor.number()
        guard let count = Int(number) else {
            throw cursor.error(.invalidWord(number, expected: "an integer"), at: start)
        }
        return count
    }
}
