import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// Least and greatest values from the ends of indexes against going through all rows, to the last bit.
@Suite struct IndexEndsTests {
    private struct Fixture {
        let engine: Engine
        let reader: RecordReader
        let seed = testSeed()
        var version: EngineVersion { engine.version }
        var catalog: Catalog { engine.catalog }

        init(saves: Int = 4) throws {
            var world = EngineWorld(seed: seed)
            for _ in 0..<saves { try world.save(inserting: 120, updating: 20, deleting: 10) }
            engine = world.engine
            let version = world.engine.version
            reader = RecordReader(schema: world.catalog.schema, layouts: world.catalog.layouts) {
                version.rows(ofEntity: $0)
            }
        }

        func property(_ name: String) throws -> QueryExpression {
            let slot = try #require(catalog.layouts["Thing"]?.slot(named: name))
            return .property(.variable(0), QueryProperty(entity: "Thing", name: name, slot: slot))
        }

        /// The records of Thing, and of what inherits from it, in identity order.
        func records(_ isFamily: Bool) -> [RecordReference] {
            let all = (isFamily ? ["Thing", "Special"] : ["Thing"]).flatMap { name in
                let number = reader.table(named: name) ?? 0
                let rows = reader.tables[number].rows
                return (0..<rows.endRow).filter(rows.contains(row:)).map { RecordReference(table: number, row: $0) }
            }
            return all.sorted { reader.sequence($0) < reader.sequence($1) }
        }

        func expected(_ asked: AggregateQuery) throws -> [StoredValue] {
            let evaluator = QueryEvaluator(reader: reader)
            let states = asked.functions.map(AggregateState.init)
            for state in states { state.reserve(groups: 1) }
            for record in records(asked.query.includesSubentities) {
                guard try asked.query.conjuncts.allSatisfy({ try evaluator.matches($0.expression, record) }) else {
                    continue
                }
                for (state, function) in zip(states, asked.functions) {
                    if let expression = function.expression {
                        try state.add(evaluator.sortKey(expression, record), group: 0)
                    } else {
                        state.add(count: 1, group: 0)
                    }
                }
            }
            return try states.map { try $0.result(group: 0) }
        }

        func answer(_ asked: AggregateQuery) throws -> AggregateAnswer {
            try #require(try EngineQuery(asked.query, catalog).aggregate(asked, in: version))
        }

        /// Compares strings by their scalars and numbers by their bits, where `==` sees no difference.
        func check(_ asked: AggregateQuery, by detail: String?) throws {
            let found = try answer(asked)
            let expected = try expected(asked)
            let text: Comment = "seed \(seed): \(asked.functions) where \(asked.query.conjuncts.map(\.expression))"
            #expect(found.groups.count == 1, text)
            #expect(found.groups.first?.values.map(Self.bits) == expected.map(Self.bits), text)
            if let detail {
                #expect(found.report.detail == detail, text)
                #expect(found.report.isFullScan == false, text)
            }
        }

        private static func bits(_ value: StoredValue) -> String {
            switch value {
            case .double(let number): "\(number.bitPattern)"
            case .float(let number): "\(number.bitPattern)"
            case .date(let date): "\(date.timeIntervalSinceReferenceDate.bitPattern)"
            case .string(let text): "\(Array(text.utf8))"
            default: "\(value)"
            }
        }
    }

    @Test(arguments: [false, true]) func theyAreWhatAllRowsSay(isFamily: Bool) throws {
        for _ in 0..<2 {
            let fixture = try Fixture()
            for name in ["must_double", "may_string", "may_decimal", "code", "group"] {
                let own = try fixture.property(name)
                let query = StoreQuery("Thing", includesSubentities: isFamily)
                try fixture.check(
                    AggregateQuery(query, by: [], [.minimum(own), .count, .maximum(own)]), by: nil)
            }
        }
    }

    @Test func theIndexIsNamedAndFewRowsAreLookedAt() throws {
        let fixture = try Fixture()
        let query = StoreQuery("Thing", includesSubentities: false)
        let own = try fixture.property("code")
        let asked = AggregateQuery(query, by: [], [.minimum(own), .maximum(own)])
        try fixture.check(asked, by: "index Thing(code): least code; index Thing(code): greatest code")
        #expect(try fixture.answer(asked).report.scanned == 2)
        // Nothing leads to the ends of what has no index.
        let other = try fixture.property("must_int32")
        let scan = try fixture.answer(AggregateQuery(query, by: [], [.minimum(own), .minimum(other)]))
        #expect(scan.report.detail == nil && scan.report.scanned == fixture.records(false).count)
    }

    @Test(arguments: [false, true]) func conditionsOnWhatTheIndexBeginsWithAreFollowed(isFamily: Bool) throws {
        let fixture = try Fixture(saves: 7)
        let (group, date) = (try fixture.property("group"), try fixture.property("must_date"))
        let bounds: [QueryExpression.Comparison] = [.less, .lessOrEqual, .greater, .greaterOrEqual]
        for number in 0...4 {
            let isGroup = QueryExpression.compare(.equal, group, .constant(.integer(Int64(number))))
            let query = StoreQuery("Thing", includesSubentities: isFamily, conjuncts: [isGroup])
            let asked = AggregateQuery(query, by: [], [.minimum(date), .maximum(date)])
            try fixture.check(
                asked,
                by: isFamily
                    ? nil
                    : "index Thing(group, must_date): group equal, least must_date; "
                        + "index Thing(group, must_date): group equal, greatest must_date")
            #expect(try fixture.answer(asked).report.scanned < 40)
            for comparison in bounds {
                for bound: Double in [-3, 0, 1e9, -.infinity] {
                    let instant = StoredValue.date(Date(timeIntervalSinceReferenceDate: bound))
                    var bounded = query
                    bounded.conjuncts.append(
                        StoreQuery.Conjunct(id: 1, expression: .compare(comparison, date, .constant(instant))))
                    try fixture.check(AggregateQuery(bounded, by: [], [.minimum(date), .maximum(date)]), by: nil)
                }
            }
        }
    }

    @Test func ofDecimalsAndNumbersNaNIsLeastOnlyWhereThereIsNoOther() throws {
        let fixture = try Fixture()
        for name in ["must_double", "may_decimal"] {
            let own = try fixture.property(name)
            for comparison in [QueryExpression.Comparison.less, .lessOrEqual, .greater, .greaterOrEqual, .equal] {
                for value in [Double.nan, 0, -2, 1e12, -1e12] {
                    let bound: StoredValue = name == "must_double" ? .double(value) : .decimal(Decimal(value))
                    let conjunct = QueryExpression.compare(comparison, own, .constant(bound))
                    let query = StoreQuery("Thing", includesSubentities: false, conjuncts: [conjunct])
                    try fixture.check(AggregateQuery(query, by: [], [.minimum(own), .maximum(own)]), by: nil)
                }
            }
        }
    }

    @Test func aConditionThatHoldsForFewIsLeftToItsOwnIndex() throws {
        let fixture = try Fixture()
        let (code, number) = (try fixture.property("code"), try fixture.property("must_double"))
        let wanted = QueryExpression.compare(.equal, code, .constant(.string("none")))
        let query = StoreQuery("Thing", includesSubentities: false, conjuncts: [wanted])
        let asked = AggregateQuery(query, by: [], [.minimum(number)])
        let answer = try fixture.answer(asked)
        #expect(answer.groups.first?.values == [.null] && answer.report.scanned == 0)
    }
}

extension RecordReader {
    /// The number that a stored record was given when it was inserted.
    func sequence(_ record: RecordReference) -> UInt64 {
        (tables[record.table].rows as? TableVersion)?.sequence(ofRow: record.row) ?? 0
    }
}
