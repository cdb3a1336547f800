#if Tool
import Foundation
import MortiseCore

/// The conditions and the order of a query as Swift: a descriptor with `#Predicate` for the models of a schema.
///
/// Values that no literal of a predicate has, such as dates, are constants before it. A property whose type in the models is an
/// enumeration is compared with its raw value here, which only the models can tell.
struct PredicateSource {
    /// What a predicate cannot say in Swift.
    struct Unwritable: Error, Hashable {
        /// In a few words.
        let reason: String
    }

    /// Code whose value may be nil.
    private struct Piece {
        var text: String
        var isOptional = false
        /// Whether it holds together without parentheses.
        var isPrimary = true
        /// Whether it is a chain that ends where something in it is nil.
        var isChain = false
        /// Whether the last link itself may be nil, and not only one before it.
        var endsInOptional = false

        var operand: String { isPrimary ? text : "(\(text))" }
        /// What a method is called on: within a chain it would be called on what is not nil.
        var receiver: String { isPrimary && !isChain ? text : "(\(text))" }
        /// Before the name of a member.
        var dot: String { endsInOptional ? "?." : "." }
    }

    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]
    private let literals = SwiftLiteral { $0 }
    private var names: [Int: String] = [:]
    private var taken: Set<String> = []
    private var constants: [String] = []
    private static let mostAlternatives = 8

    init(_ schema: StoredSchema) {
        self.schema = schema
        layouts = schema.recordLayouts()
    }

    /// The code of a descriptor.
    /// - Parameters:
    ///   - entity: the entity whose records are fetched.
    ///   - conditions: all of them have to hold.
    ///   - order: the keys of the order.
    ///   - schema: the schema of the models.
    /// - Returns: lines of Swift.
    /// - Throws: `Unwritable`.
    static func descriptor(
        _ entity: String, where conditions: [QueryExpression], sortedBy order: [StoreQuery.Order],
        in schema: StoredSchema
    ) throws(Unwritable) -> String {
        var source = PredicateSource(schema)
        guard SwiftName.isIdentifier(entity) else { throw Unwritable(reason: "\(entity.shown()) is no name in Swift") }
        let type = SwiftName.quoted(entity)
        let variable = source.name(entity)
        source.names[0] = variable
        var arguments: [String] = []
        let lines = try source.all(conditions)
        if !lines.isEmpty {
            let text = lines.joined(separator: "\n            && ")
            arguments.append("predicate: #Predicate { \(variable) in\n        \(text)\n    }")
        }
        if !order.isEmpty {
            var keys: [String] = []
            for key in order { keys.append(try source.key(key, type)) }
            arguments.append("sortBy: [\(keys.joined(separator: ", "))]")
        }
        let head = source.constants.map { $0 + "\n" }.joined()
        if arguments.isEmpty { return "\(head)let descriptor = FetchDescriptor<\(type)>()" }
        return "\(head)let descriptor = FetchDescriptor<\(type)>(\n    \(arguments.joined(separator: ",\n    ")))"
    }

    private mutating func all(_ conditions: [QueryExpression]) throws(Unwritable) -> [String] {
        var lines: [String] = []
        for condition in conditions {
            let piece = try write(condition)
            lines.append(conditions.count > 1 ? piece.operand : piece.text)
        }
        return lines
    }

    private mutating func key(_ order: StoreQuery.Order, _ type: String) throws(Unwritable) -> String {
        guard case .property = order.expression else { throw Unwritable(reason: "an order by a calculation") }
        names[0] = "\\\(type)"
        defer { names[0] = nil }
        let path = try write(order.expression).text
        return "SortDescriptor(\(path)\(order.isAscending ? "" : ", order: .reverse"))"
    }

    // MARK: Names

    /// A name for a record: that of its entity, with a number where another one has it.
    private mutating func name(_ entity: String) -> String {
        let first = entity.prefix(1).lowercased() + entity.dropFirst()
        return unused(SwiftName.isIdentifier(first) ? first : "record")
    }

    private mutating func unused(_ wanted: String) -> String {
        var name = wanted
        var number = 2
        while SwiftName.isKeyword(name) || !taken.insert(name).inserted {
            name = "\(wanted)\(number)"
            number += 1
        }
        return name
    }

    private mutating func constant(_ name: String, _ expression: String, _ type: String? = nil) -> Piece {
        let name = unused(name)
        constants.append("let \(name)\(type.map { ": \($0)" } ?? "") = \(expression)")
        return Piece(text: name)
    }

    // MARK: Expressions

    private mutating func write(_ expression: QueryExpression) throws(Unwritable) -> Piece {
        switch expression {
        case .constant(let value): return try literal(value)
        case .variable(let number):
            guard let name = names[number] else { throw Unwritable(reason: "a record of an outer condition") }
            return Piece(text: name)
        case .property(let base, let property): return try self.property(base, property)
        case .identifier(let base):
            let record = try write(base)
            return Piece(
                text: "\(record.operand)\(record.dot)persistentModelID", isOptional: record.isOptional,
                isChain: record.isOptional)
        case .not(let base): return Piece(text: "!\(try condition(base).operand)")
        case .and(let parts): return try joined(parts, " && ", "true")
        case .or(let parts): return try joined(parts, " || ", "false")
        case .compare(let comparison, let a, let b): return try compare(comparison, a, b)
        case .arithmetic(let operation, let a, let b, _):
            return Piece(
                text: "\(try present(a).operand) \(operation.sign) \(try present(b).operand)", isPrimary: false)
        case .negate(let base, _): return Piece(text: "-\(try present(base).operand)", isPrimary: false)
        case .count(let base): return Piece(text: "\(try present(base).operand).count")
        case .isEmpty(let base): return Piece(text: "\(try present(base).operand).isEmpty")
        case .contains(.list(let values), let element): return try membership(values, element)
        case .exists(let base, let variable, let test): return try quantified("contains", base, variable, test)
        case .all(let base, let variable, let test): return try quantified("allSatisfy", base, variable, test)
        case .filter(let base, let variable, let test): return try quantified("filter", base, variable, test)
        case .startsWith(let text, let part):
            let part = try present(part).text
            return try test(text) { "\($0).starts(with: \(part))" }
        case .containsSequence(let text, let part):
            let part = try present(part).text
            return try test(text) { "\($0).contains(\(part))" }
        case .localizedStandardContains(let text, let part):
            let part = try present(part).text
            return try test(text) { "\($0).localizedStandardContains(\(part))" }
        case .matches(let text, let pattern):
            guard !pattern.contains(where: { $0.isNewline }), !pattern.contains("/#"), !pattern.isEmpty else {
                throw Unwritable(reason: "a regular expression of several lines")
            }
            return try test(text) { "\($0).contains(#/\(pattern)/#)" }
        case .flatMap(let base, let variable, let body):
            let outer = try write(base)
            guard outer.isOptional else { throw Unwritable(reason: "a condition on a value that is never nil") }
            let name = unused("value")
            names[variable] = name
            return Piece(text: "\(outer.receiver).flatMap { \(name) in \(try write(body).text) }", isOptional: true)
        case .isKind(let base, let entity):
            guard SwiftName.isIdentifier(entity) else {
                throw Unwritable(reason: "\(entity.shown()) is no name in Swift")
            }
            return Piece(text: "\(try present(base).operand) is \(SwiftName.quoted(entity))", isPrimary: false)
        case .member, .decoded: throw Unwritable(reason: "a part of a coded value, whose type only the models know")
        default: throw Unwritable(reason: "\("\(expression)".shown(limit: 100))")
        }
    }

    /// Something that is not nil.
    private mutating func present(_ expression: QueryExpression) throws(Unwritable) -> Piece {
        let piece = try write(expression)
        if piece.isOptional { throw Unwritable(reason: "\(piece.text.shown(limit: 100)) may be nil") }
        return piece
    }

    private mutating func condition(_ expression: QueryExpression) throws(Unwritable) -> Piece {
        try present(expression)
    }

    private mutating func joined(
        _ parts: [QueryExpression], _ sign: String, _ none: String
    ) throws(Unwritable) -> Piece {
        var texts: [String] = []
        for part in parts { texts.append(try condition(part).operand) }
        return texts.isEmpty
            ? Piece(text: none) : Piece(text: texts.joined(separator: sign), isPrimary: texts.count == 1)
    }

    private mutating func property(
        _ base: QueryExpression, _ property: QueryProperty
    ) throws(Unwritable) -> Piece {
        let record = try write(base)
        guard SwiftName.isIdentifier(property.name), let layout = layouts[property.entity],
            let slot = layout.slot(named: property.name)
        else { throw Unwritable(reason: "\(property.name.shown()) is no name in Swift") }
        let isList = layout.slots[slot].role.isToMany
        if isList, record.isOptional { throw Unwritable(reason: "a list of a record that may be nil") }
        let isOptional = !isList && layout.slots[slot].property.isOptional
        // A key path has its root without parentheses.
        let name = SwiftName.quoted(property.name)
        return Piece(
            text: "\(record.text)\(record.dot)\(name)", isOptional: record.isOptional || isOptional,
            isChain: record.isOptional, endsInOptional: isOptional)
    }

    private mutating func compare(
        _ comparison: QueryExpression.Comparison, _ a: QueryExpression, _ b: QueryExpression
    ) throws(Unwritable) -> Piece {
        // Foundation has it on Apple's platforms alone.
        if case .compareStrings = a { throw Unwritable(reason: "a comparison of texts that ignores case") }
        let (left, right) = (try write(a), try write(b))
        let isEquality = comparison == .equal || comparison == .notEqual
        // Swift compares nil with nothing else.
        if isEquality, (a.isNull && !right.isOptional) || (b.isNull && !left.isOptional) {
            return Piece(text: comparison == .equal ? "false" : "true")
        }
        func plain(_ x: String, _ y: String) -> String { "\(x) \(comparison.sign) \(y)" }
        if isEquality, left.isOptional == right.isOptional || a.isConstant || b.isConstant {
            return Piece(text: plain(left.operand, right.operand), isPrimary: false)
        }
        if !left.isOptional, !right.isOptional {
            return Piece(text: plain(left.operand, right.operand), isPrimary: false)
        }
        // Nil is in no order, and differs from every value.
        let (x, y) = (
            left.isOptional ? unused("value") : left.operand, right.isOptional ? unused("value") : right.operand
        )
        var text = plain(x, y)
        if right.isOptional { text = "\(right.receiver).flatMap { \(y) in \(text) }" }
        if left.isOptional { text = "\(left.receiver).flatMap { \(x) in \(text) }" }
        return Piece(text: comparison == .notEqual ? "\(text) != false" : "\(text) == true", isPrimary: false)
    }

    /// A test of a text; false for nil.
    private mutating func test(_ expression: QueryExpression, _ make: (String) -> String) throws(Unwritable) -> Piece {
        let text = try write(expression)
        guard text.isOptional else { return Piece(text: make(text.receiver), isPrimary: false) }
        let name = unused("value")
        return Piece(text: "\(text.receiver).flatMap { \(name) in \(make(name)) } == true", isPrimary: false)
    }

    private mutating func membership(
        _ values: [QueryExpression], _ element: QueryExpression
    ) throws(Unwritable) -> Piece {
        let found = try write(element)
        var members: [Piece] = []
        for value in values { members.append(try write(value)) }
        if members.count == 1, case .identifier = element {
            return Piece(text: "\(found.operand) == \(members[0].text)", isPrimary: false)
        }
        guard !members.isEmpty else { return Piece(text: "false") }
        if members.contains(where: { $0.text == "nil" }) { throw Unwritable(reason: "nil among the values of a list") }
        if found.isOptional {
            // The macro takes no chain that may end in nil as an argument.
            guard members.count <= Self.mostAlternatives else {
                throw Unwritable(reason: "a long list of values for what may be nil")
            }
            let texts = members.map { "\(found.operand) == \($0.text)" }
            return Piece(
                text: texts.count == 1 ? texts[0] : texts.map { "(\($0))" }.joined(separator: " || "), isPrimary: false)
        }
        let list = constant(
            "values", "[\(members.map(\.text).joined(separator: ", "))]", "[\(try type(of: element))]"
        ).text
        return Piece(text: "\(list).contains(\(found.text))")
    }

    /// The type that generated models give what is looked for in a list.
    private func type(of element: QueryExpression) throws(Unwritable) -> String {
        switch element {
        case .identifier: return "PersistentIdentifier"
        case .count: return "Int"
        case .property(_, let property):
            let slot = layouts[property.entity].flatMap { layout in
                layout.slot(named: property.name).map { layout.slots[$0] }
            }
            if let kind = slot?.property.attribute?.kind, kind != .coded { return SwiftTypes.name(of: kind) }
        default: break
        }
        throw Unwritable(reason: "a calculation in a list of values")
    }

    private mutating func quantified(
        _ function: String, _ base: QueryExpression, _ variable: Int, _ test: QueryExpression
    ) throws(Unwritable) -> Piece {
        let list = try present(base)
        var entity = ""
        if case .property(_, let property) = base {
            entity =
                layouts[property.entity].flatMap { layout in layout.slot(named: property.name).map { layout.slots[$0] }
                }?
                .property.relationship?.destination ?? ""
        }
        if entity.isEmpty { throw Unwritable(reason: "the elements of a coded value, whose type only the models know") }
        let name = name(entity)
        names[variable] = name
        return Piece(text: "\(list.operand).\(function) { \(name) in \(try condition(test).text) }")
    }

    private mutating func literal(_ value: StoredValue) throws(Unwritable) -> Piece {
        switch value {
        case .null: return Piece(text: "nil", isOptional: true)
        case .bool, .integer, .unsigned, .string:
            let kind: StorageKind =
                switch value {
                case .bool: .bool
                case .string: .string
                case .unsigned: .uint64
                default: .int64
                }
            if let text = literals.expression(value, kind: kind) { return Piece(text: text) }
        case .float(let number) where number.isFinite: return Piece(text: "\(number)")
        case .double(let number) where number.isFinite: return Piece(text: "\(number)")
        case .float: return try named("number", value, .float)
        case .double: return try named("number", value, .double)
        case .decimal: return try named("number", value, .decimal, as: "Decimal")
        case .date: return try named("date", value, .date)
        case .uuid: return try named("uuid", value, .uuid)
        case .url: return try named("url", value, .url)
        case .data: return try named("data", value, .data)
        case .identifier(let record):
            guard let number = record.sequenceNumber, let store = record.storeIdentifier else { break }
            return constant(
                "id",
                "try PersistentIdentifier.identifier(\n    for: \(SwiftName.literal(store)), entityName: "
                    + "\(SwiftName.literal(record.entityName)), primaryKey: UInt64(\(number)))")
        default: break
        }
        throw Unwritable(reason: "the value \(ValueText.plain(value).shown(limit: 60))")
    }

    private mutating func named(
        _ name: String, _ value: StoredValue, _ kind: StorageKind, as type: String? = nil
    ) throws(Unwritable) -> Piece {
        guard let text = literals.expression(value, kind: kind) else {
            throw Unwritable(reason: "the value \(ValueText.plain(value).shown(limit: 60))")
        }
        return constant(name, text + (type.map { " as \($0)" } ?? ""))
    }
}

extension QueryExpression {
    /// Whether a literal of Swift stands for it, which takes the type of what it is compared with.
    fileprivate var isConstant: Bool { if case .constant = self { true } else { false } }
    fileprivate var isNull: Bool { if case .constant(.null) = self { true } else { false } }
}

extension QueryExpression.Comparison {
    fileprivate var sign: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

extension QueryExpression.Arithmetic {
    fileprivate var sign: String {
        switch self {
        case .add: "+"
        case .subtract: "-"
        case .multiply: "*"
        case .divide: "/"
        case .remainder: "%"
        }
    }
}
#endif
