#if Tool
import Foundation
import MortiseCore

/// A model of Core Data, as Xcode writes it: the file `contents` of an `.xcdatamodel`.
struct CoreDataModel {
    private(set) var document = SchemaDocument(StoredSchema(entities: []))
    /// What the model says and a schema does not have, in words.
    private(set) var leftOut: [String] = []
    /// What cannot be taken over, in words with lines.
    private(set) var faults: [String] = []

    private var known: Set<String> = []
    private var cursor: XMLCursor
    private var entities: [StoredEntity] = []
    private var composites: [String: [SchemaDocument.Member]] = [:]
    /// The attributes whose composite is to be found at the end.
    private var composed: [(entity: String, property: String, composite: String)] = []

    /// Reads the text of a model.
    /// - Throws: `XMLFault`.
    init(_ bytes: [UInt8]) throws(XMLFault) {
        cursor = try XMLCursor(bytes)
        guard case .open("model", let attributes)? = try next() else {
            throw XMLFault(line: cursor.line, what: "expected <model>, as in the file contents of an .xcdatamodel")
        }
        let version = Self.version(attributes["userDefinedModelVersionIdentifier"])
        try eachChild(of: "the model", ignoring: ["elements"]) { reader, name, attributes throws(XMLFault) in
            switch name {
            case "entity": try reader.readEntity(attributes)
            case "composite": try reader.readComposite(attributes)
            case "configuration": try reader.readConfiguration(attributes)
            default: return false
            }
            return true
        }
        _ = try next()
        for found in composed {
            guard let members = composites[found.composite] else {
                fault(
                    "\(found.entity).\(found.property) is of the composite \(found.composite.shown()), which the model lacks"
                )
                continue
            }
            document.details[found.entity, default: .init()].properties[found.property, default: .init()].members =
                members
        }
        document.schema = StoredSchema(version: version, entities: entities)
        // Whether the parts fit together.
        if faults.isEmpty {
            do {
                _ = try SchemaDocument(reading: Array(document.text().utf8))
            } catch let error as SchemaDocumentError { fault("\(error.fault)".shown(limit: 300)) } catch {
                fault("\(error)")
            }
        }
    }

    private static func version(_ text: String?) -> Schema.Version {
        let parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...3).contains(parts.count), parts.allSatisfy({ ($0 ?? -1) >= 0 }) else {
            return Schema.Version(1, 0, 0)
        }
        let numbers = parts.compactMap(\.self) + [0, 0]
        return Schema.Version(numbers[0], numbers[1], numbers[2])
    }

    // MARK: Elements

    private mutating func next() throws(XMLFault) -> XMLCursor.Event? {
        while let event = try cursor.next() {
            // Text says nothing in a model.
            if case .text = event { continue }
            return event
        }
        return nil
    }

    /// Reads the children of the element that is open, to its end. `read` reads a child to its end and returns false for one that is
    /// not known, which is skipped and listed.
    private mutating func eachChild(
        of owner: String, ignoring: Set<String> = [],
        _ read: (inout CoreDataModel, String, [String: String]) throws(XMLFault) -> Bool
    ) throws(XMLFault) {
        while let event = try next() {
            guard case .open(let name, let attributes) = event else { return }
            if ignoring.contains(name) {
                try skip()
            } else if !(try read(&self, name, attributes)) {
                leave("\(name) \((attributes["name"] ?? "").shown()) of \(owner)")
                try skip()
            }
        }
    }

    /// To the end of the element that is open.
    private mutating func skip() throws(XMLFault) {
        var depth = 1
        while depth > 0, let event = try next() {
            if case .open = event { depth += 1 } else { depth -= 1 }
        }
    }

    /// The first thousand, each once.
    private mutating func leave(_ what: String) {
        if leftOut.count < 1_000, known.insert(what).inserted { leftOut.append(what) }
    }

    private mutating func fault(_ what: String) { if faults.count < 1_000 { faults.append(what) } }

    private mutating func name(_ attributes: [String: String], _ what: String) -> String {
        let name = attributes["name"] ?? ""
        if name.isEmpty { fault("line \(cursor.line): \(what) has no name") }
        return name
    }

    /// Lists what an element has besides what is known.
    private mutating func leaveUnknown(_ attributes: [String: String], _ known: Set<String>, _ owner: String) {
        for name in attributes.keys.sorted() where !known.contains(name) { leave("\(name.shown()) of \(owner)") }
    }

    private mutating func readConfiguration(_ attributes: [String: String]) throws(XMLFault) {
        let name = (attributes["name"] ?? "").shown()
        var members: [String] = []
        try eachChild(of: "the configuration \(name)") { reader, element, attributes throws(XMLFault) in
            guard element == "memberEntity" else { return false }
            members.append((attributes["name"] ?? "").shown())
            try reader.skip()
            return true
        }
        leave(
            "the configuration \(name) of \(members.joined(separator: ", ")): give these models to a ModelConfiguration of that name"
        )
    }

    private mutating func readComposite(_ attributes: [String: String]) throws(XMLFault) {
        let composite = name(attributes, "a composite")
        var members: [SchemaDocument.Member] = []
        try eachChild(of: "the composite \(composite.shown())") { reader, element, attributes throws(XMLFault) in
            guard element == "attribute" else { return false }
            let member = reader.name(attributes, "an attribute")
            let owner = "\(composite.shown()).\(member.shown())"
            let type = attributes["attributeType"] ?? ""
            if let kind = Self.kinds[type] {
                members.append(
                    .init(
                        name: member, kind: kind, isOptional: attributes["optional"] == "YES",
                        defaultValue: reader.defaultValue(attributes, kind, owner)))
            } else {
                reader.fault(
                    "line \(reader.cursor.line): \(owner) is of type \"\(type.shown())\", which no composite can have here"
                )
            }
            try reader.skip()
            return true
        }
        if composites.updateValue(members, forKey: composite) != nil {
            fault("two composites are called \(composite.shown())")
        }
    }

    private mutating func readEntity(_ attributes: [String: String]) throws(XMLFault) {
        let name = name(attributes, "an entity")
        let owner = name.shown()
        var entity = StoredEntity(name: name, superentity: attributes["parentEntity"], properties: [])
        var details = SchemaDocument.EntityDetails()
        details.isAbstract = attributes["isAbstract"] == "YES"
        if let original = attributes["elementID"], original != name, !original.isEmpty {
            entity.originalName = original
        }
        details.hashModifier = attributes["versionHashModifier"]
        if let type = attributes["representedClassName"], type != name, !type.isEmpty {
            leave("the class \(type.shown()) of \(owner)")
        }
        leaveUnknown(
            attributes,
            [
                "name", "parentEntity", "isAbstract", "elementID", "versionHashModifier", "representedClassName",
                "syncable",
            ], owner)
        try eachChild(of: owner, ignoring: ["userInfo"]) { reader, element, attributes throws(XMLFault) in
            switch element {
            case "attribute":
                let (property, more) = try reader.readAttribute(attributes, in: name)
                if attributes["indexed"] == "YES" { entity.indices.append(StoredIndex(properties: [property.name])) }
                entity.properties.append(property)
                if more != .init() { details.properties[property.name] = more }
            case "relationship":
                let (property, more) = try reader.readRelationship(attributes, in: owner)
                entity.properties.append(property)
                if more != .init() { details.properties[property.name] = more }
            case "fetchIndex":
                if let index = try reader.readIndex(attributes, in: owner) { entity.indices.append(index) }
            case "compoundIndexes", "uniquenessConstraints":
                let isUnique = element == "uniquenessConstraints"
                for names in try reader.readLists(in: owner) where !names.isEmpty {
                    if isUnique {
                        entity.uniquenessConstraints.append(names)
                    } else {
                        entity.indices.append(StoredIndex(properties: names))
                    }
                }
            default: return false
            }
            return true
        }
        if let known = document.details[name] { details.properties.merge(known.properties) { first, _ in first } }
        if details != .init() { document.details[name] = details }
        entities.append(entity)
    }

    /// `<uniquenessConstraint><constraint value="a"/>…`, `<compoundIndex><index value="a"/>…`.
    private mutating func readLists(in owner: String) throws(XMLFault) -> [[String]] {
        var lists: [[String]] = []
        try eachChild(of: owner) { reader, _, _ throws(XMLFault) in
            var names: [String] = []
            try reader.eachChild(of: owner) { reader, _, attributes throws(XMLFault) in
                names.append(attributes["value"] ?? "")
                try reader.skip()
                return true
            }
            lists.append(names)
            return true
        }
        return lists
    }

    private mutating func readIndex(_ attributes: [String: String], in owner: String) throws(XMLFault) -> StoredIndex? {
        let index = "the index \((attributes["name"] ?? "").shown()) of \(owner)"
        var (names, isRTree, isWhole): ([String], Bool, Bool) = ([], true, attributes["partialIndexPredicate"] == nil)
        try eachChild(of: index) { reader, _, attributes throws(XMLFault) in
            if let name = attributes["property"] { names.append(name) } else { isWhole = false }
            if attributes["type"] != "RTree" { isRTree = false }
            if attributes["order"] == "descending" { reader.leave("the descending order of \(index)") }
            try reader.skip()
            return true
        }
        if isWhole, !names.isEmpty { return StoredIndex(kind: isRTree ? .rtree : .binary, properties: names) }
        leave(index)
        return nil
    }

    // MARK: Properties

    private static let kinds: [String: StorageKind] = [
        "Integer 16": .int16, "Integer 32": .int32, "Integer 64": .int64, "Decimal": .decimal, "Double": .double,
        "Float": .float, "String": .string, "Boolean": .bool, "Date": .date, "Binary": .data, "UUID": .uuid,
        "URI": .url,
        "Transformable": .data, "Composite": .coded,
    ]

    private mutating func readAttribute(
        _ attributes: [String: String], in entity: String
    ) throws(XMLFault) -> (StoredProperty, SchemaDocument.PropertyDetails) {
        let name = name(attributes, "an attribute of \(entity.shown())")
        let owner = "\(entity.shown()).\(name.shown())"
        let type = attributes["attributeType"] ?? ""
        var details = SchemaDocument.PropertyDetails()
        var attribute = StoredAttribute(kind: Self.kinds[type] ?? .coded)
        if Self.kinds[type] == nil {
            fault(
                "line \(cursor.line): \(owner) is of type \"\(type.shown())\", which is not taken over; give it another type, or "
                    + "remove it")
        }
        let options: [(String, StoredAttribute.Options)] = [
            ("transient", .ephemeral), ("allowsExternalBinaryDataStorage", .externalStorage),
            ("spotlightIndexingEnabled", .spotlight),
            ("preservesValueInHistoryOnDeletion", .preserveValueOnDeletion),
            ("allowsCloudEncryption", .allowsCloudEncryption),
        ]
        for (key, option) in options where attributes[key] == "YES" { attribute.options.insert(option) }
        attribute.hashModifier = attributes["versionHashModifier"]
        if type == "Transformable" {
            attribute.options.insert(.transformable)
            details.transformer = attributes["valueTransformerName"].flatMap { $0.isEmpty ? nil : $0 }
            details.swiftType = attributes["customClassName"].flatMap { $0.isEmpty ? nil : $0 }
        }
        if type == "Composite" {
            composed.append((entity, name, attributes["elementCompositeName"] ?? attributes["compositeName"] ?? ""))
        }
        if let kind = Self.kinds[type] { attribute.defaultValue = defaultValue(attributes, kind, owner) }
        if let expression = attributes["derivationExpression"] {
            leave("the expression \(expression.shown()) that \(owner) is derived by")
        }
        let bounds = [
            ("minValueString", "at least"), ("maxValueString", "at most"), ("minDateTimeInterval", "from"),
            ("maxDateTimeInterval", "to"), ("regularExpressionString", "matches"),
        ].compactMap { key, words in attributes[key].map { "\(words) \($0)" } }
        if !bounds.isEmpty {
            details.documentation = "In Core Data: " + bounds.joined(separator: ", ")
            leave("the limits of \(owner), which are in its documentation")
        }
        leaveUnknown(
            attributes,
            Set(options.map(\.0)).union([
                "name", "optional", "attributeType", "defaultValueString", "defaultDateTimeInterval", "elementID",
                "versionHashModifier", "usesScalarValueType", "valueTransformerName", "customClassName",
                "minValueString",
                "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "regularExpressionString", "indexed",
                "syncable",
                "derived", "derivationExpression", "compositeName", "elementCompositeName",
            ]), owner)
        try eachChild(of: owner, ignoring: ["userInfo"]) { _, _, _ throws(XMLFault) in false }
        let original = attributes["elementID"].flatMap { $0.isEmpty ? nil : $0 }
        return (
            StoredProperty(
                name: name, originalName: original, isOptional: attributes["optional"] == "YES",
                content: .attribute(attribute)),
            details
        )
    }

    private mutating func defaultValue(
        _ attributes: [String: String], _ kind: StorageKind, _ owner: String
    ) -> StoredValue? {
        guard let text = attributes["defaultDateTimeInterval"] ?? attributes["defaultValueString"] else { return nil }
        let value: StoredValue?
        switch kind {
        case .int16, .int32, .int64: value = Int64(text).map(StoredValue.integer)
        case .bool: value = ["YES": true, "NO": false, "1": true, "0": false][text].map(StoredValue.bool)
        case .double: value = Double(text).flatMap { $0.isFinite ? .double($0) : nil }
        case .float: value = Float(text).flatMap { $0.isFinite ? .float($0) : nil }
        case .decimal: value = Decimal(string: text, locale: nil).map(StoredValue.decimal)
        case .string: value = .string(text)
        case .date:
            value = Double(text).flatMap { $0.isFinite ? .date(Date(timeIntervalSinceReferenceDate: $0)) : nil }
        case .uuid: value = UUID(uuidString: text).map(StoredValue.uuid)
        case .url: value = URL(string: text).map(StoredValue.url)
        default: value = nil
        }
        guard let value, value.fits(kind) else {
            fault(
                "line \(cursor.line): \(owner) has the default \"\(text.shown())\", which is no value of kind \(kind.rawValue)"
            )
            return nil
        }
        return value
    }

    private mutating func readRelationship(
        _ attributes: [String: String], in entity: String
    ) throws(XMLFault) -> (StoredProperty, SchemaDocument.PropertyDetails) {
        let name = name(attributes, "a relationship of \(entity)")
        let owner = "\(entity).\(name.shown())"
        var details = SchemaDocument.PropertyDetails()
        details.hashModifier = attributes["versionHashModifier"]
        details.isOrdered = attributes["ordered"] == "YES"
        var isToMany = attributes["toMany"] == "YES"
        let counts = ["minCount", "maxCount"].map { key -> Int? in
            guard let text = attributes[key] else { return nil }
            guard let count = Int(text), count >= 0 else {
                fault("line \(cursor.line): \(owner) has the \(key) \"\(text.shown())\", which is no number of members")
                return nil
            }
            return count
        }
        // A list of one at most is written so, too.
        if attributes["toMany"] == nil, let most = counts[1], most != 1 { isToMany = true }
        let isOptional = attributes["optional"] == "YES"
        var relationship = StoredRelationship(destination: attributes["destinationEntity"] ?? "", isToMany: isToMany)
        relationship.inverse = attributes["inverseName"]
        if isToMany {
            relationship.minimumCount = isOptional ? nil : max(1, counts[0] ?? 1)
            relationship.maximumCount = counts[1].flatMap { $0 == 0 ? nil : $0 }
            if isOptional, let least = counts[0], least > 0 {
                leave("the least number of members of \(owner), which may have none")
            }
        }
        if relationship.destination.isEmpty { fault("line \(cursor.line): \(owner) has no destination") }
        switch attributes["deletionRule"] {
        case "Nullify", nil: relationship.deleteRule = .nullify
        case "Cascade": relationship.deleteRule = .cascade
        case "Deny": relationship.deleteRule = .deny
        case "No Action": relationship.deleteRule = .noAction
        case let rule?:
            fault("line \(cursor.line): \(owner) has the delete rule \"\(rule.shown())\", which is not known")
        }
        if attributes["transient"] == "YES" { leave("that \(owner) is transient") }
        leaveUnknown(
            attributes,
            [
                "name", "optional", "toMany", "ordered", "deletionRule", "destinationEntity", "inverseName",
                "inverseEntity",
                "minCount", "maxCount", "elementID", "versionHashModifier", "transient", "syncable",
                "spotlightIndexingEnabled",
            ], owner)
        try eachChild(of: owner, ignoring: ["userInfo"]) { _, _, _ throws(XMLFault) in false }
        let original = attributes["elementID"].flatMap { $0.isEmpty ? nil : $0 }
        return (
            StoredProperty(
                name: name, originalName: original, isOptional: !isToMany && isOptional,
                content: .relationship(relationship)),
            details
        )
    }
}

/// The file of a model in the folders in which Xcode keeps it.
enum CoreDataFolder {
    /// The text of a model: of a file `contents`, of an `.xcdatamodel`, or of a version of an `.xcdatamodeld`.
    static func contents(_ path: String, version: String?, name: String) throws -> [UInt8] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ToolError.missingSchema(source: name, detail: "there is no file at \(name)")
        }
        let url = URL(fileURLWithPath: path)
        if !isFolder.boolValue {
            try refuse(version, name)
            return try SchemaFile.read(path, limit: XMLCursor.limit)
        }
        if let found = try file(url.appending(path: "contents")) {
            try refuse(version, name)
            return found
        }
        let suffix = ".xcdatamodel"
        let versions = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(suffix) }
            .map { String($0.dropLast(suffix.count)) }.sorted()
        guard !versions.isEmpty else {
            throw ToolError.missingSchema(
                source: name,
                detail: "neither the file contents of an .xcdatamodel nor a version of an .xcdatamodeld is there")
        }
        var chosen = version
        if chosen == nil, let bytes = try file(url.appending(path: ".xccurrentversion")) {
            chosen = try currentVersion(bytes, name).map {
                $0.hasSuffix(suffix) ? String($0.dropLast(suffix.count)) : $0
            }
        }
        if chosen == nil, versions.count == 1 { chosen = versions[0] }
        guard let chosen else {
            throw ToolError.usage(
                "\(name) has several versions and does not say which is current; pass --model with one of "
                    + versions.map { $0.shown() }.joined(separator: ", "))
        }
        guard versions.contains(chosen), let bytes = try file(url.appending(path: chosen + suffix + "/contents")) else {
            throw ToolError.usage(
                "\(name) has no version \"\(chosen.shown())\"" + Suggestion.text(chosen, among: versions))
        }
        return bytes
    }

    private static func refuse(_ version: String?, _ name: String) throws {
        if version != nil { throw ToolError.usage("\(name) has no versions; leave out --model") }
    }

    /// Nil if there is no such file.
    private static func file(_ url: URL) throws -> [UInt8]? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), !isFolder.boolValue else {
            return nil
        }
        return try SchemaFile.read(url.path, limit: XMLCursor.limit)
    }

    /// What a property list has for the key of the current version.
    private static func currentVersion(_ bytes: [UInt8], _ name: String) throws -> String? {
        do throws(XMLFault) {
            var cursor = try XMLCursor(bytes)
            var (isKey, isNext, text): (Bool, Bool, String) = (false, false, "")
            while let event = try cursor.next() {
                switch event {
                case .open(let element, _):
                    isKey = element == "key"
                    text = ""
                    if isNext, element != "string" { isNext = false }
                case .text(let more): text += more
                case .close(let element):
                    if isKey, element == "key" { isNext = text == "_XCCurrentVersionName" }
                    if isNext, element == "string" { return text }
                }
            }
            return nil
        } catch {
            throw ToolError.notASchema(
                source: name, detail: "line \(error.line) of .xccurrentversion: \(error.what.shown(limit: 300))")
        }
    }
}
#endif
