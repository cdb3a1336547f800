#if SQLite
import Foundation
import MortiseCore
import MortiseSQL
@testable import MortiseSQLite
import PackageTestSupport
import Testing

/// What statements are made of: names, shapes, sizes.
@Suite struct StatementTests {
    @Test func namesThatDatabasesTreatInTheirOwnWayAreKept() throws {
        let folder = try TemporaryFolder()
        let long = String(repeating: "n", count: 66)
        let names = [
            "name", "Name", "NAME", "select", "rowid", "oid", "_rowid_", "id", "ent", "rv", "x__raw", "a\"b", "a'b",
            "😀",
            "a\0b", long + "ab", long + "cd", "é", "e\u{301}x", "sqlite_master", "mortise_store", "value",
        ]
        let entities = [
            entity("order", names.map { ($0, .string) }), entity("Order", [("x", .int64)]),
            entity("mortise_store", [("x", .int64)]),
        ]
        let store = try SQLiteStore.open(folder.path(), entities)
        let values = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, StoredValue.string("v\($0)")) })
        try store.insert("order", values)
        try store.insert("Order", ["x": .integer(1)])
        try store.insert("mortise_store", ["x": .integer(2)])
        try store.close()
        let again = try SQLiteStore.open(folder.path(), entities)
        let found = try #require(try again.records(StoreQuery("order")).first)
        for (place, name) in names.enumerated() {
            #expect(found[property: name] == .string("v\(place)"), "\(name)")
            let condition = QueryExpression.compare(
                .equal, again.property("order", name), .constant(.string("v\(place)")))
            #expect(try again.records(StoreQuery("order", conjuncts: [condition])).count == 1, "\(name)")
        }
        #expect(try again.values("Order", "x") == [.integer(1)])
        #expect(try again.values("mortise_store", "x") == [.integer(2)])
    }

    @Test func aHierarchyWithMoreColumnsThanSQLiteTakesIsRefusedByName() throws {
        let folder = try TemporaryFolder()
        let wide = entity("Wide", (0..<2_100).map { ("p\($0)", .int64) })
        let error = #expect(throws: SQLiteError.self) { try SQLiteStore.open(folder.path(), [wide]) }
        guard case .tooManyColumns("Wide", _)? = error?.fault else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// The columns of every table were counted twice, once it was there.
    @Test func aTableWithAllColumnsThatSQLiteTakesComesToAnotherSchema() throws {
        let folder = try TemporaryFolder()
        let names = (0..<1_997).map { "p\($0)" }
        try SQLiteStore.open(folder.path(), [entity("Wide", names.map { ($0, .int64) })]).close()
        let store = try SQLiteStore.open(folder.path(), [entity("Wide", names.map { ($0, .int64) }, indexed: ["p0"])])
        try store.insert("Wide", ["p1996": .integer(7)])
        #expect(try store.values("Wide", "p1996") == [.integer(7)])
    }

    /// SQLite took no index of some records alone, and each save of a unique value read all records of a subentity.
    @Test func uniqueValuesAreFoundByTheirIndexes() throws {
        let folder = try TemporaryFolder()
        let entities = [
            entity("Base", [("name", .string)]),
            StoredEntity(
                name: "Middle", superentity: "Base",
                properties: entity("", [("code", .int64), ("day", .date)]).properties,
                uniquenessConstraints: [["code"], ["day"]], indices: []),
            StoredEntity(
                name: "Leaf", superentity: "Middle", properties: [], uniquenessConstraints: [["name"]], indices: []),
        ]
        let store = try SQLiteStore.open(folder.path(), entities)
        for name in ["Middle", "Leaf"] {
            let conditions: [QueryExpression] = [
                .compare(.equal, store.property(name, "code"), .constant(.integer(1))),
                .contains(.list([.constant(.integer(1)), .constant(.integer(2))]), store.property(name, "code")),
                .compare(.equal, store.property(name, "day"), .constant(.date(.distantPast))),
                .compare(.equal, store.property(name, "name"), .constant(.string("a"))),
            ]
            for condition in conditions {
                let query = StoreQuery(name, conjuncts: [condition])
                let rows = try #require(store.selection(query)).rows
                var steps: [String] = []
                try store.pool.reading { connection in
                    try connection.run("EXPLAIN QUERY PLAN SELECT t0.\"name\"" + rows.text, rows.values) {
                        steps.append($0.text(3) ?? "")
                    }
                }
                #expect(steps.count == 1 && steps[0].contains("INDEX mortise_unique_Base_"), "\(condition): \(steps)")
                #expect(!store.plan(query).isFullScan)
            }
        }
        // The constraint on what Base has is about all of its records.
        let base = try store.insert("Base", ["name": .string("a")])[0]
        let error = #expect(throws: RecordsSuperseded.self) { try store.insert("Leaf", ["name": .string("a")]) }
        #expect(error?.identifiers == [base])
    }

    @Test func constantsDoNotChangeTheText() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(
            folder.path(),
            [entity("Item", [("size", .int64), ("name", .string), ("weight", .double)], indexed: ["size"])])
        try store.insert("Item", ["size": .integer(1), "name": .string("a")])
        func ask(_ number: Int64) throws {
            let conditions: [QueryExpression] = [
                .compare(.greater, store.property("Item", "size"), .constant(.integer(number))),
                .compare(.equal, store.property("Item", "name"), .constant(.string("n\(number)"))),
                .contains(
                    .list((0..<10).map { .constant(.integer(number + $0)) }), store.property("Item", "size")),
                .compare(.less, store.property("Item", "weight"), .constant(.double(Double(number)))),
            ]
            for condition in conditions {
                _ = try store.records(StoreQuery("Item", conjuncts: [condition], limit: Int(number) + 1))
            }
        }
        try ask(0)
        let before = try store.pool.reading { $0.prepared }
        for number in 1..<1_000 { try ask(Int64(number)) }
        #expect(try store.pool.reading { $0.prepared } == before)
    }

    /// Each with the answer of a plain loop; what is too deep for SQLite's parser is left to the framework.
    @Test func longAndDeepConditionsAreAnsweredOrLeftToTheFramework() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [entity("Item", [("size", .int64)])])
        for number in 0..<20 { try store.insert("Item", ["size": .integer(Int64(number))]) }
        let size = store.property("Item", "size")
        func equal(_ number: Int64) -> QueryExpression { .compare(.equal, size, .constant(.integer(number))) }
        func check(_ condition: QueryExpression, _ wanted: [Int64], mustBeExact: Bool, _ name: String) throws {
            let plan = store.plan(StoreQuery("Item", conjuncts: [condition]))
            if mustBeExact { #expect(plan.claims[0] == .exact, "\(name)") }
            let found = try store.rows(for: plan).snapshots.compactMap { $0[property: "size"] }
            if plan.claims[0] == .exact {
                #expect(found == wanted.map(StoredValue.integer), "\(name)")
            } else {
                #expect(Set(found).isSuperset(of: wanted.map(StoredValue.integer)), "\(name)")
            }
        }
        for count in [1_001, 10_000] {
            let terms = (0..<count).map { equal(Int64($0) + 5) }
            try check(.or(terms), Array(5..<20), mustBeExact: true, "\(count) terms")
            try check(.not(.and(terms.map { .not($0) })), Array(5..<20), mustBeExact: true, "\(count) negated terms")
        }
        var negated = equal(3)
        for _ in 0..<1_500 { negated = .not(negated) }
        try check(negated, [3], mustBeExact: true, "negations")
        var nested = equal(3)
        for _ in 0..<500 { nested = .or([equal(4), nested]) }
        try check(nested, [3, 4], mustBeExact: true, "nested alternatives of one kind")
        for depth in [4, 8, 12, 16, 60, 300] {
            var mixed = equal(3)
            for number in 0..<depth {
                mixed =
                    number % 2 == 0
                    ? .or([equal(4), mixed]) : .and([.compare(.less, size, .constant(.integer(10))), mixed])
            }
            try check(mixed, [3, 4], mustBeExact: depth < 8, "alternating \(depth)")
        }
        try check(
            .contains(.list((0..<70_000).map { .constant(.integer($0)) }), size), Array(0..<20), mustBeExact: false,
            "a list of 70,000")
    }

    /// The bound of a page was left to the framework, and each page read the whole table.
    @Test func aBoundOfIdentifiersIsTheDatabases() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(
            folder.path(),
            [
                entity("Item", [("size", .int64)], indexed: ["size"]),
                StoredEntity(name: "Base", properties: []),
                StoredEntity(name: "Sub", superentity: "Base", properties: []),
            ])
        let items = try store.insert("Item", ["size": .integer(1)], ["size": .integer(1)], ["size": .integer(1)])
        let others = try store.insert("Base", [:]) + store.insert("Sub", [:]) + store.insert("Base", [:])
        let isSame = QueryExpression.compare(.equal, store.property("Item", "size"), .constant(.integer(1)))
        func check(
            _ records: [PersistentIdentifier], _ conditions: [QueryExpression], _ search: String,
            _ location: SourceLocation = #_sourceLocation
        ) throws {
            let middle = QueryExpression.constant(.identifier(records[1]))
            for (comparison, wanted) in [
                (QueryExpression.Comparison.greater, records.suffix(1)), (.greaterOrEqual, records.suffix(2)),
                (.less, records.prefix(1)), (.lessOrEqual, records.prefix(2)),
            ] {
                let bound = QueryExpression.compare(comparison, .identifier(.variable(0)), middle)
                let isBackward = comparison == .less || comparison == .lessOrEqual
                let query = StoreQuery(
                    records[0].entityName, conjuncts: conditions + [bound],
                    order: [StoreQuery.Order(.identifier(.variable(0)), isAscending: !isBackward)], limit: 2)
                let plan = store.plan(query)
                #expect(
                    plan.claims.count == conditions.count + 1 && plan.claims.values.allSatisfy { $0 == .exact },
                    sourceLocation: location)
                let found = try store.rows(for: plan).snapshots.map(\.persistentIdentifier)
                #expect(found == (isBackward ? wanted.reversed() : Array(wanted)), sourceLocation: location)
                let text = try #require(SelectionPlan(query, store.mapping, store: store.identifier)).rows()
                var steps: [String] = []
                try store.pool.reading {
                    try $0.run("EXPLAIN QUERY PLAN SELECT t0.id" + text.text, text.values) {
                        steps.append($0.text(3) ?? "")
                    }
                }
                #expect(
                    steps.count == 1 && steps[0].contains(search + (isBackward ? "<" : ">")), "\(steps)",
                    sourceLocation: location)
            }
        }
        try check(items, [], "SEARCH t0 USING INTEGER PRIMARY KEY (rowid")
        try check(items, [isSame], "(size=? AND rowid")
        try check(others, [], "SEARCH t0 USING INTEGER PRIMARY KEY (rowid")
    }

    @Test func uniqueValuesAreThoseOfSwift() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(
            folder.path(), [entity("Item", [("weight", .double), ("name", .string)], unique: [["weight"], ["name"]])])
        try store.insert("Item", ["weight": .double(0)])
        #expect(throws: RecordsSuperseded.self) { try store.insert("Item", ["weight": .double(-0.0)]) }
        try store.insert(
            "Item", ["weight": .double(.nan)], ["weight": .double(.nan)], ["weight": .null], ["weight": .null])
        try store.insert("Item", ["name": .string("\u{e9}")])
        #expect(throws: RecordsSuperseded.self) { try store.insert("Item", ["name": .string("e\u{301}")]) }
        #expect(try store.records(StoreQuery("Item")).count == 6)
    }

    /// Rotated and exchanged, in one save.
    @Test func uniqueValuesCanBeExchanged() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [entity("Item", [("name", .string)], unique: [["name"]])])
        let records = try store.insert(
            "Item", ["name": .string("a")], ["name": .string("b")], ["name": .string("c")])
        let names = ["b", "c", "a"]
        _ = try store.save(
            DataStoreSaveChangesRequest(
                updated: zip(records, names).map { store.snapshot("Item", ["name": .string($1)], of: $0) },
                editingState: EditingState(), changedSlots: Array(repeating: SlotSet([0]), count: 3)))
        #expect(try store.values("Item", "name") == names.map(StoredValue.string))
    }

    /// The first NaN of a store changes how it sorts, also for plans that were made before.
    @Test func theFirstNaNIsSortedAsSwiftDoes() throws {
        let folder = try TemporaryFolder()
        let entities = [entity("Item", [("weight", .double)], indexed: ["weight"])]
        let (a, b) = (try SQLiteStore.open(folder.path(), entities), try SQLiteStore.open(folder.path(), entities))
        try a.insert("Item", ["weight": .double(1)], ["weight": .null], ["weight": .double(-1)])
        let plan = a.plan(StoreQuery("Item", order: [StoreQuery.Order(a.property("Item", "weight"))]))
        #expect(plan.order == .total)
        #expect(try a.rows(for: plan).snapshots.map { $0.persistentIdentifier.sequenceNumber } == [2, 3, 1])
        try b.insert("Item", ["weight": .double(.nan)])
        #expect(try a.rows(for: plan).snapshots.map { $0.persistentIdentifier.sequenceNumber } == [2, 4, 3, 1])
    }
}
#endif
