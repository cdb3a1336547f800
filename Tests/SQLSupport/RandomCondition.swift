public import MortiseCore
public import PackageTestSupport

/// Makes conditions about nodes: of every form that a predicate can have, also those that no store evaluates.
public struct RandomCondition {
    public var numbers: SeededGenerator
    private let store: String
    private var nextVariable = 1

    public init(_ numbers: SeededGenerator, store: String) {
        self.numbers = numbers
        self.store = store
    }

    /// A record that conditions can be about.
    private struct Subject {
        let expression: QueryExpression
        let entity: String
        let isOptional: Bool
    }

    private typealias Subjects = [Subject]

    /// A condition about the record that is variable 0.
    public mutating func condition(of entity: String, depth: Int) -> QueryExpression {
        nextVariable = 1
        return condition([Subject(expression: .variable(0), entity: entity, isOptional: false)], depth)
    }

    /// Keys to sort nodes by.
    public mutating func order(of entity: String) -> [StoreQuery.Order] {
        let subject = Subject(expression: .variable(0), entity: entity, isOptional: false)
        return (0..<numbers.below(4)).map { _ in
            let kind = numbers.pick(Self.kinds + [.url, .coded])
            return StoreQuery.Order(
                attribute([subject], kind)?.expression ?? .identifier(.variable(0)), isAscending: numbers.chance(2),
                stringOrder: kind == .string && numbers.chance(8) ? .lexical : nil)
        }
    }

    private static let kinds: [StorageKind] = [
        .bool, .int8, .int32, .int64, .uint64, .double, .float, .date, .decimal, .string, .data, .uuid,
    ]

    private static let comparisons: [QueryExpression.Comparison] = [
        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]

    private func slots(of entity: String, _ isWanted: (RecordLayout.Slot) -> Bool) -> [(
        QueryProperty, RecordLayout.Slot
    )] {
        (NodeSchema.layouts[entity]?.slots ?? []).enumerated().filter { isWanted($1) }.map { place, slot in
            (QueryProperty(entity: entity, name: slot.name, slot: place), slot)
        }
    }

    // MARK: Records

    private mutating func subject(_ subjects: Subjects) -> Subject {
        var subject = numbers.pick(subjects)
        for _ in 0..<numbers.below(3) {
            if numbers.chance(4), subject.entity == "Node" {
                subject = Subject(
                    expression: .cast(subject.expression, "Special"), entity: "Special", isOptional: true)
                continue
            }
            let targets = slots(of: subject.entity) { $0.role == .toOne }
            let (property, slot) = numbers.pick(targets)
            subject = Subject(
                expression: .property(subject.expression, property),
                entity: slot.property.relationship?.destination ?? "", isOptional: true)
        }
        return subject
    }

    private mutating func members(_ subjects: Subjects) -> (expression: QueryExpression, entity: String) {
        let owner = subject(subjects)
        let (property, slot) = numbers.pick(slots(of: owner.entity) { $0.role.isToMany })
        return (.property(owner.expression, property), slot.property.relationship?.destination ?? "")
    }

    private mutating func identifier() -> PersistentIdentifier {
        .numbered(
            UInt64(numbers.below(14)), storeIdentifier: numbers.chance(10) ? "another" : store,
            entityName: numbers.pick(["Node", "Special", "Box"]))
    }

    // MARK: Values

    private mutating func attribute(
        _ subjects: Subjects, _ kind: StorageKind
    ) -> (expression: QueryExpression, isOptional: Bool)? {
        for _ in 0..<6 {
            let subject = subject(subjects)
            let fitting = slots(of: subject.entity) { $0.property.attribute?.kind == kind }
            if fitting.isEmpty { continue }
            let (property, slot) = numbers.pick(fitting)
            return (.property(subject.expression, property), slot.property.isOptional || subject.isOptional)
        }
        return nil
    }

    private mutating func constant(_ kind: StorageKind) -> QueryExpression {
        .constant(NodeRecords.value(kind, &numbers))
    }

    private mutating func value(
        _ subjects: Subjects, _ kind: StorageKind, _ depth: Int
    ) -> (expression: QueryExpression, isOptional: Bool) {
        guard let found = attribute(subjects, kind) else { return (constant(kind), false) }
        switch numbers.below(12) {
        case 0: return (constant(kind), false)
        case 1: return (.coalesce(found.expression, constant(kind)), false)
        case 2 where depth > 0:
            let other = value(subjects, kind, depth - 1)
            return (
                .conditional(condition(subjects, depth - 1), found.expression, other.expression),
                found.isOptional || other.isOptional
            )
        case 3 where depth > 0:
            let other = value(subjects, kind, depth - 1)
            return (.coalesce(found.expression, other.expression), other.isOptional)
        case 4:
            let variable = nextVariable
            nextVariable += 1
            return (.flatMap(found.expression, variable: variable, .variable(variable)), true)
        case 5 where kind == .double: return (.arithmetic(.add, found.expression, constant(kind), kind), true)
        default: return found
        }
    }

    private mutating func textValue(_ subjects: Subjects) -> QueryExpression {
        for _ in 0..<8 {
            let found = value(subjects, .string, 0)
            if !found.isOptional { return found.expression }
            if numbers.chance(2) { return .coalesce(found.expression, .constant(.string(""))) }
        }
        return constant(.string)
    }

    // MARK: Conditions

    private mutating func condition(_ subjects: Subjects, _ depth: Int) -> QueryExpression {
        if depth > 0 {
            switch numbers.below(12) {
            case 0, 1: return .and((0..<(1 + numbers.below(3))).map { _ in condition(subjects, depth - 1) })
            case 2, 3: return .or((0..<(1 + numbers.below(3))).map { _ in condition(subjects, depth - 1) })
            case 4, 5: return .not(condition(subjects, depth - 1))
            case 6:
                return .conditional(
                    condition(subjects, depth - 1), condition(subjects, depth - 1), condition(subjects, depth - 1))
            case 7:
                return .compare(
                    numbers.pick([.equal, .notEqual]), condition(subjects, depth - 1), condition(subjects, depth - 1))
            default: break
            }
        }
        return leaf(subjects, depth)
    }

    private mutating func leaf(_ subjects: Subjects, _ depth: Int) -> QueryExpression {
        let kind = numbers.pick(Self.kinds)
        switch numbers.below(24) {
        case 0...5:
            let comparison = numbers.pick(Self.comparisons)
            let (a, b) = (value(subjects, kind, depth).expression, constant(kind))
            return numbers.chance(4) ? .compare(comparison, b, a) : .compare(comparison, a, b)
        case 6, 7:
            return .compare(
                numbers.pick(Self.comparisons), value(subjects, kind, depth).expression,
                value(subjects, kind, depth).expression)
        case 8:
            return .compare(
                numbers.pick(Self.comparisons), value(subjects, kind, depth).expression, .constant(.null))
        case 9, 10:
            var list = (0..<numbers.below(12)).map { _ in constant(kind) }
            if numbers.chance(3) { list.append(.constant(.null)) }
            return .contains(.list(list), value(subjects, kind, depth).expression)
        case 11:
            let kind = numbers.pick([StorageKind.int64, .double, .string, .date, .decimal])
            return .contains(
                .range(constant(kind), constant(kind), isClosed: numbers.chance(2)),
                value(subjects, kind, depth).expression)
        case 12:
            return .isKind(subject(subjects).expression, numbers.pick(["Node", "Special"]))
        case 13:
            return .compare(
                numbers.pick(Self.comparisons), .identifier(subject(subjects).expression),
                numbers.chance(4) ? .constant(.null) : .constant(.identifier(identifier())))
        case 14:
            var list = (0..<numbers.below(12)).map { _ in QueryExpression.constant(.identifier(identifier())) }
            if numbers.chance(4) { list.append(.constant(.null)) }
            return .contains(.list(list), .identifier(subject(subjects).expression))
        case 15:
            return .compare(
                numbers.pick([.equal, .notEqual]), subject(subjects).expression, subject(subjects).expression)
        case 16:
            let text = textValue(subjects)
            return numbers.chance(2)
                ? .startsWith(text, constant(.string)) : .containsSequence(text, constant(.string))
        case 17: return .isEmpty(numbers.chance(3) ? textValue(subjects) : members(subjects).expression)
        case 18: return .contains(members(subjects).expression, subject(subjects).expression)
        case 19:
            return .compare(
                numbers.pick(Self.comparisons), .count(members(subjects).expression),
                .constant(.integer(Int64(numbers.below(3)))))
        case 20 where depth == 0:
            return .compare(.greater, .count(textValue(subjects)), .constant(.integer(1)))
        default:
            guard depth > 0 else {
                return .compare(.equal, .identifier(subject(subjects).expression), .constant(.identifier(identifier())))
            }
            let (members, entity) = members(subjects)
            let variable = nextVariable
            nextVariable += 1
            let inner = subjects + [Subject(expression: .variable(variable), entity: entity, isOptional: false)]
            let test = condition(inner, depth - 1)
            switch numbers.below(4) {
            case 0: return .all(members, variable: variable, test)
            case 1:
                return .compare(
                    numbers.pick(Self.comparisons), .count(.filter(members, variable: variable, test)),
                    .constant(.integer(Int64(numbers.below(3)))))
            default: return .exists(members, variable: variable, test)
            }
        }
    }
}
