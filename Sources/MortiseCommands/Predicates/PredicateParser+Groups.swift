#if Tool
import Foundation
import MortiseCore

/// What groups of records have: the keys by which they were made, and what is calculated of each.
///
/// In conditions and orders of groups, a variable stands for each of them, which takes its value in every group.
struct GroupTerms {
    /// A key or a function, and what it is called.
    struct Term<Content> {
        let name: String
        let content: Content
        let sort: PredicateOperand.Sort
    }

    private(set) var keys: [Term<QueryExpression>] = []
    private(set) var functions: [Term<AggregateFunction>] = []

    /// Numbers that no variable of a predicate has.
    private static let firstKey = 1 << 20
    private static let firstFunction = 1 << 21

    mutating func add(key operand: PredicateOperand) {
        var (expression, sort) = (operand.expression, operand.sort)
        switch sort {
        case .record: expression = .identifier(expression)
        case .condition: sort = .value(.bool, isOptional: false)
        default: break
        }
        keys.append(Term(name: operand.name, content: expression, sort: sort))
    }

    /// The place of a function, which becomes one of the functions if it is not yet.
    mutating func place(_ function: Term<AggregateFunction>) -> Int {
        if let known = functions.firstIndex(where: { $0.content == function.content }) { return known }
        functions.append(function)
        return functions.count - 1
    }

    func variable(ofKey place: Int) -> QueryExpression { .variable(Self.firstKey + place) }
    func variable(ofFunction place: Int) -> QueryExpression { .variable(Self.firstFunction + place) }

    /// An expression over these terms with the values of one group in it.
    static func expression(_ expression: QueryExpression, in group: AggregateGroup) -> QueryExpression {
        if case .variable(let number) = expression {
            let isFunction = number >= firstFunction
            let values = isFunction ? group.values : group.keys
            let place = number - (isFunction ? firstFunction : firstKey)
            return values.indices.contains(place) ? .constant(values[place]) : expression
        }
        return expression.mapChildren { Self.expression($0, in: group) }
    }
}

extension PredicateText {
    /// Reads keys, separated by commas, by which records are grouped.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func groupKeys(_ text: String, entity: String, into terms: inout GroupTerms) throws {
        try check(entity)
        var parser = try PredicateParser(text, self, entity: entity)
        try parser.wholeGroupKeys(into: &terms)
    }

    /// Reads functions, separated by commas, that are calculated for each group.
    /// - Returns: where they are among the terms.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func functions(_ text: String, entity: String, into terms: inout GroupTerms) throws -> [Int] {
        try check(entity)
        var parser = try PredicateParser(text, self, entity: entity)
        parser.terms = terms
        return try parser.wholeFunctions(into: &terms)
    }

    /// Reads a condition on groups.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func groupCondition(_ text: String, entity: String, _ terms: inout GroupTerms) throws -> QueryExpression {
        try check(entity)
        var parser = try PredicateParser(text, self, entity: entity)
        parser.terms = terms
        let condition = try parser.wholeCondition()
        terms = parser.terms ?? terms
        return condition
    }

    /// Reads keys of an order of groups.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func groupOrder(_ text: String, entity: String, _ terms: inout GroupTerms) throws -> [StoreQuery.Order] {
        try check(entity)
        var parser = try PredicateParser(text, self, entity: entity)
        parser.terms = terms
        let order = try parser.wholeOrder()
        terms = parser.terms ?? terms
        return order
    }
}

extension PredicateParser {
    private static let functionNames = ["count", "sum", "average", "minimum", "maximum"]
    private static let shortNames = ["avg": "average", "min": "minimum", "max": "maximum"]

    mutating func wholeGroupKeys(into terms: inout GroupTerms) throws(PredicateTextError) {
        repeat {
            let key = try groupKey()
            guard !terms.keys.contains(where: { $0.name == key.name }) else {
                throw fault(key.place, "the groups have the key \(key.name) already")
            }
            terms.add(key: key)
        } while skipSign(",")
        try expectEnd("a comma or the end")
    }

    mutating func wholeFunctions(into terms: inout GroupTerms) throws(PredicateTextError) -> [Int] {
        var places: [Int] = []
        repeat {
            let place = current.place
            guard let function = try function() else {
                throw fault(
                    place,
                    "expected count, or sum, average, minimum or maximum of a property, such as sum(price), found "
                        + current.shown)
            }
            places.append(terms.place(function.term))
        } while skipSign(",")
        try expectEnd("a comma or the end")
        return places
    }

    /// A property, or the period in which a date lies: `month(startDate)`.
    private mutating func groupKey() throws(PredicateTextError) -> PredicateOperand {
        guard let word = current.keyword, peek().isSign("("), let unit = CalendarPeriod.Unit(rawValue: word) else {
            let key = try path()
            switch key.sort {
            case .value, .record, .condition, .identifier: return key
            default: throw fault(key.place, "\(key.name) is \(key.sortText); group by an attribute or a record")
            }
        }
        let start = take().place
        try expectSign("(")
        let date = try path()
        let place = start.through(try expectSign(")"))
        guard case .value(.date, _) = date.sort else {
            throw fault(date.place, "\(date.name) is \(date.sortText); \(word) takes a date")
        }
        return PredicateOperand(
            .start(date.expression, of: CalendarPeriod(unit, in: .ofTheTool)), date.sort, place,
            name: "\(word)(\(date.name))")
    }

    /// What a name means in a condition on groups or in their order: a function, or one of the keys.
    mutating func groupTerm() throws(PredicateTextError) -> PredicateOperand {
        if let function = try function() {
            var all = terms ?? GroupTerms()
            let place = all.place(function.term)
            terms = all
            return PredicateOperand(
                all.variable(ofFunction: place), function.term.sort, function.place, name: function.term.name)
        }
        let outer = terms
        terms = nil
        let key = try groupKey()
        terms = outer
        guard let terms, let place = terms.keys.firstIndex(where: { $0.name == key.name }) else {
            let known = terms?.keys.map(\.name) ?? []
            throw fault(
                key.place,
                "\(key.name) is no key of the groups"
                    + (known.isEmpty ? "" : ", which are by \(known.joined(separator: ", "))")
                    + "; write a key or a function, such as maximum(\(key.name))")
        }
        return PredicateOperand(terms.variable(ofKey: place), terms.keys[place].sort, key.place, name: key.name)
    }

    /// A function of a group's records; nil where none begins here.
    private mutating func function() throws(PredicateTextError) -> (
        term: GroupTerms.Term<AggregateFunction>, place: TextPlace
    )? {
        guard let word = current.keyword else { return nil }
        let name = Self.shortNames[word] ?? word
        guard Self.functionNames.contains(name), peek().isSign("(") || name == "count" else { return nil }
        let start = take().place
        if name == "count" {
            var place = start
            if skipSign("(") { place = start.through(try expectSign(")")) }
            return (.init(name: name, content: .count, sort: .value(.int64, isOptional: false)), place)
        }
        try expectSign("(")
        let outer = terms
        terms = nil
        let operand = try path()
        terms = outer
        let place = start.through(try expectSign(")"))
        guard case .value(let kind, let isNullable) = operand.sort else {
            throw fault(operand.place, "\(operand.name) is \(operand.sortText); \(name) takes an attribute")
        }
        let full = "\(name)(\(operand.name))"
        // A group that keys have made has a record; all records may be none.
        let isOptional = isNullable || terms?.keys.isEmpty != false
        switch name {
        case "minimum", "maximum":
            guard kind.isNumber || [.string, .date, .uuid].contains(kind) else {
                throw fault(operand.place, "\(operand.name) is \(operand.sortText), which has no order")
            }
            let function =
                name == "minimum"
                ? AggregateFunction.minimum(operand.expression) : .maximum(operand.expression)
            return (.init(name: full, content: function, sort: .value(kind, isOptional: isOptional)), place)
        default:
            guard kind.isNumber else {
                throw fault(operand.place, "\(operand.name) is \(operand.sortText); \(name) takes numbers")
            }
            if name == "average" {
                let result = kind == .decimal ? StorageKind.decimal : .double
                return (
                    .init(
                        name: full, content: .average(operand.expression, kind),
                        sort: .value(result, isOptional: isOptional)), place
                )
            }
            // No model says which type the sum has, so small integers need not overflow.
            let result = kind.integerRange == nil ? kind : .int64
            return (
                .init(name: full, content: .sum(operand.expression, result), sort: .value(result, isOptional: false)),
                place
            )
        }
    }
}

extension Calendar {
    /// The calendar of periods: the tool writes all dates in UTC, and weeks begin with Monday as in ISO 8601.
    fileprivate static var ofTheTool: Calendar {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        return calendar
    }
}
#endif
