#if Tool
import Foundation
public import MortiseCore

/// Two versions of a schema and the plan that leads from one to the other, as Swift source that compiles.
///
/// The stage is lightweight where that is enough. Elsewhere its mapping has what the difference asks for; what only the author can
/// know is marked with TODO: new required properties begin with an empty value, removed values stay as they are, and anything else
/// fails until it is written. The same schemas always give the same text.
public struct MigrationPlanSource: Sendable {
    /// A file with both versions, frozen, and the plan.
    public let text: String
    /// What is left to do, a line each.
    public let tasks: [String]

    /// Makes a plan.
    /// - Parameters:
    ///   - old: the schema before.
    ///   - new: the schema after, of a higher version.
    ///   - renames: by the new name of a property (`Trip.cost`), the old one, for those that `new` does not declare itself.
    ///   - name: what the names of the versions and of the plan begin with.
    ///   - isStrict: whether what is left to do is an error of the compiler.
    /// - Throws: `ModelSourceError` for schemas or names that Swift does not have.
    public init(
        from old: SchemaDocument, to new: SchemaDocument, renames: [String: String] = [:], name: String = "Store",
        isStrict: Bool = false
    ) throws {
        try self.init(from: old, to: new, renames: renames, name: name, isStrict: isStrict, counts: [])
    }

    init(
        from old: SchemaDocument, to new: SchemaDocument, renames: [String: String], name: String, isStrict: Bool,
        counts: [SchemaChange]
    ) throws {
        let (before, after) = (old.schema.version, new.schema.version)
        guard before < after else {
            throw ModelSourceError(faults: [
                "version \(after) is not above version \(before); give the new schema a higher one"
            ])
        }
        let (first, second) = (name + Self.suffix(before, after), name + Self.suffix(after, before))
        let plan = name + "MigrationPlan"
        // A mapping names properties; only classes say what they were called.
        var declared = new
        for place in declared.schema.entities.indices {
            guard let origin = renames[declared.schema.entities[place].name] else { continue }
            declared.schema.entities[place].originalName = origin
        }
        let models = [try ModelSource(old), try ModelSource(declared)]
        var stage = PlannedStage(from: old, to: new, renames: renames, counts: counts)
        stage.plan()
        tasks = stage.tasks
        var body: [String] = []
        if isStrict { body += tasks.map { "#error(\(SwiftName.literal("TODO: \($0)")))" } }
        body += (body.isEmpty ? [] : [""]) + ["// Frozen: do not edit."] + (try models[0].version(first))
        body += ["", "// Frozen with the version after it."] + (try models[1].version(second)) + [""]
        let stages = stage.lines(first, second).map { "            " + $0 }
        body += ["enum \(plan): SchemaMigrationPlan {"]
        if stage.mayFail {
            body += [
                "    /// What the author of the plan has to write.", "    struct Unfinished: Error {",
                "        let what: String", "    }", "",
            ]
        }
        body += [
            "    static var schemas: [any VersionedSchema.Type] { [\(first).self, \(second).self] }",
            "    static var stages: [MigrationStage] {", "        [",
        ]
        body += stages + ["        ]", "    }", "}"]
        text = models[0].text(
            imports: ["Foundation", "Mortise"],
            heading: [
                "Made by mortise schema plan, from version \(before), storage \(old.storageDigest),",
                "to version \(after), storage \(new.storageDigest).",
            ], body: body)
    }

    private static func suffix(_ version: Schema.Version, _ other: Schema.Version) -> String {
        if version.major != other.major { return "SchemaV\(version.major)" }
        return "SchemaV\(version.major)_\(version.minor)_\(version.patch)"
    }
}

/// The stage between two versions.
private struct PlannedStage {
    private let old: SchemaDocument
    private let new: SchemaDocument
    private let renames: [String: String]
    private let counts: [SchemaChange]
    private var mapping: [String] = []
    private var duplicates: [String] = []
    private var code: [String] = []
    private(set) var tasks: [String] = []
    private(set) var mayFail = false
    private let literal = SwiftLiteral(type: { $0 })

    init(from old: SchemaDocument, to new: SchemaDocument, renames: [String: String], counts: [SchemaChange]) {
        (self.old, self.new, self.renames, self.counts) = (old, new, renames, counts)
    }

    // MARK: What the difference asks for

    mutating func plan() {
        var answered = new
        for (name, origin) in renames {
            for place in answered.schema.entities.indices {
                let entity = answered.schema.entities[place].name
                for index in answered.schema.entities[place].properties.indices
                where "\(entity).\(answered.schema.entities[place].properties[index].name)" == name {
                    answered.schema.entities[place].properties[index].originalName = origin
                }
                if entity == name { answered.schema.entities[place].originalName = origin }
            }
        }
        let changes = SchemaComparison(from: old, to: answered).changes
        var dropped: [String] = []
        for change in changes {
            switch change.kind {
            case .propertyRenamed, .propertyCopied: rename(change)
            case .typeChanged: convert(change)
            case .attributeAdded, .madeRequired, .madeStored: if change.changeClass == .refused { fill(change) }
            case .transformerChanged:
                mapping.append(todo(change))
                mapping.append(".converting(\(subject(change)), .value { _ in \(failure(change)) })")
            case .valueRemoved: replaceValues(change)
            case .uniqueAdded: settle(change)
            case .propertyDropped, .entityDropped:
                if change.measure != nil, change.changeClass != .refused { dropped.append(change.subject) }
            default: if change.changeClass == .refused { write(change) }
            }
        }
        if mapping.isEmpty, duplicates.isEmpty, code.isEmpty { return }
        mapping += dropped.map { ".dropping(\(SwiftName.literal($0)))" }
    }

    private func subject(_ change: SchemaChange) -> String { SwiftName.literal(change.subject) }

    private mutating func todo(_ change: SchemaChange, _ what: String? = nil) -> String {
        let records = counts.first { $0.kind == change.kind && $0.subject == change.subject }?.records
        let text =
            "\(change.subject): \(what ?? change.detail)"
            + (records.map { ", \(FigureText.plural($0, "record"))" } ?? "")
        let line = SwiftName.comment(text, "//").joined(separator: " ")
        tasks.append(String(line.dropFirst(3)))
        return "// TODO: " + line.dropFirst(3)
    }

    private mutating func failure(_ change: SchemaChange) -> String {
        mayFail = true
        return "throw Unfinished(what: \(subject(change)))"
    }

    private func property(_ change: SchemaChange, in document: SchemaDocument) -> StoredProperty? {
        document.schema.entity(named: change.entity ?? "")?.properties.first { $0.name == change.property }
    }

    private mutating func rename(_ change: SchemaChange) {
        guard let origin = change.origin, let property = property(change, in: new), property.originalName != origin
        else { return }
        mapping.append(".renaming(\(subject(change)), from: \(SwiftName.literal(origin)))")
    }

    private mutating func convert(_ change: SchemaChange) {
        let kind = property(change, in: new)?.attribute?.kind
        let before = layoutKind(change)
        let isWritten = kind == .coded || before == .coded || kind == nil || before == nil
        let task = isWritten ? nil : change.detail + ": .exactly fails if a record has a value that the new type lacks"
        // What no value fails needs no look at it.
        if let before, let kind, !isWritten, before.widens(to: kind) {
            mapping.append("// \(change.subject): \(change.detail)")
        } else {
            mapping.append(todo(change, task))
        }
        mapping.append(
            ".converting(\(subject(change)), \(isWritten ? ".value { _ in \(failure(change)) }" : ".exactly"))")
    }

    /// The kind of the old attribute.
    private func layoutKind(_ change: SchemaChange) -> StorageKind? {
        let name = change.origin ?? change.property
        for entity in change.measure?.entities ?? [] {
            if let slot = old.schema.recordLayouts()[entity]?.slots.first(where: { $0.name == name }) {
                return slot.property.attribute?.kind
            }
        }
        return nil
    }

    private mutating func fill(_ change: SchemaChange) {
        guard let entity = change.entity, let property = property(change, in: new), let attribute = property.attribute
        else {
            return write(change)
        }
        mapping.append(todo(change, "a value for records without one"))
        let isUnique = new.schema.entity(named: entity)?.uniquenessConstraints.contains([property.name]) == true
        let values = new.details(of: property.name, in: entity).allowedValues
        let value: String
        if attribute.kind == .uuid {
            value = "{ _ in .uuid(UUID()) }"
        } else if isUnique {
            value = "{ _ in \(failure(change)) }"
        } else {
            value = Self.expression(values.first ?? Self.empty(attribute.kind), attribute.kind, literal)
        }
        mapping.append(".filling(\(subject(change)), with: \(value))")
    }

    private static func empty(_ kind: StorageKind) -> StoredValue {
        switch kind {
        case .bool: .bool(false)
        case .uint64: .unsigned(0)
        case .float: .float(0)
        case .double: .double(0)
        case .decimal: .decimal(0)
        case .string: .string("")
        default: .integer(0)
        }
    }

    private static func expression(_ value: StoredValue, _ kind: StorageKind, _ literal: SwiftLiteral) -> String {
        switch kind {
        case .data: return ".data(Data())"
        case .date: return ".date(Date(timeIntervalSinceReferenceDate: 0))"
        case .url: return ".url(URL(fileURLWithPath: \"/\"))"
        case .coded: return ".object([:])"
        default:
            let name =
                switch value {
                case .bool: "bool"
                case .unsigned: "unsigned"
                case .float: "float"
                case .double: "double"
                case .decimal: "decimal"
                case .string: "string"
                default: "integer"
                }
            return ".\(name)(\(literal.expression(value, kind: kind) ?? "0"))"
        }
    }

    private mutating func replaceValues(_ change: SchemaChange) {
        guard let property = property(change, in: new), let entity = change.entity, property.attribute?.kind == .string
        else {
            return write(change)
        }
        let (now, then) = (
            new.details(of: property.name, in: entity).allowedValues,
            old.details(of: change.origin ?? property.name, in: entity).allowedValues
        )
        let removed = then.filter { !now.contains($0) }.compactMap { value -> String? in
            if case .string(let text) = value { SwiftName.literal(text) } else { nil }
        }
        if removed.isEmpty { return write(change) }
        mapping.append(todo(change, "\(change.detail): say what replaces each"))
        let table = removed.map { "\($0): \($0)" }.joined(separator: ", ")
        mapping.append(".converting(\(subject(change)), .rawValues([\(table)]))")
    }

    private mutating func settle(_ change: SchemaChange) {
        guard let entity = change.entity, change.measure != nil,
            let names = new.schema.entity(named: entity)?.uniquenessConstraints.first(where: { names in
                [names, names.sorted()].contains { "unique: " + $0.joined(separator: ", ") == change.detail }
            }), let slots = new.schema.recordLayouts()[entity]?.slots,
            // Where references are compared, the constraint itself has to do.
            names.allSatisfy({ name in slots.contains { $0.name == name && $0.property.attribute != nil } })
        else { return }
        let list = names.map(SwiftName.literal).joined(separator: ", ")
        duplicates.append(
            todo(change, "\(change.detail): .report fails if there are duplicates, .first or .last keep one"))
        duplicates.append(".keep(.report, on: \(SwiftName.literal(entity)), [\(list)])")
    }

    /// What nothing but code of the author's can do.
    private mutating func write(_ change: SchemaChange) {
        code.append(todo(change))
        if let wayOut = change.wayOut { code += SwiftName.comment(wayOut, "//") }
        code.append(failure(change))
    }

    // MARK: Text

    func lines(_ first: String, _ second: String) -> [String] {
        if mapping.isEmpty, duplicates.isEmpty, code.isEmpty {
            return [".lightweight(fromVersion: \(first).self, toVersion: \(second).self)"]
        }
        var parts: [[String]] = [["from: \(first).self, to: \(second).self"]]
        if !mapping.isEmpty { parts.append(["mapping: .inferred"] + mapping.map { "    " + $0 }) }
        if !duplicates.isEmpty {
            var rules = duplicates
            for (place, line) in duplicates.enumerated() where !line.hasPrefix("//") && place < duplicates.count - 1 {
                rules[place] += ","
            }
            parts.append(["duplicates: ["] + rules.map { "    " + $0 } + ["]"])
        }
        if !code.isEmpty {
            // Only the first of several that fail would ever run: they are one.
            var statements = code.filter { !$0.hasPrefix("throw ") }
            if let failing = code.first(where: { $0.hasPrefix("throw ") }) { statements.append(failing) }
            let isUsed = code.contains { $0.contains("old.records") }
            parts.append(["migrate: { \(isUsed ? "old, new" : "_, _") in"] + statements.map { "    " + $0 } + ["}"])
        }
        for place in parts.indices.dropLast() { parts[place][parts[place].count - 1] += "," }
        return [".custom("] + parts.joined().map { "    " + $0 } + [")"]
    }
}
#endif
