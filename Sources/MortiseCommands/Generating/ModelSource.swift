#if Tool
import Foundation
public import MortiseCore

/// The models of a schema as Swift source: `@Model` classes that have the same stored schema.
///
/// The same schema always gives the same text. Nothing of it is code that the schema's author wrote: names are identifiers, texts
/// are literals and comments.
public struct ModelSource: Sendable {
    let schema: StoredSchema
    let document: SchemaDocument
    let names: Set<String>
    private let subentities: Set<String>
    private let inverses: StoredInverses
    private let entities: [String: StoredEntity]
    private let layouts: [String: RecordLayout]

    /// Takes a schema whose entities and properties all have names in Swift, and whose relationships can be declared.
    ///
    /// Attributes of kind `coded` have the type `CodedTree` where the document does not have their members.
    /// - Throws: `ModelSourceError` with everything that is in the way; `SchemaDocumentError` for a schema whose parts do not fit
    ///   together.
    public init(_ document: SchemaDocument) throws {
        // A schema that no file could have is refused here.
        _ = try SchemaDocument(reading: Array(document.text().utf8))
        self.document = document
        schema = StoredSchema(version: document.schema.version, entities: document.schema.entities)
        names = Set(schema.entities.map(\.name))
        subentities = Set(schema.entities.compactMap(\.superentity))
        inverses = StoredInverses(schema)
        entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        layouts = schema.recordLayouts()
        let faults = ModelSourceCheck(schema, inverses, layouts).faults
        if !faults.isEmpty { throw ModelSourceError(faults: faults) }
    }

    /// A file with the classes.
    public var text: String {
        text(imports: ["Foundation", "Mortise"], heading: heading, body: classes(in: nil))
    }

    /// A file with an enum that conforms to `VersionedSchema` and has the classes inside.
    /// - Parameter name: the enum's name.
    /// - Returns: the file.
    /// - Throws: `ModelSourceError` for a name that Swift does not allow, or that an entity has.
    public func text(versionedAs name: String) throws(ModelSourceError) -> String {
        text(
            imports: ["Foundation", "Mortise"], heading: heading + ["Frozen: do not edit."],
            body: try version(name))
    }

    func text(imports: [String], heading: [String], body: [String]) -> String {
        let lines =
            heading.flatMap { SwiftName.comment($0, "//") } + ["// swift-format-ignore-file", ""]
            + imports.map { "import \($0)" } + [""] + body
        return lines.joined(separator: "\n") + "\n"
    }

    private var heading: [String] {
        ["Made by mortise schema models of version \(schema.version), storage \(document.storageDigest)."]
    }

    /// The enum of a version.
    func version(_ name: String) throws(ModelSourceError) -> [String] {
        var faults: [String] = []
        if !SwiftName.isIdentifier(name) || SwiftName.isKeyword(name) || ReservedSwiftNames.used.contains(name) {
            faults.append("\(name.shown()) is no name for a version; give another one")
        }
        for taken in [name, "versionIdentifier", "models", "stored"] where names.contains(taken) {
            faults.append(
                "\(taken.shown()) is an entity, whose class cannot be inside of the version \(name.shown()); give another name"
            )
        }
        if !faults.isEmpty { throw ModelSourceError(faults: faults) }
        let (major, minor, patch) = (schema.version.major, schema.version.minor, schema.version.patch)
        let version = "\(type("Schema")).Version"
        let models = schema.entities.map { "\(SwiftName.quoted($0.name)).self" }.joined(separator: ", ")
        return [
            "enum \(name): \(type("VersionedSchema")) {",
            "    static var versionIdentifier: \(version) { \(version)(\(major), \(minor), \(patch)) }",
            "    static var models: [any \(type("PersistentModel")).Type] { [\(models)] }",
        ] + schema.entities.flatMap { [""] + lines(of: $0).map { $0.isEmpty ? $0 : "    " + $0 } } + ["}"]
    }

    private func classes(in enclosing: String?) -> [String] {
        Array(schema.entities.map(lines).joined(separator: [""]))
    }

    /// A type's name, with its module where an entity has that name.
    func type(_ name: String) -> String { names.contains(name) ? "\(SwiftTypes.module(of: name)).\(name)" : name }

    private var literal: SwiftLiteral { SwiftLiteral(type: type) }

    // MARK: Classes

    private func lines(of entity: StoredEntity) -> [String] {
        let name = SwiftName.quoted(entity.name)
        var left = LeftOut(entity, document.details[entity.name]).texts
        for index in entity.indices where !isIndexable(index, in: entity) {
            left.append("an index on " + index.properties.joined(separator: ", "))
        }
        var nested: [[String]] = []
        var types = NestedTypeNames(entity, names)
        var properties: [String] = []
        for property in entity.properties {
            let details = document.details(of: property.name, in: entity.name)
            if let text = details.documentation { properties += SwiftName.comment(text, "///") }
            switch property.content {
            case .attribute(let attribute):
                let known = types.take(property, attribute, details, literal)
                if let known, known.isFirst { nested.append(known.lines) }
                properties.append(line(of: property, attribute, details, known, &left))
            case .relationship(let relationship):
                properties.append(line(of: property, relationship, details, in: entity.name))
            }
        }
        var members: [String] = left.flatMap { SwiftName.comment("Not here: \($0)", "//") }
        let constraints = constraints(of: entity, name)
        members += constraints + (constraints.isEmpty ? [] : [""])
        if entity.isRenamed {
            members += ["static var originalEntityName: String? { \(SwiftName.literal(entity.originalName)) }", ""]
        }
        for lines in nested { members += lines + [""] }
        members += properties
        let superclass = entity.superentity.map { ": \(SwiftName.quoted($0))" } ?? ""
        let isFinal = subentities.contains(entity.name) ? "" : "final "
        return ["@Model", "\(isFinal)class \(name)\(superclass) {"]
            + (members.isEmpty ? [] : members.map { $0.isEmpty ? $0 : "    " + $0 } + [""])
            + initializer(of: entity).map { "    " + $0 }
            + ["}"]
    }

    private func line(
        of property: StoredProperty, _ attribute: StoredAttribute, _ details: SchemaDocument.PropertyDetails,
        _ nested: NestedTypeNames.Found?, _ left: inout [String]
    ) -> String {
        var arguments: [String] = []
        let options: [(StoredAttribute.Options, String)] = [
            (.unique, ".unique"), (.externalStorage, ".externalStorage"),
            (.preserveValueOnDeletion, ".preserveValueOnDeletion"),
            (.ephemeral, ".ephemeral"), (.spotlight, ".spotlight"), (.allowsCloudEncryption, ".allowsCloudEncryption"),
        ]
        arguments += options.filter { attribute.options.contains($0.0) }.map(\.1)
        if attribute.options.contains(.transformable) {
            if details.transformer == nil { left.append("the name of the transformer of \(property.name)") }
            arguments.append(".transformable(by: \(SwiftName.literal(details.transformer ?? "Unknown")))")
        }
        if details.isCodable, attribute.kind == .coded { arguments.append(".codable") }
        arguments += self.arguments(property, attribute.hashModifier)
        var line = arguments.isEmpty ? "" : "@Attribute(\(arguments.joined(separator: ", "))) "
        let name = nested?.name ?? type(plainType(attribute.kind, details))
        line += "var \(SwiftName.quoted(property.name)): \(name)\(property.isOptional ? "?" : "")"
        if let value = initialValue(of: property, attribute, nested) { line += " = \(value)" }
        return line
    }

    private func initialValue(
        of property: StoredProperty, _ attribute: StoredAttribute, _ nested: NestedTypeNames.Found?
    ) -> String? {
        guard let value = attribute.defaultValue else { return nil }
        return nested?.initialValue ?? literal.expression(value, kind: attribute.kind)
    }

    private func plainType(_ kind: StorageKind, _ details: SchemaDocument.PropertyDetails) -> String {
        var written = details.swiftType ?? ""
        if written.hasSuffix("?") { written.removeLast() }
        return SwiftTypes.others[written] == kind ? written : SwiftTypes.name(of: kind)
    }

    private func line(
        of property: StoredProperty, _ relationship: StoredRelationship, _ details: SchemaDocument.PropertyDetails,
        in entity: String
    ) -> String {
        var arguments: [String] = relationship.isUnique ? [".unique"] : []
        if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule.rawValue)") }
        if let count = relationship.minimumCount, count != 0 { arguments.append("minimumModelCount: \(count)") }
        if let count = relationship.maximumCount, count != 0 { arguments.append("maximumModelCount: \(count)") }
        let names = self.arguments(property, details.hashModifier)
        arguments += names.filter { $0.hasPrefix("originalName") }
        let destination = SwiftName.quoted(relationship.destination)
        if let inverse = relationship.inverse, inverses.names(property.name, in: entity) {
            arguments.append("inverse: \\\(destination).\(SwiftName.quoted(inverse))")
        }
        arguments += names.filter { $0.hasPrefix("hashModifier") }
        var line = arguments.isEmpty ? "" : "@Relationship(\(arguments.joined(separator: ", "))) "
        line += "var \(SwiftName.quoted(property.name)): "
        line += relationship.isToMany ? "[\(destination)]" : destination
        if property.isOptional { return line + "?" }
        return line + (relationship.isToMany ? " = []" : "")
    }

    private func arguments(_ property: StoredProperty, _ modifier: String?) -> [String] {
        var arguments: [String] = []
        if property.originalName != property.name {
            arguments.append("originalName: \(SwiftName.literal(property.originalName))")
        }
        if let modifier { arguments.append("hashModifier: \(SwiftName.literal(modifier))") }
        return arguments
    }

    private func constraints(of entity: StoredEntity, _ name: String) -> [String] {
        func paths(_ names: [String]) -> String {
            "[" + names.map { "\\.\(SwiftName.quoted($0))" }.joined(separator: ", ") + "]"
        }
        var lines: [String] = []
        var unique: [[String]] = []
        for names in entity.uniquenessConstraints where !names.isEmpty && !unique.contains(names) {
            if names.count == 1, entity.properties.contains(where: { $0.name == names[0] && $0.isUniqueByItself }) {
                continue
            }
            unique.append(names)
        }
        if !unique.isEmpty { lines.append("#Unique<\(name)>(\(unique.map(paths).joined(separator: ", ")))") }
        var indices: [StoredIndex] = []
        for index in entity.indices where isIndexable(index, in: entity) && !indices.contains(index) {
            indices.append(index)
        }
        if indices.isEmpty { return lines }
        let isPlain = indices.allSatisfy { $0.kind == .binary }
        let texts = indices.map { isPlain ? paths($0.properties) : ".\($0.kind.rawValue)(\(paths($0.properties)))" }
        return lines + ["#Index<\(name)>(\(texts.joined(separator: ", ")))"]
    }

    /// Whether an index can be declared: not one of lists, or of what is not stored.
    private func isIndexable(_ index: StoredIndex, in entity: StoredEntity) -> Bool {
        let slots = layouts[entity.name]?.slots ?? []
        return !index.properties.isEmpty
            && index.properties.allSatisfy { name in
                guard let slot = slots.first(where: { $0.name == name }) else { return false }
                return !slot.role.isToMany && slot.property.attribute?.options.contains(.ephemeral) != true
            }
    }

    // MARK: Initializers

    /// What an initializer has to be given.
    private func parameters(of entity: StoredEntity) -> [(name: String, type: String)] {
        var types = NestedTypeNames(entity, names)
        return entity.properties.compactMap { property in
            let details = document.details(of: property.name, in: entity.name)
            switch property.content {
            case .attribute(let attribute):
                let nested = types.take(property, attribute, details, literal)
                if property.isOptional || initialValue(of: property, attribute, nested) != nil { return nil }
                let name =
                    nested.map { "\(SwiftName.quoted(entity.name)).\($0.name)" }
                    ?? type(plainType(attribute.kind, details))
                return (property.name, name)
            case .relationship(let relationship):
                if property.isOptional || relationship.isToMany { return nil }
                return (property.name, SwiftName.quoted(relationship.destination))
            }
        }
    }

    private func initializer(of entity: StoredEntity) -> [String] {
        let chain = sequence(first: entity) { [entities] in $0.superentity.flatMap { entities[$0] } }
        let inherited = chain.dropFirst().reversed().flatMap(parameters)
        let own = parameters(of: entity)
        if inherited.isEmpty, own.isEmpty, entity.superentity == nil { return ["init() {}"] }
        let taken = Set((inherited + own).map(\.name))
        func variable(_ name: String) -> String {
            guard SwiftName.isKeyword(name) else { return name }
            var found = name + "Value"
            while taken.contains(found) { found += "_" }
            return found
        }
        let list = (inherited + own).map { name, type in
            let variable = variable(name)
            return "\(SwiftName.label(name))\(variable == name ? "" : " \(variable)"): \(type)"
        }
        let head =
            "\(entity.superentity != nil && own.isEmpty ? "override " : "")init(\(list.joined(separator: ", "))) {"
        let assignments = own.map { "    self.\(SwiftName.quoted($0.name)) = \(variable($0.name))" }
        if entity.superentity == nil { return [head] + assignments + ["}"] }
        let arguments = inherited.map { "\(SwiftName.label($0.name)): \(variable($0.name))" }
        return [head] + assignments + ["    super.init(\(arguments.joined(separator: ", ")))", "}"]
    }
}

extension StoredProperty {
    /// Whether the property has the option `unique`.
    var isUniqueByItself: Bool {
        switch content {
        case .attribute(let attribute): attribute.options.contains(.unique)
        case .relationship(let relationship): relationship.isUnique
        }
    }
}

/// The types inside of one class.
struct NestedTypeNames {
    struct Found {
        let name: String
        let lines: [String]
        /// Whether the type is declared here, and not for a property before.
        let isFirst: Bool
        let initialValue: String?
    }

    private let entities: Set<String>
    private var taken: Set<String>
    private var structures: [NestedStructure] = []
    private var enums: [NestedEnum] = []

    init(_ entity: StoredEntity, _ entities: Set<String>) {
        self.entities = entities
        taken = Set(entity.properties.map(\.name))
    }

    /// The type of an attribute whose values or members are known; nil if it has a plain one.
    mutating func take(
        _ property: StoredProperty, _ attribute: StoredAttribute, _ details: SchemaDocument.PropertyDetails,
        _ literal: SwiftLiteral
    ) -> Found? {
        if attribute.options.contains(.transformable) { return nil }
        var written = details.swiftType ?? ""
        if written.hasSuffix("?") { written.removeLast() }
        if attribute.kind == .coded, !details.members.isEmpty {
            let name = isTypeName(written) ? written : SwiftName.typeName(of: property.name)
            guard isTypeName(name), let structure = NestedStructure(name: name, details.members) else { return nil }
            var initial: String?
            if let value = attribute.defaultValue {
                guard let text = literal.expression(value, of: structure) else { return nil }
                initial = text
            }
            if structures.contains(structure) {
                return Found(name: name, lines: [], isFirst: false, initialValue: initial)
            }
            guard taken.insert(name).inserted else { return nil }
            structures.append(structure)
            return Found(name: name, lines: structure.lines(literal), isFirst: true, initialValue: initial)
        }
        guard !details.allowedValues.isEmpty, isTypeName(written), SwiftTypes.others[written] == nil,
            attribute.kind == .string || SwiftTypes.isInteger(attribute.kind),
            let found = NestedEnum(name: written, attribute.kind, details.allowedValues)
        else { return nil }
        var initial: String?
        if let value = attribute.defaultValue {
            guard let text = found.expression(value) else { return nil }
            initial = text
        }
        if enums.contains(found) { return Found(name: written, lines: [], isFirst: false, initialValue: initial) }
        guard taken.insert(written).inserted else { return nil }
        enums.append(found)
        return Found(name: written, lines: found.lines(literal), isFirst: true, initialValue: initial)
    }

    private func isTypeName(_ name: String) -> Bool {
        SwiftName.isIdentifier(name) && !SwiftName.isKeyword(name) && !ReservedSwiftNames.used.contains(name)
            && !entities.contains(name)
    }
}

extension SwiftTypes {
    static func isInteger(_ kind: StorageKind) -> Bool {
        switch kind {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: true
        default: false
        }
    }
}

/// What a schema's file says of an entity and a class does not.
struct LeftOut {
    let texts: [String]

    init(_ entity: StoredEntity, _ details: SchemaDocument.EntityDetails?) {
        var texts: [String] = []
        if let details {
            if details.isAbstract { texts.append("that the entity is abstract") }
            if !details.formerNames.isEmpty {
                texts.append("the former names " + details.formerNames.map(\.name).joined(separator: ", "))
            }
            if let modifier = details.hashModifier { texts.append("the hash modifier \(modifier) of the entity") }
            if !details.reserved.isEmpty {
                texts.append("the reserved names " + details.reserved.joined(separator: ", "))
            }
            for property in entity.properties {
                guard let more = details.properties[property.name] else { continue }
                if more.isOrdered { texts.append("that \(property.name) is ordered") }
                if let isKept = more.isKeptHere {
                    texts.append("that \(property.name) \(isKept ? "keeps" : "does not keep") the links")
                }
            }
        }
        self.texts = texts
    }
}
#endif
