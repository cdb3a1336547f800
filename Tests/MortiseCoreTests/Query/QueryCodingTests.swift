import Foundation
import Testing

@testable import MortiseCore

/// Lowered predicates and whole queries go through any coder and come back equal.
@Suite struct QueryCodingTests {
    private static let name = QueryExpression.property(
        .variable(0), QueryProperty(entity: "Book", name: "title", slot: 0))
    private static let one = QueryExpression.constant(.integer(1))
    private static let months: CalendarPeriod = {
        var calendar = Calendar(identifier: .iso8601)
        calendar.firstWeekday = 4
        calendar.timeZone = TimeZone(identifier: "Asia/Kathmandu") ?? .gmt
        return CalendarPeriod(.month, in: calendar)
    }()

    /// One of each case.
    static let all: [QueryExpression] = [
        .constant(.null), .constant(.decimal(.nan)), .constant(.data(Data([0, 255]))), .constant(.double(.infinity)),
        .constant(.unsigned(.max)), .constant(.array([.bool(true), .object(["a": .null])])), .list([one, name]),
        .variable(3), name, .member(name, "city"), .decoded(.member(name, "day"), .date), .identifier(.variable(0)),
        .compare(.lessOrEqual, name, one), .not(name), .and([name, one]), .or([]),
        .arithmetic(.remainder, one, one, .int8),
        .negate(one, .float), .conditional(name, one, one), .coalesce(name, one),
        .flatMap(name, variable: 1, .variable(1)),
        .unwrap(name), .count(name), .isEmpty(name), .first(name), .last(name), .element(name, one),
        .slice(name, .range(one, one, isClosed: false)), .lookup(name, one, nil), .lookup(name, one, one),
        .contains(name, one), .exists(name, variable: 1, .variable(1)), .all(name, variable: 2, .variable(2)),
        .filter(name, variable: 3, .variable(3)), .startsWith(name, one), .minimum(name), .maximum(name),
        .containsSequence(name, one), .range(one, one, isClosed: true), .localizedStandardContains(name, one),
        .compareStrings(.caseInsensitive, name, one), .matches(name, "a.b"), .isKind(.variable(0), "Book"),
        .cast(.variable(0), "Book"), .start(name, of: months), .onModels(id: 7, text: "code"),
    ]

    @Test func thereIsOneOfEachCase() {
        // A case that is new does not compile here until it is named, and counted.
        for expression in Self.all {
            switch expression {
            case .constant, .list, .variable, .property, .member, .decoded, .identifier, .compare, .not, .and, .or:
                break
            case .arithmetic, .negate, .conditional, .coalesce, .flatMap, .unwrap, .count, .isEmpty, .first, .last:
                break
            case .element, .slice, .lookup, .contains, .exists, .all, .filter, .startsWith, .minimum, .maximum: break
            case .containsSequence, .range, .localizedStandardContains, .compareStrings, .matches, .isKind, .cast,
                .start, .onModels:
                break
            }
        }
        let names = Set(Self.all.compactMap { Mirror(reflecting: $0).children.first?.label })
        #expect(names.count == 40, "\(names.sorted())")
    }

    @Test(arguments: all) func expressionsComeBack(_ expression: QueryExpression) throws {
        let text = try JSONEncoder().encode([expression])
        #expect(try JSONDecoder().decode([QueryExpression].self, from: text) == [expression])
        let list = try PropertyListEncoder().encode([expression])
        #expect(try PropertyListDecoder().decode([QueryExpression].self, from: list) == [expression])
    }

    /// Defect: what is decoded may be as deep as its sender likes, and is gone through recursively.
    @Test func whatIsNestedTooDeepIsNotDecoded() throws {
        func text(_ depth: Int, _ level: (String, String)) -> Data {
            Data(
                ("[" + String(repeating: level.0, count: depth) + #"{"variable":{"_0":0}}"#
                    + String(repeating: level.1, count: depth) + "]").utf8)
        }
        let levels = [
            (#"{"not":{"_0":"#, "}}"), (#"{"and":{"_0":["#, "]}}"),
            (#"{"property":{"_1":{"entity":"E","name":"n","slot":0},"_0":"#, "}}"),
        ]
        for level in levels {
            _ = try JSONDecoder().decode([QueryExpression].self, from: text(100, level))
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([QueryExpression].self, from: text(250, level))
            }
        }
    }

    @Test func whatIsNestedTooDeepIsNotCarriedOut() throws {
        var expression = QueryExpression.variable(0)
        for depth in 1...200 {
            expression = depth % 2 == 0 ? .not(expression) : .coalesce(expression, Self.one)
            let query = StoreQuery("Book", conjuncts: [.and([Self.one, expression])])
            if depth + 2 <= QueryExpression.deepest {
                try query.checkDepth()
            } else {
                let error = QueryEvaluationError.nestedTooDeep(limit: QueryExpression.deepest)
                #expect(throws: error) { try query.checkDepth() }
                #expect(throws: error) {
                    try StoreQuery("Book", order: [.init(.not(.not(expression)))]).checkDepth()
                }
            }
        }
    }

    /// The matcher cannot be interrupted: the caller goes on, and the match on its thread ends when it ends.
    @Test func aMatchHasATimeLimit() throws {
        let pattern = "(a+)+$"
        let regex = try Regex(pattern)
        #expect(throws: QueryEvaluationError.regexTooSlow(pattern: pattern, limit: .milliseconds(10))) {
            try MatchWatch.run(limit: .milliseconds(10)) {
                MatchWatch.isFound(regex, pattern, in: String(repeating: "a", count: 16) + "b")
            }
        }
        #expect(try MatchWatch.run(limit: .seconds(60)) { MatchWatch.isFound(regex, pattern, in: "aaa") })
        // A program that goes on waits for the end of a match that was given up.
        func isFound() throws -> Bool {
            try MatchWatch.run(limit: .seconds(60), deadline: .seconds(60)) {
                MatchWatch.isFound(regex, pattern, in: "a")
            }
        }
        #expect(throws: MatchWatchError.stillMatching(pattern: pattern)) { try isFound() }
        func isFoundAtLast() throws -> Bool {
            let end = ContinuousClock.now + .seconds(300)
            while true {
                do { return try isFound() } catch let error as MatchWatchError where ContinuousClock.now > end {
                    throw error
                } catch is MatchWatchError { Thread.sleep(forTimeInterval: 0.05) }
            }
        }
        #expect(try isFoundAtLast())
        // Many matches, none of them slow, have a deadline together. What is left of them is passed over.
        #expect(throws: MatchWatchError.queryTooSlow(limit: .milliseconds(100))) {
            try MatchWatch.run(limit: .seconds(60), deadline: .milliseconds(100)) {
                for _ in 0..<1_000_000 {
                    _ = MatchWatch.isFound(regex, pattern, in: String(repeating: "a", count: 12) + "b")
                }
            }
        }
        #expect(try isFoundAtLast())
        struct Failure: Error {}
        #expect(throws: Failure.self) { try MatchWatch.run(limit: .seconds(60)) { throw Failure() } }
    }

    @Test func whatPredicatesAreLoweredToComesBack() throws {
        let queries = [
            PreparedQuery(
                FetchDescriptor<Item>(
                    predicate: #Predicate { $0.place.city == "a" && $0.peers.contains { $0.load > 1 } || $0.flag },
                    sortBy: [SortDescriptor(\.box?.label, order: .reverse)]), under: nil
            ).query,
            StoreQuery(
                "Book", purpose: .identifiers, includesSubentities: false, conjuncts: Self.all,
                order: [.init(Self.name, isAscending: false, stringOrder: .localizedStandard)], offset: 3, limit: 4,
                projection: ["title"], prefetch: ["author"]),
        ]
        for query in queries {
            #expect(try JSONDecoder().decode(StoreQuery.self, from: JSONEncoder().encode(query)) == query)
        }
    }

    /// Code does not travel: what is left of it says so, by its text.
    @Test func codeThatIsNotHereThrows() throws {
        let context = ModelContext(try makeLibrary())
        context.insert(Book(title: "Eden"))
        try context.save()
        let lowered = PreparedQuery(
            FetchDescriptor<Book>(predicate: #Predicate { $0.title.hashValue == 0 || $0.pages == 0 }), under: nil
        ).query
        let decoded = try JSONDecoder().decode(StoreQuery.self, from: JSONEncoder().encode(lowered))
        guard case .onModels(0, let text) = decoded.conjuncts[0].expression else {
            Issue.record("\(decoded.conjuncts) is no code")
            return
        }
        #expect(text.contains("hashValue") || text.contains("KeyPath"))
        let tables = try context.state.tables(under: Book.self)
        #expect(tables.count == 1)
        let reader = ContextReader(state: context.state, seesChanges: false)
        let record = RecordReference(table: try #require(reader.table(named: "Book")), row: 0)
        #expect(throws: QueryEvaluationError.codeUnavailable(text: text)) {
            try QueryEvaluator(reader: reader).matches(decoded.conjuncts[0].expression, record)
        }
        #expect(throws: QueryEvaluationError.codeUnavailable(text: text)) {
            try QueryExecutor(reader: reader).filter([record], by: decoded.conjuncts.map(\.expression))
        }
    }
}
