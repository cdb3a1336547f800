import MortiseCore

/// A way to the rows of a query through one index: equal values in its first properties, and perhaps a range, a beginning
/// or several values in the next.
struct AccessPath {
    /// The index's number in its table.
    let index: Int
    private let equalities: [StoredValue]
    private let tail: Tail?

    private enum Tail {
        case between(IndexRange.Bound?, IndexRange.Bound?)
        case beginning(String)
        case oneOf([StoredValue])
    }

    /// The paths that a table's indexes offer for the conditions.
    static func all(_ plan: TablePlan, _ conditions: [Int: [SearchCondition]]) -> [AccessPath] {
        plan.indexes.indices.compactMap { AccessPath($0, plan.indexes[$0], conditions) }
    }

    private init?(_ number: Int, _ definition: IndexDefinition, _ conditions: [Int: [SearchCondition]]) {
        var equalities: [StoredValue] = []
        var tail: Tail?
        for slot in definition.slots {
            let here = conditions[slot] ?? []
            if let value = here.lazy.compactMap({ if case .equal(let value) = $0 { value } else { nil } }).first {
                equalities.append(value)
                continue
            }
            tail = Self.tail(here)
            break
        }
        if equalities.isEmpty, tail == nil { return nil }
        index = number
        self.equalities = equalities
        self.tail = tail
    }

    /// Whether it leads to the rows with certain values, and to no range.
    var isPoint: Bool { tail == nil }

    private static func tail(_ conditions: [SearchCondition]) -> Tail? {
        var lower: IndexRange.Bound?
        var upper: IndexRange.Bound?
        for condition in conditions {
            switch condition {
            case .oneOf(let values): return .oneOf(values)
            case .beginning(let start): return .beginning(start)
            case .lower(let bound): lower = lower ?? bound
            case .upper(let bound): upper = upper ?? bound
            case .equal: break
            }
        }
        return lower == nil && upper == nil ? nil : .between(lower, upper)
    }

    /// The parts of the index in which the rows lie; empty where there can be none.
    func ranges(in index: TableIndex) -> [IndexRange] {
        let range: IndexRange?
        switch tail {
        case nil: range = index.equal(to: equalities)
        case .between(let lower, let upper):
            let found = index.between(lower, upper, after: equalities)
            guard lower?.isIncluded ?? false || upper?.isIncluded ?? false,
                let undatable = index.undatable(after: equalities)
            else {
                range = found
                break
            }
            return (found.map { [$0] } ?? []) + [undatable]
        case .beginning(let start): range = index.beginning(with: start, after: equalities)
        case .oneOf(let values):
            return values.compactMap { index.equal(to: equalities + [$0]) }
        }
        return range.map { [$0] } ?? []
    }

    /// The path in words, for `explain`.
    func text(_ plan: TablePlan) -> String {
        let slots = plan.indexes[index].slots
        let names = slots.map { plan.layout.slots[$0].name }
        var parts = names.prefix(equalities.count).map { "\($0) equal" }
        if let tail, equalities.count < names.count {
            let name = names[equalities.count]
            switch tail {
            case .between: parts.append("\(name) in a range")
            case .beginning: parts.append("\(name) by its beginning")
            case .oneOf(let values): parts.append("\(name) one of \(values.count)")
            }
        }
        return "index \(plan.entityName)(\(names.joined(separator: ", "))): \(parts.joined(separator: ", "))"
    }
}
