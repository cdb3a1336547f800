import Foundation
import MortiseCore

/// An entry as plain values, to ask without any store what a query finds.
struct EntryValues: Hashable {
    var name: String
    var group: String
    var rank: Int?
    var score: Double
    var note: String?

    static let names = ["", "a", "A", "b", "ab", "é", "e\u{301}", "z", "10", "9"]
    static let notes: [String?] = [nil, "", "n", "N", "%"]
    static let scores = [0, -0.0, 1.5, -1, .infinity, 0.1]

    static func random(_ numbers: inout RandomNumbers) -> EntryValues {
        EntryValues(
            name: numbers.pick(names), group: numbers.pick(["x", "y", "z"]),
            rank: numbers.pick([nil, -1, 0, 1, 2, 3]), score: numbers.pick(scores), note: numbers.pick(notes))
    }

    var entry: Entry { Entry(name, group: group, rank: rank, score: score, note: note) }

    /// Whether the values are the same to the last bit and scalar, which `==` does not say.
    func isIdentical(to other: EntryValues) -> Bool {
        func same(_ left: String?, _ right: String?) -> Bool {
            guard let left, let right else { return left == nil && right == nil }
            return left.utf8.elementsEqual(right.utf8)
        }
        return same(name, other.name) && same(group, other.group) && rank == other.rank
            && score.bitPattern == other.score.bitPattern && same(note, other.note)
    }
}

/// A condition that can be put to a store as a predicate, and be evaluated on plain values.
indirect enum RandomCondition {
    case leaf(Leaf)
    case and(RandomCondition, RandomCondition)
    case or(RandomCondition, RandomCondition)
    case not(RandomCondition)

    struct Leaf {
        let text: String
        let predicate: Predicate<Entry>
        let holds: (EntryValues) -> Bool
    }

    static func random(_ numbers: inout RandomNumbers, depth: Int) -> RandomCondition {
        if depth == 0 || numbers.below(4) == 0 { return .leaf(leaf(&numbers)) }
        switch numbers.below(5) {
        case 0, 1: return .and(random(&numbers, depth: depth - 1), random(&numbers, depth: depth - 1))
        case 2, 3: return .or(random(&numbers, depth: depth - 1), random(&numbers, depth: depth - 1))
        default: return .not(random(&numbers, depth: depth - 1))
        }
    }

    private static func leaf(_ numbers: inout RandomNumbers) -> Leaf {
        let name = numbers.pick(EntryValues.names)
        let rank = numbers.pick([-1, 0, 1, 2, 3])
        let score = numbers.pick(EntryValues.scores)
        let note = numbers.pick(EntryValues.notes)
        let group = numbers.pick(["x", "y"])
        let groups = ["x", group]
        switch numbers.below(14) {
        case 0: return Leaf(text: "name == \"\(name)\"", predicate: #Predicate { $0.name == name }) { $0.name == name }
        case 1: return Leaf(text: "name < \"\(name)\"", predicate: #Predicate { $0.name < name }) { $0.name < name }
        case 2:
            return Leaf(text: "name starts \"\(name)\"", predicate: #Predicate { $0.name.starts(with: name) }) {
                $0.name.starts(with: name)
            }
        case 3:
            // Whether a text contains the empty one is answered otherwise by Foundation than by Swift.
            let part = name.isEmpty ? "b" : name
            return Leaf(text: "name contains \"\(part)\"", predicate: #Predicate { $0.name.contains(part) }) {
                $0.name.contains(part)
            }
        case 4:
            return Leaf(text: "group == \(group)", predicate: #Predicate { $0.group == group }) { $0.group == group }
        case 5:
            return Leaf(text: "\(groups) contains group", predicate: #Predicate { groups.contains($0.group) }) {
                groups.contains($0.group)
            }
        case 6: return Leaf(text: "rank == \(rank)", predicate: #Predicate { $0.rank == rank }) { $0.rank == rank }
        case 7: return Leaf(text: "rank == nil", predicate: #Predicate { $0.rank == nil }) { $0.rank == nil }
        case 8: return Leaf(text: "rank != \(rank)", predicate: #Predicate { $0.rank != rank }) { $0.rank != rank }
        case 9:
            return Leaf(text: "(rank ?? 1) > \(rank)", predicate: #Predicate { ($0.rank ?? 1) > rank }) {
                ($0.rank ?? 1) > rank
            }
        case 10: return Leaf(text: "score < \(score)", predicate: #Predicate { $0.score < score }) { $0.score < score }
        case 11:
            return Leaf(text: "score >= \(score)", predicate: #Predicate { $0.score >= score }) { $0.score >= score }
        case 12:
            return Leaf(text: "note == \(note ?? "nil")", predicate: #Predicate { $0.note == note }) { $0.note == note }
        default:
            return Leaf(text: "score == \(score)", predicate: #Predicate { $0.score == score }) { $0.score == score }
        }
    }

    var predicate: Predicate<Entry> {
        switch self {
        case .leaf(let leaf):
            return leaf.predicate
        case .and(let a, let b):
            return Self.joined(a.predicate, b.predicate, isAnd: true)
        case .or(let a, let b):
            return Self.joined(a.predicate, b.predicate, isAnd: false)
        case .not(let a):
            let inner: Predicate<Entry> = a.predicate
            return inner.not()
        }
    }

    private static func joined(_ a: Predicate<Entry>, _ b: Predicate<Entry>, isAnd: Bool) -> Predicate<Entry> {
        if isAnd { return a.and(b) }
        return a.or(b)
    }

    func holds(_ values: EntryValues) -> Bool {
        switch self {
        case .leaf(let leaf): leaf.holds(values)
        case .and(let a, let b): a.holds(values) && b.holds(values)
        case .or(let a, let b): a.holds(values) || b.holds(values)
        case .not(let a): !a.holds(values)
        }
    }

    var text: String {
        switch self {
        case .leaf(let leaf): leaf.text
        case .and(let a, let b): "(\(a.text) && \(b.text))"
        case .or(let a, let b): "(\(a.text) || \(b.text))"
        case .not(let a): "!(\(a.text))"
        }
    }

    /// Conditions with a part left out.
    var smaller: [RandomCondition] {
        switch self {
        case .leaf: []
        case .and(let a, let b):
            [a, b] + a.smaller.map { .and($0, b) } + b.smaller.map { .and(a, $0) }
        case .or(let a, let b): [a, b] + a.smaller.map { .or($0, b) } + b.smaller.map { .or(a, $0) }
        case .not(let a): [a] + a.smaller.map { .not($0) }
        }
    }
}

/// A whole question: a condition, an order, a window.
struct RandomQuery {
    var condition: RandomCondition?
    /// The keys, by number: name, group, rank, score.
    var order: [(key: Int, isAscending: Bool)] = []
    var offset: Int?
    var limit: Int?

    static func random(_ numbers: inout RandomNumbers, depth: Int = 3) -> RandomQuery {
        var query = RandomQuery()
        if numbers.below(8) > 0 { query.condition = .random(&numbers, depth: depth) }
        for _ in 0..<numbers.below(3) { query.order.append((numbers.below(4), numbers.below(2) == 0)) }
        if numbers.below(3) == 0 { query.offset = numbers.below(6) }
        if numbers.below(3) == 0 { query.limit = numbers.below(8) }
        return query
    }

    var descriptor: FetchDescriptor<Entry> {
        var descriptor = FetchDescriptor<Entry>(
            predicate: condition?.predicate,
            sortBy: order.map { key, isAscending in
                let order: SortOrder = isAscending ? .forward : .reverse
                return switch key {
                case 0: SortDescriptor(\.name, comparator: .lexical, order: order)
                case 1: SortDescriptor(\.group, comparator: .lexical, order: order)
                case 2: SortDescriptor(\.rank, order: order)
                default: SortDescriptor(\.score, order: order)
                }
            })
        descriptor.fetchOffset = offset
        descriptor.fetchLimit = limit
        return descriptor
    }

    /// The places of the values that the query finds, in order.
    func answer(_ values: [EntryValues]) -> [Int] {
        let found = values.indices.filter { condition?.holds(values[$0]) ?? true }.sorted { left, right in
            let (a, b) = (values[left], values[right])
            for (key, isAscending) in order {
                let result = Self.compare(key, a, b)
                if result != 0 { return (result < 0) == isAscending }
            }
            return left < right
        }
        return Array(found[descriptor.window(of: found.count)])
    }

    private static func compare(_ key: Int, _ a: EntryValues, _ b: EntryValues) -> Int {
        func place<C: Comparable>(_ a: C, _ b: C) -> Int { a < b ? -1 : b < a ? 1 : 0 }
        switch key {
        case 0: return String.StandardComparator.lexical.compare(a.name, b.name).rawValue
        case 1: return place(a.group, b.group)
        case 2:
            switch (a.rank, b.rank) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let a?, let b?): return place(a, b)
            }
        default: return place(a.score, b.score)
        }
    }

    var text: String {
        var text = condition.map { "where \($0.text)" } ?? "everything"
        let keys = ["name", "group", "rank", "score"]
        if !order.isEmpty {
            text += " by " + order.map { "\(keys[$0.key])\($0.isAscending ? "" : " down")" }.joined(separator: ", ")
        }
        if let offset { text += " offset \(offset)" }
        if let limit { text += " limit \(limit)" }
        return text
    }

    var smaller: [RandomQuery] {
        var queries: [RandomQuery] = []
        func add(_ change: (inout RandomQuery) -> Void) {
            var query = self
            change(&query)
            queries.append(query)
        }
        if condition != nil { add { $0.condition = nil } }
        if !order.isEmpty { add { $0.order = [] } }
        if offset != nil { add { $0.offset = nil } }
        if limit != nil { add { $0.limit = nil } }
        if order.count > 1 {
            add { $0.order.removeFirst() }
            add { $0.order.removeLast() }
        }
        for condition in condition?.smaller ?? [] { add { $0.condition = condition } }
        return queries
    }
}
