import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Counts from the two ends of a range of an index against going through all rows.
@Suite struct RangeCountTests {
    private struct Fixture {
        let seed: UInt64
        var world: EngineWorld
        let version: EngineVersion
        let reader: RecordReader
        var catalog: Catalog { world.catalog }

        init(_ number: UInt64) throws {
            seed = testSeed() &+ number
            world = EngineWorld(seed: seed)
            for _ in 0..<5 { try world.save(inserting: 200, updating: 30, deleting: 20) }
            let (version, catalog) = (world.engine.version, world.catalog)
            self.version = version
            reader = RecordReader(schema: catalog.schema, layouts: catalog.layouts) { version.rows(ofEntity: $0) }
        }

        func property(_ name: String) -> QueryExpression {
            .property(
                .variable(0),
                QueryProperty(entity: "Thing", name: name, slot: catalog.layouts["Thing"]?.slot(named: name) ?? 0))
        }

        func expected(_ query: StoreQuery) throws -> Int {
            let evaluator = QueryEvaluator(reader: reader)
            return try (query.includesSubentities ? ["Thing", "Special"] : ["Thing"]).reduce(0) { sum, name in
                let number = reader.table(named: name) ?? 0
                let rows = reader.tables[number].rows
                return try sum
                    + (0..<rows.endRow).count { row in
                        guard rows.contains(row: row) else { return false }
                        let record = RecordReference(table: number, row: row)
                        return try query.conjuncts.allSatisfy { try evaluator.matches($0.expression, record) }
                    }
            }
        }

        /// - Returns: whether no row was looked at.
        func check(_ conjuncts: [QueryExpression], isFamily: Bool) throws -> Bool {
            var query = StoreQuery("Thing", includesSubentities: isFamily, conjuncts: conjuncts)
            query.purpose = .count
            // A range may end before it begins.
            guard let expected = try? expected(query) else { return false }
            let text: Comment = "seed \(seed): \(conjuncts)"
            let engineQuery = EngineQuery(query, catalog)
            let found = try engineQuery.run(engineQuery.plan(), in: version)
            #expect(found.count ?? found.rows.count == expected, text)
            let asked = AggregateQuery(query, by: [], [.count])
            let groups = try #require(try engineQuery.aggregate(asked, in: version)).groups
            #expect(groups.map(\.values) == [[.integer(Int64(expected))]], text)
            if found.report.scanned == 0 { #expect(found.report.isFullScan == false || expected == 0, text) }
            return found.report.scanned == 0
        }
    }

    private static let comparisons: [QueryExpression.Comparison] = [
        .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
    ]

    @Test(arguments: 0..<6 as Range<UInt64>) func theyAreWhatAllRowsSay(number: UInt64) throws {
        var fixture = try Fixture(number)
        let attributes: [(name: String, kind: StorageKind)] = [
            ("must_double", .double), ("may_string", .string), ("group", .int32), ("may_decimal", .decimal),
            ("must_date", .date), ("code", .string), ("must_int32", .int32),
        ]
        func condition() -> QueryExpression {
            let random = Int.random(in: 0..<20, using: &fixture.world.random)
            let (name, kind) = attributes[Int.random(in: 0..<attributes.count, using: &fixture.world.random)]
            let comparison = Self.comparisons[Int.random(in: 0..<6, using: &fixture.world.random)]
            let own = fixture.property(name)
            let value = random == 0 ? StoredValue.null : fixture.world.value(kind)
            switch random {
            case 1: return .compare(comparison, .constant(value), own)
            case 2:
                return .contains(
                    .range(.constant(value), .constant(fixture.world.value(kind)), isClosed: comparison == .equal), own)
            case 3:
                return .or([
                    .compare(.equal, own, .constant(value)),
                    .compare(.equal, own, .constant(fixture.world.value(kind))),
                ])
            case 4: return .not(.compare(comparison, own, .constant(value)))
            default: return .compare(comparison, own, .constant(value))
            }
        }
        var withoutRows = 0
        for _ in 0..<300 {
            let conjuncts = (0..<Int.random(in: 1...3, using: &fixture.world.random)).map { _ in condition() }
            // The order of some strings is not told; see `ColumnQueryTests`.
            let asksOrderOfText = conjuncts.contains { conjunct in
                conjunct.hasPart { if case .constant(.string) = $0 { true } else { false } }
                    && !conjunct.hasPart { if case .compare(.equal, _, _) = $0 { true } else { false } }
            }
            if asksOrderOfText { continue }
            withoutRows += try fixture.check(conjuncts, isFamily: Bool.random(using: &fixture.world.random)) ? 1 : 0
        }
        #expect(withoutRows > 40, "seed \(fixture.seed)")
    }

    @Test func decimalsAreCountedByTheEndsOfTheirIndex() throws {
        let fixture = try Fixture(0)
        let own = fixture.property("may_decimal")
        for comparison in Self.comparisons where comparison != .notEqual {
            for bound in ["-20", "-12.5", "0", "0.01", "7", "99999999999999999999999999999999999999"] {
                let value = try #require(Decimal(string: bound))
                let isEnds = try fixture.check([.compare(comparison, own, .constant(.decimal(value)))], isFamily: false)
                #expect(isEnds, "\(comparison) \(bound)")
            }
        }
        // The narrower of two bounds is not known before they are compared.
        let (low, high) = (StoredValue.decimal(-3), StoredValue.decimal(2))
        let narrow: [QueryExpression] = [
            .compare(.greater, own, .constant(low)), .compare(.greater, own, .constant(high)),
        ]
        #expect(try !fixture.check(narrow, isFamily: false))
        #expect(try !fixture.check(narrow.reversed(), isFamily: false))
        let between: [QueryExpression] = [
            .compare(.greater, own, .constant(low)), .compare(.lessOrEqual, own, .constant(high)),
        ]
        #expect(try fixture.check(between, isFamily: false))
        #expect(try fixture.check(between, isFamily: true))
    }

    @Test func anEqualityAndARangeAreOneRangeOfACompoundIndex() throws {
        let fixture = try Fixture(1)
        let group = QueryExpression.compare(.equal, fixture.property("group"), .constant(.integer(1)))
        for comparison in Self.comparisons where comparison != .notEqual {
            for bound in [-4.0, 0, 3, .nan] {
                let date = StoredValue.date(Date(timeIntervalSinceReferenceDate: bound))
                let isEnds = try fixture.check(
                    [group, .compare(comparison, fixture.property("must_date"), .constant(date))], isFamily: false)
                #expect(isEnds == !bound.isNaN, "\(comparison) \(bound)")
            }
        }
        #expect(try fixture.check([group], isFamily: true))
    }

    /// Nothing lies before or after nil: dates that are not a number were counted beside it.
    @Test(arguments: 0..<3 as Range<UInt64>) func nothingLiesBesideNil(number: UInt64) throws {
        let fixture = try Fixture(number &+ 200)
        let group = QueryExpression.compare(.equal, fixture.property("group"), .constant(.integer(1)))
        for name in ["must_date", "must_double", "may_decimal", "may_string"] {
            for comparison in Self.comparisons where comparison != .notEqual && comparison != .equal {
                let conjunct = QueryExpression.compare(comparison, fixture.property(name), .constant(.null))
                for isFamily in [false, true] {
                    _ = try fixture.check([conjunct], isFamily: isFamily)
                    _ = try fixture.check([group, conjunct], isFamily: isFamily)
                }
            }
        }
    }

    /// No date lies before or after one that is not a number: a range with such a bound was searched as if only dates that are no number
    /// were in it.
    @Test func aBoundThatIsNoNumberLimitsNothing() throws {
        let fixture = try Fixture(2)
        let group = QueryExpression.compare(.equal, fixture.property("group"), .constant(.integer(1)))
        let own = fixture.property("must_date")
        func date(_ seconds: Double) -> QueryExpression {
            .constant(.date(Date(timeIntervalSinceReferenceDate: seconds)))
        }
        for (low, high) in [(Double.nan, Double.nan), (.nan, 3), (-4, .nan)] {
            for isClosed in [false, true] {
                let range = QueryExpression.contains(.range(date(low), date(high), isClosed: isClosed), own)
                _ = try fixture.check([range], isFamily: isClosed)
                _ = try fixture.check([group, range], isFamily: !isClosed)
            }
        }
    }

    /// Dates that are not a number fulfil `>=` and `<=`, but neither `<` nor `>`: a count between two dates took them in if one of
    /// the two bounds did.
    @Test(arguments: 0..<3 as Range<UInt64>) func datesThatAreNoNumberCountWhereBothBoundsHold(number: UInt64) throws {
        let fixture = try Fixture(number &+ 100)
        let group = QueryExpression.compare(.equal, fixture.property("group"), .constant(.integer(1)))
        let own = fixture.property("must_date")
        func bound(_ comparison: QueryExpression.Comparison, _ seconds: Double) -> QueryExpression {
            .compare(comparison, own, .constant(.date(Date(timeIntervalSinceReferenceDate: seconds))))
        }
        var withoutRows = 0
        for lower in [QueryExpression.Comparison.greater, .greaterOrEqual] {
            for upper in [QueryExpression.Comparison.less, .lessOrEqual] {
                for (low, high) in [(-100.0, 100.0), (0, 3), (3, 0), (0, .infinity)] {
                    for isFamily in [false, true] {
                        let conjuncts = [group, bound(lower, low), bound(upper, high)]
                        withoutRows += try fixture.check(conjuncts, isFamily: isFamily) ? 1 : 0
                    }
                }
            }
        }
        #expect(withoutRows > 8, "seed \(fixture.seed)")
    }
}
