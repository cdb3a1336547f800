import Foundation

/// A filter as closures, made once for a query and a table: common expressions run without walking the expression for
/// each record, the rest uses the reference evaluator. The meaning is that of `QueryEvaluator`.
public struct CompiledFilter {
    struct Test {
        let holds: (RecordReference) throws -> Bool
        init(_ holds: @escaping (RecordReference) throws -> Bool) { self.holds = holds }

        /// A test that all of some hold. One closure inside another: an array's elements would be counted at every call.
        static func all(_ tests: [Test]) -> Test {
            joined(tests[...]) { first, second in Test { try first.holds($0) && second.holds($0) } }
                ?? Test { _ in true }
        }
        static func any(_ tests: [Test]) -> Test {
            joined(tests[...]) { first, second in Test { try first.holds($0) || second.holds($0) } }
                ?? Test { _ in false }
        }

        /// In halves, so that a million tests are nested twenty deep.
        private static func joined(_ tests: ArraySlice<Test>, _ join: (Test, Test) -> Test) -> Test? {
            if tests.count <= 1 { return tests.first }
            let middle = tests.index(tests.startIndex, offsetBy: tests.count / 2)
            guard let first = joined(tests[..<middle], join), let second = joined(tests[middle...], join) else {
                return nil
            }
            return join(first, second)
        }
    }
    private let test: Test

    /// Compiles conditions that must all hold.
    /// - Parameters:
    ///   - conjuncts: the conditions.
    ///   - reader: reads the records that the filter is asked about.
    ///   - table: the number of the table whose records the filter is for.
    ///   - isOrdered: whether the conditions are evaluated in the given order. Otherwise conditions that cannot throw
    ///     may be reordered, cheap ones first; a condition that can throw is evaluated after all those that precede it.
    public init(_ conjuncts: [QueryExpression], reader: RecordReader, table: Int, isOrdered: Bool = false) {
        let compiler = FilterCompiler(reader: reader, rows: reader.unchangedRows(ofTable: table))
        var simplified = conjuncts.map(\.simplified)
        if !isOrdered, simplified.count > 1 { simplified = Self.cheapestFirst(simplified) }
        test = .all(simplified.map(compiler.test))
    }

    /// Whether all conjuncts hold for a record of the filter's table.
    /// - Throws: `QueryEvaluationError`.
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
