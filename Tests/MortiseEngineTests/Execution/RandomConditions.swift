import Foundation

@testable import MortiseCore
@testable import MortiseEngine

/// Random conditions of every form over the things of a world, what throws included.
struct RandomConditions {
    let layouts: [String: RecordLayout]
    let targets: [PersistentIdentifier]
    var world: EngineWorld
    private var lastVariable = 0

    init(_ world: EngineWorld) {
        self.world = world
        layouts = world.catalog.layouts
        targets = world.records.keys.sorted()
    }

    typealias Expression = QueryExpression
    private static let kinds: [StorageKind] = StorageKind.allCases.filter { $0 != .coded }

    private mutating func below(_ count: Int) -> Int { .random(in: 0..<count, using: &world.random) }
    private mutating func pick<T>(_ choices: [T]) -> T { choices[below(choices.count)] }

    private func property(_ name: String, of base: Expression = .variable(0), in entity: String = "Thing") -> Expression
    {
        let slot = layouts[entity]?.slot(named: name) ?? 0
        return .property(base, QueryProperty(entity: entity, name: name, slot: slot))
    }

    private mutating func comparison() -> Expression.Comparison {
        pick([.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
    }

    private mutating func part() -> String {
        pick(["", "a", "Z", "e", "é", "\u{301}", "日", "long piece", "long piece of text long", "\u{0}", "\r", "K"])
    }

    mutating func condition(_ depth: Int = 0) -> Expression {
        switch below(depth < 3 ? 17 : 11) {
        case 0:
            let kind = pick(Self.kinds)
            return .compare(comparison(), attribute(kind), .constant(world.value(kind)))
        case 1: return .compare(comparison(), .constant(.null), attribute(pick(Self.kinds)))
        case 2:
            let kind = pick(Self.kinds)
            var values = (0..<below(9)).map { _ in Expression.constant(world.value(kind)) }
            if below(3) == 0 { values.append(.constant(.null)) }
            return .contains(.list(values), attribute(kind))
        case 3: return textTest(text(), isOptional: false)
        case 4: return chain()
        case 5:
            let kind = pick(Self.kinds)
            return .compare(
                comparison(), .coalesce(property("may_\(kind.rawValue)"), .constant(world.value(kind))),
                .constant(world.value(kind)))
        case 6: return arithmetic()
        case 7: return relationship()
        case 8: return quantifier(depth)
        case 9:
            let (lower, upper) = (attribute(.int16), Expression.constant(world.value(.int16)))
            let range =
                below(2) == 0
                ? Expression.range(lower, upper, isClosed: below(2) == 0)
                : .range(upper, lower, isClosed: below(2) == 0)
            return .contains(range, property("must_int16"))
        case 10:
            let kind = pick([StorageKind.int8, .double, .string])
            return .compare(comparison(), .unwrap(property("may_\(kind.rawValue)")), .constant(world.value(kind)))
        case 11: return .not(condition(depth + 1))
        case 12: return .and((0..<below(4)).map { _ in condition(depth + 1) })
        case 13: return .or((0..<below(4)).map { _ in condition(depth + 1) })
        case 14: return .conditional(condition(depth + 1), condition(depth + 1), condition(depth + 1))
        case 15:
            return .compare(
                pick([.equal, .notEqual]), condition(depth + 1), .constant(pick([.bool(true), .bool(false), .null])))
        default:
            return .compare(
                comparison(), .conditional(condition(depth + 1), property("must_int32"), property("may_int32")),
                .constant(world.value(.int32)))
        }
    }

    private mutating func attribute(_ kind: StorageKind) -> Expression {
        property("\(below(2) == 0 ? "must" : "may")_\(kind.rawValue)")
    }

    private mutating func text() -> Expression {
        pick([property("must_string"), property("may_string"), property("code")])
    }

    /// - Parameter isOptional: whether what is asked may be null, which some tests do not take.
    private mutating func textTest(_ text: Expression, isOptional: Bool) -> Expression {
        let part = Expression.constant(.string(part()))
        let required = isOptional ? text : property("must_string")
        switch below(8) {
        case 0, 1: return .startsWith(text, part)
        case 2, 3: return .containsSequence(text, part)
        case 4: return .compare(comparison(), .count(text), .constant(.integer(Int64(below(8)))))
        case 5: return .isEmpty(text)
        case 6:
            return .compare(
                comparison(), .compareStrings(pick([.caseInsensitive, .localized]), required, part),
                .constant(.integer(Int64(below(3) - 1))))
        default:
            return pick([
                .localizedStandardContains(required, .constant(.string(pick(["A", "e", "piece"])))),
                .matches(required, pick(["a.", "^Z", "[é日]"])),
            ])
        }
    }

    private mutating func chain() -> Expression {
        lastVariable += 1
        let variable = lastVariable
        let inner: Expression =
            switch below(3) {
            case 0:
                .flatMap(
                    property("may_int32"), variable: variable,
                    .compare(comparison(), .variable(variable), .constant(world.value(.int32))))
            case 1:
                .flatMap(
                    property("owner"), variable: variable,
                    textTest(property("name", of: .variable(variable), in: "Owner"), isOptional: true))
            default:
                .flatMap(property("may_string"), variable: variable, textTest(.variable(variable), isOptional: true))
            }
        return below(2) == 0
            ? .compare(pick([.equal, .notEqual]), inner, .constant(pick([.bool(true), .bool(false), .null])))
            : .coalesce(inner, .constant(.bool(below(2) == 0)))
    }

    private mutating func arithmetic() -> Expression {
        let operation: Expression.Arithmetic = pick([.add, .subtract, .multiply, .divide])
        switch below(4) {
        case 0:
            return .compare(
                comparison(),
                .arithmetic(
                    operation, property("must_double"),
                    .coalesce(property("may_double"), .constant(.double(2))), .double), .constant(.double(1)))
        case 1:
            return .compare(
                comparison(),
                .negate(.arithmetic(.remainder, property("must_int64"), property("must_int64"), .int64), .int64),
                .constant(.integer(0)))
        case 2:
            return .compare(
                comparison(), .arithmetic(operation, property("must_int8"), .constant(.integer(1)), .int8),
                property("may_int8"))
        default:
            return .compare(
                comparison(),
                .arithmetic(pick([.add, .divide]), property("must_decimal"), .constant(.decimal(3)), .decimal),
                .constant(world.value(.decimal)))
        }
    }

    private mutating func relationship() -> Expression {
        let reference = pick([property("owner"), .identifier(property("owner")), property("next")])
        let some = (0..<below(7)).map { _ in Expression.constant(.identifier(pick(targets))) }
        switch below(4) {
        case 0: return .contains(.list(some + (below(2) == 0 ? [.constant(.null)] : [])), reference)
        case 1: return .compare(pick([.equal, .notEqual]), reference, .constant(.null))
        case 2: return .compare(pick([.equal, .notEqual]), reference, some.first ?? .constant(.null))
        default:
            return .compare(
                comparison(), property("name", of: property("owner"), in: "Owner"), .constant(world.value(.string)))
        }
    }

    private mutating func quantifier(_ depth: Int) -> Expression {
        lastVariable += 1
        let variable = lastVariable
        let name = property("name", of: .variable(variable), in: "Tag")
        let body: Expression =
            switch below(4) {
            case 0: .compare(comparison(), name, .constant(world.value(.string)))
            case 1: .compare(comparison(), name, property("must_string"))
            case 2: .and([textTest(name, isOptional: true), depth < 2 ? condition(depth + 1) : .constant(.bool(true))])
            default: .compare(comparison(), .count(.property(.variable(0), tags)), .constant(.integer(2)))
            }
        switch below(4) {
        case 0:
            return .compare(comparison(), .count(.property(.variable(0), tags)), .constant(.integer(Int64(below(3)))))
        case 1: return .isEmpty(.property(.variable(0), tags))
        case 2: return .all(.property(.variable(0), tags), variable: variable, body)
        default: return .exists(.property(.variable(0), tags), variable: variable, body)
        }
    }

    private var tags: QueryProperty {
        QueryProperty(entity: "Thing", name: "tags", slot: layouts["Thing"]?.slot(named: "tags") ?? 0)
    }
}
