#if Tool
import MortiseCore

/// The type of a coded attribute whose members are known, as a structure inside of a model.
struct NestedStructure: Hashable {
    struct Part: Hashable {
        let member: SchemaDocument.Member
        /// The structure of a member that has members itself.
        let nested: [NestedStructure]
    }

    let name: String
    let parts: [Part]

    var members: [(member: SchemaDocument.Member, nested: NestedStructure?)] {
        parts.map { ($0.member, $0.nested.first) }
    }

    /// Nil if a member has a name that Swift does not have.
    init?(name: String, _ members: [SchemaDocument.Member]) {
        self.name = name
        var names: Set<String> = []
        var parts: [Part] = []
        for member in members {
            guard SwiftName.isIdentifier(member.name), !ReservedSwiftNames.properties.contains(member.name),
                member.name != name, names.insert(member.name).inserted
            else { return nil }
            var nested: [NestedStructure] = []
            if member.kind == .coded, !member.members.isEmpty {
                let inner = SwiftName.typeName(of: member.name)
                guard inner != name, !ReservedSwiftNames.used.contains(inner), names.insert(inner).inserted,
                    let structure = NestedStructure(name: inner, member.members)
                else { return nil }
                nested = [structure]
            }
            parts.append(Part(member: member, nested: nested))
        }
        self.parts = parts
    }

    /// The declaration. Members that older values lack have their default, or nil.
    func lines(_ literal: SwiftLiteral) -> [String] {
        var lines = [
            "struct \(name): \(literal.type("Codable")), \(literal.type("Hashable")), \(literal.type("Sendable")) {"
        ]
        for part in parts { lines += part.nested.flatMap { $0.lines(literal) }.map { $0.isEmpty ? $0 : "    " + $0 } }
        for part in parts { lines.append("    var \(SwiftName.quoted(part.member.name)): \(type(part, literal))") }
        let defaults = parts.map { part in part.member.defaultValue.flatMap { value(of: part, $0, literal) } }
        if defaults.contains(where: { $0 != nil }) { lines += [""] + decoding(defaults, literal) }
        return lines + ["}"]
    }

    private func value(of part: Part, _ value: StoredValue, _ literal: SwiftLiteral) -> String? {
        if let structure = part.nested.first { return literal.expression(value, of: structure) }
        return literal.expression(value, kind: part.member.kind)
    }

    private func type(_ part: Part, _ literal: SwiftLiteral) -> String {
        let name = part.nested.first?.name ?? literal.type(SwiftTypes.name(of: part.member.kind))
        return name + (part.member.isOptional ? "?" : "")
    }

    /// Initializers: one with all members, and one that decodes.
    private func decoding(_ defaults: [String?], _ literal: SwiftLiteral) -> [String] {
        let arguments = zip(parts, defaults).map { part, value in
            let internalName = SwiftName.isKeyword(part.member.name) ? " _\(part.member.name)" : ""
            let initial = value.map { " = \($0)" } ?? (part.member.isOptional ? " = nil" : "")
            return "\(SwiftName.label(part.member.name))\(internalName): \(type(part, literal))\(initial)"
        }
        var lines = ["    init(\(arguments.joined(separator: ", "))) {"]
        for part in parts {
            let name = part.member.name
            lines.append("        self.\(SwiftName.quoted(name)) = \(SwiftName.isKeyword(name) ? "_\(name)" : name)")
        }
        lines += ["    }", "", "    init(from decoder: any \(literal.type("Decoder"))) throws {"]
        lines.append("        let values = try decoder.container(keyedBy: CodingKeys.self)")
        for (part, value) in zip(parts, defaults) {
            let plain = part.nested.first?.name ?? literal.type(SwiftTypes.name(of: part.member.kind))
            let key = ".\(SwiftName.quoted(part.member.name))"
            let name = "self.\(SwiftName.quoted(part.member.name))"
            if let value {
                lines.append("        \(name) = try values.decodeIfPresent(\(plain).self, forKey: \(key)) ?? \(value)")
            } else if part.member.isOptional {
                lines.append("        \(name) = try values.decodeIfPresent(\(plain).self, forKey: \(key))")
            } else {
                lines.append("        \(name) = try values.decode(\(plain).self, forKey: \(key))")
            }
        }
        return lines + ["    }"]
    }
}

/// The type of an attribute that can have some values only, as an enum inside of a model.
struct NestedEnum: Hashable {
    let name: String
    let kind: StorageKind
    let cases: [(name: String, value: StoredValue)]

    static func == (a: Self, b: Self) -> Bool {
        a.name == b.name && a.kind == b.kind && a.cases.map(\.value) == b.cases.map(\.value)
    }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// Nil for values that are no raw values.
    init?(name: String, _ kind: StorageKind, _ values: [StoredValue]) {
        (self.name, self.kind) = (name, kind)
        var cases: [(name: String, value: StoredValue)] = []
        var names: Set<String> = []
        for value in values {
            if cases.contains(where: { $0.value == value }) { continue }
            let word: String
            switch value {
            case .string(let text) where kind == .string: word = text
            case .integer(let number) where kind != .coded:
                word = number < 0 ? "minus\(number.magnitude)" : "value\(number)"
            case .unsigned(let number): word = "value\(number)"
            default: return nil
            }
            var found =
                SwiftName.isIdentifier(word) && !["init", "self", "Type", "Protocol", "rawValue"].contains(word)
                ? word : "value\(cases.count + 1)"
            while !names.insert(found).inserted { found += "_" }
            cases.append((found, value))
        }
        if cases.isEmpty { return nil }
        self.cases = cases
    }

    func lines(_ literal: SwiftLiteral) -> [String] {
        let raw = literal.type(SwiftTypes.name(of: kind))
        return ["enum \(name): \(raw), \(literal.type("Codable")), \(literal.type("Sendable")) {"]
            + cases.map { found in
                if case .string(let text) = found.value, text.utf8.elementsEqual(found.name.utf8) {
                    return "    case \(SwiftName.quoted(found.name))"
                }
                return
                    "    case \(SwiftName.quoted(found.name)) = \(literal.expression(found.value, kind: kind) ?? "0")"
            } + ["}"]
    }

    func expression(_ value: StoredValue) -> String? {
        cases.first { $0.value == value }.map { "\(name).\(SwiftName.quoted($0.name))" }
    }
}

/// Swift's types for kinds of values.
enum SwiftTypes {
    static func name(of kind: StorageKind) -> String {
        switch kind {
        case .bool: "Bool"
        case .int8: "Int8"
        case .int16: "Int16"
        case .int32: "Int32"
        case .int64: "Int"
        case .uint8: "UInt8"
        case .uint16: "UInt16"
        case .uint32: "UInt32"
        case .uint64: "UInt64"
        case .float: "Float"
        case .double: "Double"
        case .decimal: "Decimal"
        case .string: "String"
        case .data: "Data"
        case .date: "Date"
        case .uuid: "UUID"
        case .url: "URL"
        case .coded: "CodedTree"
        }
    }

    /// Other types of the same kind, which a schema may name.
    static let others: [String: StorageKind] = ["Int64": .int64, "UInt": .uint64]

    /// The module of a type that generated source uses.
    static func module(of name: String) -> String {
        switch name {
        case "Data", "Date", "Decimal", "URL", "UUID": "Foundation"
        case "CodedTree", "PersistentModel", "Schema", "VersionedSchema", "SchemaMigrationPlan", "MigrationStage":
            "MortiseCore"
        default: "Swift"
        }
    }
}

/// Names that entities and properties cannot have in Swift.
enum ReservedSwiftNames {
    /// Names that generated source uses, and modules.
    static let used: Set<String> = [
        "Swift", "Foundation", "Mortise", "MortiseCore", "Codable", "Hashable", "Sendable", "Decoder", "CodingKeys",
        "CodedTree", "Data", "Date", "Decimal", "URL", "UUID", "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt",
        "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Double", "String", "Self", "Any", "Type", "Protocol",
    ]
    /// Names that no model class can have: those of values, which the macros know, of modules, and of what cannot be declared.
    static let entities: Set<String> = [
        "Bool", "String", "Substring", "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16",
        "UInt32", "UInt64", "UInt128", "Float", "Float16", "Float32", "Float64", "Double", "CGFloat", "Decimal", "UUID",
        "DateComponents", "TimeInterval", "PersistentIdentifier", "Swift", "Foundation", "Mortise", "MortiseCore",
        "Any",
        "AnyObject", "Self", "Type", "Protocol", "self", "init",
    ]
    /// Names that no property of a model can have.
    static let properties: Set<String> = [
        "Type", "Protocol", "Self", "self", "init", "persistentModelID", "persistentBackingData", "modelContext",
        "schemaMetadata", "hashValue", "_modelState", "_ownState", "_firstSlot", "_adoptOwnValues",
        "_adoptInitialValues",
        "_schemaMetadata", "_ownSchemaMetadata", "_inheritedSchemaMetadata", "_modelSlotCount", "_propertyOptions",
    ]
    /// What the macros put before the name of a property.
    static let prefixes = ["_keyPath_", "_keyPaths_", "_unobserved_", "_stored_"]
}
#endif
