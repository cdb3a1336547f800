#if Tool
import MortiseCore

/// What a schema has that is likely to cause trouble.
struct SchemaLint {
    enum Severity: String {
        case error
        case warning
    }

    struct Finding {
        /// S01 and so on, as `mortise help schema lint` lists them.
        let code: String
        let severity: Severity
        /// `Trip.cost`, or `Trip`.
        let subject: String
        let message: String
    }

    private(set) var findings: [Finding] = []
    private let document: SchemaDocument
    private let isForSync: Bool

    /// Rules that hold only where records are exchanged with a service.
    private static let ofSync: Set = ["S01", "S02", "S03", "S04", "S05"]
    private static let errorsForSync: Set = [
        "S01", "S02", "S03", "S04", "S05", "S06", "S07", "S08", "S09", "S12",
    ]

    /// - Parameters:
    ///   - document: the schema.
    ///   - shipped: the version before, whose records exist; nil for a first version.
    ///   - isForSync: whether records are exchanged with a service, such as CloudKit.
    init(_ document: SchemaDocument, since shipped: SchemaDocument?, isForSync: Bool) {
        self.document = document
        self.isForSync = isForSync
        for entity in document.schema.entities {
            checkNames(of: entity)
            for property in entity.properties {
                switch property.content {
                case .attribute(let attribute): check(attribute, property, in: entity)
                case .relationship(let relationship): check(relationship, property, in: entity)
                }
            }
            for constraint in entity.uniquenessConstraints {
                add("S02", entity.name, "\(constraint.joined(separator: ", ")) is unique; a service cannot hold that")
            }
        }
        checkCase(document.schema.entities.map(\.name), "")
        if let shipped { check(since: shipped) }
        findings.sort { ($0.code, $0.subject) < ($1.code, $1.subject) }
    }

    var hasErrors: Bool { findings.contains { $0.severity == .error } }

    private mutating func add(_ code: String, _ subject: String, _ message: String) {
        guard isForSync || !Self.ofSync.contains(code) else { return }
        let severity: Severity = isForSync && Self.errorsForSync.contains(code) ? .error : .warning
        findings.append(Finding(code: code, severity: severity, subject: subject, message: message))
    }

    // MARK: Properties

    private mutating func check(_ attribute: StoredAttribute, _ property: StoredProperty, in entity: StoredEntity) {
        let subject = "\(entity.name).\(property.name)"
        let details = document.details(of: property.name, in: entity.name)
        if attribute.options.contains(.ephemeral) { return }
        if !property.isOptional, attribute.defaultValue == nil {
            add("S01", subject, "is required and has no default; records of other versions lack it")
        }
        if [.uuid, .date].contains(attribute.kind), attribute.defaultValue?.isNull == false {
            add("S08", subject, "has a default of kind \(attribute.kind.rawValue), which is the same for all records")
        }
        let type = details.swiftType ?? ""
        if attribute.kind == .coded, (type.hasPrefix("[") && !type.contains(":")) || type.hasPrefix("Array<") {
            add("S10", subject, "is a list within the record, which is read and written whole; use a relationship")
        }
        if attribute.options.contains(.transformable) || details.transformer != nil {
            add("S11", subject, "is transformable: no query and no other program reads its values")
        }
        let texts = details.allowedValues.compactMap { value -> String? in
            if case .string(let text) = value { text.lowercased() } else { nil }
        }
        if !texts.isEmpty, !texts.contains(where: { ["unknown", "other", "undefined", "unspecified"].contains($0) }) {
            add("S12", subject, "has no case for values of later versions; add one, such as unknown")
        }
    }

    private mutating func check(
        _ relationship: StoredRelationship, _ property: StoredProperty, in entity: StoredEntity
    ) {
        let subject = "\(entity.name).\(property.name)"
        if !property.isOptional, !relationship.isToMany {
            add("S03", subject, "is a required relationship; records may come before those that they refer to")
        }
        if relationship.inverse == nil { add("S04", subject, "has no inverse; name one") }
        if relationship.deleteRule == .deny {
            add("S05", subject, "denies deletion, which another device may have done")
        }
        if document.details(of: property.name, in: entity.name).isOrdered {
            add("S09", subject, "was ordered; add an attribute for the position")
        }
    }

    // MARK: Names

    /// A name that is longer does not fit into what other stores make of it.
    private static let longestName = 60

    private mutating func checkNames(of entity: StoredEntity) {
        let reserved = Set((document.details[entity.name]?.reserved ?? []))
        if ReservedNames.ofSQL.contains(entity.name.lowercased()) {
            add("S13", entity.name, "is a word of SQL")
        }
        for name in [entity.name] + entity.properties.map(\.name) where name.utf8.count > Self.longestName {
            let subject = name == entity.name ? name : "\(entity.name).\(name)"
            add(
                "S15", subject, "has \(name.utf8.count) bytes in its name; stores in databases take \(Self.longestName)"
            )
        }
        for property in entity.properties {
            let subject = "\(entity.name).\(property.name)"
            if ReservedNames.ofSQL.contains(property.name.lowercased()) { add("S13", subject, "is a word of SQL") }
            if ReservedNames.ofServices.contains(property.name.lowercased()) {
                add("S13", subject, "is a name that services use themselves")
            }
            if reserved.contains(property.name) {
                add("S19", subject, "has a name that is reserved: it had another meaning")
            }
        }
        checkCase(entity.properties.map(\.name), entity.name + ".")
    }

    private mutating func checkCase(_ names: [String], _ prefix: String) {
        let groups = Dictionary(grouping: names) { $0.lowercased() }
        for group in groups.values where group.count > 1 {
            let sorted = group.sorted()
            add("S14", prefix + sorted[0], "differs from \(sorted[1]) only in case")
        }
    }

    // MARK: The version before

    private mutating func check(since shipped: SchemaDocument) {
        let comparison = SchemaComparison(from: shipped, to: document)
        for change in comparison.changes {
            switch change.kind {
            case .typeChanged, .kindChanged, .cardinalityChanged, .destinationChanged:
                add(
                    "S06", change.subject,
                    "has another type than in version \(shipped.schema.version): \(change.detail)")
            case .entityDropped, .entityRenamed, .propertyDropped, .propertyRenamed:
                add(
                    "S07", change.subject,
                    "is dropped or renamed since version \(shipped.schema.version): \(change.detail)")
            default: break
            }
        }
        if document.storageDigest != shipped.storageDigest, document.schema.version == shipped.schema.version {
            add(
                "S16", "schema",
                "has another storage than the shipped one, and the same version \(shipped.schema.version)")
        }
        for entity in document.schema.entities {
            guard let before = shipped.schema.entity(named: entity.name) else { continue }
            let reserved = Set(shipped.details[entity.name]?.reserved ?? [])
                .subtracting(document.details[entity.name]?.reserved ?? [])
            for property in entity.properties {
                let subject = "\(entity.name).\(property.name)"
                if reserved.contains(property.name) {
                    add("S19", subject, "has a name that the shipped version reserves")
                }
                let isDone = before.properties.contains {
                    $0.name == property.name && $0.originalName == property.originalName
                }
                if property.originalName != property.name, isDone {
                    add("S17", subject, "names its original name, a rename that the shipped version has done")
                }
            }
        }
    }
}

/// Names that mean something elsewhere.
private enum ReservedNames {
    static let ofSQL: Set = [
        "all", "alter", "and", "any", "as", "asc", "between", "by", "case", "check", "collate", "column", "constraint",
        "create", "cross", "current_date", "current_time", "current_timestamp", "default", "delete", "desc", "distinct",
        "drop", "else", "end", "except", "exists", "false", "fetch", "for", "foreign", "from", "full", "grant", "group",
        "having", "in", "index", "inner", "insert", "intersect", "into", "is", "join", "key", "left", "like", "limit",
        "natural", "not", "null", "offset", "on", "or", "order", "outer", "primary", "references", "right", "rowid",
        "select", "set", "table", "then", "to", "transaction", "trigger", "true", "union", "unique", "update", "user",
        "using", "values", "view", "when", "where", "with",
    ]
    static let ofServices: Set = [
        "recordid", "recordname", "recordtype", "recordchangetag", "creationdate", "modificationdate", "createdby",
        "modifiedby", "share", "parent", "_id", "_rev", "$id",
    ]
}
#endif
