import Foundation

/// Where in a predicate expression of a certain type its leaves are. The type of an expression fixes its tree; what two
/// expressions of one type can differ in is what an outline lists.
struct PredicateOutline: Sendable {
    enum Leaf: Sendable {
        /// A variable: where it is read, and how many of the outline's own variables are in scope there.
        case variable(offset: Int, known: Int)
        case keyPath(offset: Int)
        /// One byte that identifies the operator.
        case operation(offset: Int)
    }
    /// In the order in which lowering comes to them.
    private(set) var leaves: [Leaf] = []
    /// Where the variables are that quantifiers and their like bring in.
    private(set) var variables: [Int] = []
    /// The captured values; they are not compared.
    private(set) var values: [CapturedValue] = []

    /// Nil for an expression whose lowered form depends on more than its type and its leaves.
    init?(_ type: any LowerableExpression.Type) {
        guard type.outline(&self, at: 0) else { return nil }
    }

    /// Adds a part of an expression that is at an offset.
    mutating func add<Whole, Part: PredicateExpression>(_ path: KeyPath<Whole, Part>, at offset: Int) -> Bool {
        guard let place = MemoryLayout<Whole>.offset(of: path), let type = LowerableTypes.of(Part.self) else {
            return false
        }
        return type.outline(&self, at: offset + place)
    }

    /// Adds the variable that an expression brings in; parts that can read it are added later.
    mutating func addVariable<Whole, Value>(
        _ path: KeyPath<Whole, PredicateExpressions.Variable<Value>>, at offset: Int
    ) -> Bool {
        guard let place = MemoryLayout<Whole>.offset(of: path.appending(path: \.key)) else { return false }
        variables.append(offset + place)
        return true
    }

    mutating func addReading<Whole>(_ path: KeyPath<Whole, PredicateExpressions.VariableID>, at offset: Int) -> Bool {
        guard let place = MemoryLayout<Whole>.offset(of: path) else { return false }
        leaves.append(.variable(offset: offset + place, known: variables.count))
        return true
    }

    mutating func addKeyPath<Whole, Path>(_ path: KeyPath<Whole, Path>, at offset: Int) -> Bool {
        guard let place = MemoryLayout<Whole>.offset(of: path),
            MemoryLayout<Path>.size == MemoryLayout<AnyKeyPath>.size
        else { return false }
        leaves.append(.keyPath(offset: offset + place))
        return true
    }

    mutating func addOperation<Whole, Operation>(_ path: KeyPath<Whole, Operation>, at offset: Int) -> Bool {
        guard let place = MemoryLayout<Whole>.offset(of: path), MemoryLayout<Operation>.size == 1 else { return false }
        leaves.append(.operation(offset: offset + place))
        return true
    }

    mutating func addValue<Whole, Value>(
        _ path: KeyPath<Whole, Value>, of type: any CapturingExpression.Type, at offset: Int
    ) -> Bool {
        guard let place = MemoryLayout<Whole>.offset(of: path), place == 0 else { return false }
        values.append(CapturedValue(offset: offset, type: type, kind: .init(Value.self)))
        return true
    }
}

/// A captured value's place in an expression.
struct CapturedValue: Sendable {
    /// The types that are captured most, read without asking for conformances.
    enum Kind: Sendable {
        case string, int, double, bool, date, uuid, other

        init<Value>(_ type: Value.Type) {
            self =
                if type == String.self {
                    .string
                } else if type == Int.self {
                    .int
                } else if type == Double.self {
                    .double
                } else if type == Bool.self {
                    .bool
                } else if type == Date.self {
                    .date
                } else if type == UUID.self {
                    .uuid
                } else {
                    .other
                }
        }
    }
    let offset: Int
    let type: any CapturingExpression.Type
    let kind: Kind

    /// The lowered form of the value that an expression holds here.
    func lowered(in expression: UnsafeRawPointer) throws -> QueryExpression {
        let place = expression + offset
        func read<T>(_ type: T.Type) -> T { place.assumingMemoryBound(to: type).pointee }
        return switch kind {
        case .string: .constant(.string(read(String.self)))
        case .int: .constant(.integer(Int64(read(Int.self))))
        case .double: .constant(.double(read(Double.self)))
        case .bool: .constant(.bool(read(Bool.self)))
        case .date: .constant(.date(read(Date.self)))
        case .uuid: .constant(.uuid(read(UUID.self)))
        case .other: try type.loweredValue(at: place)
        }
    }
}

/// An expression that is nothing but a captured value.
protocol CapturingExpression: SendableMetatype {
    static func loweredValue(at expression: UnsafeRawPointer) throws -> QueryExpression
}
