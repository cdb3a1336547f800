import Foundation

/// A filter as closures, made once for a query and a table: what is common runs without walking the expression for each record, the
/// rest falls back to the reference evaluator. The meaning is that of `QueryEvaluator`.
public struct CompiledFilter {
    struct Test {
        let holds: (RecordReference) throws -> Bool
        init(_ holds: @escaping (RecordReference) throws -> Bool) { self.holds = holds }

        /// A test that all of some hold. One closure inside another: an array's elements would be counted at every call.
        static func all(_ tests: some Sequence<Test>) -> Test {
            var all: Test?
            for test in tests {
                if let first = all { all = Test { try first.holds($0) && test.holds($0) } } else { all = test }
            }
            return all ?? Test { _ in true }
        }
        static func any(_ tests: some Sequence<Test>) -> Test {
            var any: Test?
            for test in tests {
                if let first = any { any = Test { try first.holds($0) || test.holds($0) } } else { any = test }
            }
            return any ?? Test { _ in false }
        }
    }
    private let test: Test

    /// - Parameters:
    ///   - table: the number of the table whose records the filter is for.
    ///   - isOrdered: whether the conjuncts are evaluated in the order given. Otherwise those that cannot throw may change
    ///     places with each other, cheap ones first; what may throw is evaluated behind what stands before it.
    public init(_ conjuncts: [QueryExpression], reader: RecordReader, table: Int, isOrdered: Bool = false) {
        let compiler = FilterCompiler(reader: reader, rows: reader.unchangedRows(ofTable: table))
        var simplified = conjuncts.map(\.simplified)
        if !isOrdered, simplified.count > 1 { simplified = Self.cheapestFirst(simplified) }
        test = .all(simplified.map(compiler.test))
    }

    public func matches(_ record: RecordReference) throws -> Bool { try test.holds(record) }

    private static func cheapestFirst(_ conjuncts: [QueryExpression]) -> [QueryExpression] {
        // By how many that may throw stand before it, then by cost.
        var barriers = 0
        let ranked = conjuncts.enumerated().map { place, conjunct in
            if conjunct.mayThrow {
                barriers += 2
                return (barriers - 1, 0, place)
            }
            return (barriers, conjunct.cost, place)
        }
        return ranked.sorted(by: <).map { conjuncts[$0.2] }
    }
}
