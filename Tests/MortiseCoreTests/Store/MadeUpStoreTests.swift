import Foundation
import Synchronization
import Testing

@testable import MortiseCore

/// Going through many records of a store that has them elsewhere keeps none of them.
@Suite struct MadeUpStoreTests {
    private static let schema = Schema([Author.self, Book.self, Shelf.self])

    private func context(
        _ count: Int, appliesLimit: Bool = false
    ) throws -> (context: ModelContext, rows: () -> (books: Int, authors: Int)) {
        let container = try ModelContainer(
            for: Self.schema, configurations: [MadeUpConfiguration(count: count, appliesLimit: appliesLimit)])
        // Checking would ask for all records at once.
        container.verifiesPushDown = false
        let context = ModelContext(container)
        let session = try #require(context.state.sessions.first)
        return (context, { (session.read["Book"]?.endRow ?? 0, session.read["Author"]?.endRow ?? 0) })
    }

    @Test func anEnumerationKeepsNoRows() throws {
        let (context, rows) = try context(20_000)
        var sum = 0
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            sum += book.pages
            // Followed, too.
            if book.pages % 100 == 0 { #expect(book.author?.name == "author \(book.pages)") }
        }
        #expect(sum == 20_000 * 19_999 / 2)
        #expect(rows().books <= 200 && rows().authors <= 10)
    }

    @Test func whatTheBlockKeepsStaysWhatItIs() throws {
        let (context, rows) = try context(20_000)
        var kept: [Book] = []
        var collections: [FetchResultsCollection<Book>] = []
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100) { book in
            if book.pages % 777 == 0 { kept.append(book) }
            if book.pages == 5_000 {
                let few = FetchDescriptor<Book>(predicate: #Predicate { $0.pages >= 40 && $0.pages < 60 })
                collections.append(try context.fetch(few, batchSize: 7))
            }
        }
        #expect(kept.map(\.pages) == Array(stride(from: 0, to: 20_000, by: 777)))
        #expect(kept.allSatisfy { $0.title == "book \($0.pages)" })
        // While others refer to rows by number, none is let go.
        #expect(collections[0].map(\.pages) == Array(40..<60))
        #expect(rows().books > 10_000)
    }

    @Test func whatTheBlockChangesIsSaved() throws {
        let (context, _) = try context(2_000)
        var last: Book?
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 100, allowEscapingMutations: true) { book in
            if book.pages % 100 == 0 {
                book.title = "changed"
                last = book
            }
        }
        #expect(context.changedModelsArray.count == 20 && last?.title == "changed")
        try context.enumerate(FetchDescriptor<Book>(), allowEscapingMutations: true) { book in
            #expect(book.title == (book.pages % 100 == 0 ? "changed" : "book \(book.pages)"))
        }
    }

    @Test(arguments: [(0, nil), (1_990, 100), (10, 25), (5_000, 3), (0, 0)] as [(Int, Int?)])
    func aWindowIsTheSameAsThatOfAFetch(_ offset: Int, _ limit: Int?) throws {
        let (context, _) = try context(2_000)
        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.pages % 2 == 0 })
        descriptor.fetchOffset = offset
        descriptor.fetchLimit = limit
        var found: [Int] = []
        try context.enumerate(descriptor, batchSize: 64) { found.append($0.pages) }
        #expect(try found == self.context(2_000).context.fetch(descriptor).map(\.pages))
    }

    @Test func anEnumerationWithinAnotherKeepsWhatTheOuterNeeds() throws {
        let (context, rows) = try context(1_000)
        var seen = 0
        try context.enumerate(FetchDescriptor<Book>(), batchSize: 50) { outer in
            if outer.pages % 250 != 0 { return }
            try context.enumerate(FetchDescriptor<Book>(), batchSize: 50) { inner in
                #expect(inner.title == "book \(inner.pages)")
                seen += 1
            }
            #expect(outer.title == "book \(outer.pages)")
        }
        // The inner one reads all of its records at once.
        #expect(seen == 4_000 && rows().books <= 100 * 11)
    }

    /// Page by page, as a service does that has one context for all of them.
    @Test func fetchesKeepFewerRowsThanTheyRead() throws {
        let (context, rows) = try context(300_000, appliesLimit: true)
        var kept: [Book] = []
        var descriptor = FetchDescriptor<Book>()
        descriptor.fetchLimit = 10_000
        for page in 0..<30 {
            descriptor.fetchOffset = page * 10_000
            let books = try context.fetch(descriptor)
            #expect(books.count == 10_000)
            kept.append(books[page])
        }
        #expect(rows().books <= 2 * 65_536)
        #expect(kept.enumerated().allSatisfy { $1.pages == $0 * 10_001 && $1.title == "book \($0 * 10_001)" })
        // What was let go is read again.
        #expect(kept.allSatisfy { $0.author?.name == "author \($0.pages)" })
    }

    @Test func aFetchWithinAnEnumerationLetsNoRowGoThatThisRefersTo() throws {
        let (context, _) = try context(150_000)
        var seen = 0
        try context.enumerate(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])) { book in
            if seen % 10_000 == 0 { _ = try context.fetch(FetchDescriptor<Author>()) }
            #expect(book.title == "book \(book.pages)")
            seen += 1
        }
        #expect(seen == 150_000)
    }

    @Test func anAggregationThatTheStoreLeavesKeepsNoRows() throws {
        let (context, rows) = try context(20_000)
        let sum = try context.aggregate(FetchDescriptor<Book>(), .sum(\.pages))
        #expect(sum == 20_000 * 19_999 / 2 && rows().books <= 600)
    }

    @Test func tooLargeAPortionIsTheStoresMistake() throws {
        let container = try ModelContainer(
            for: Self.schema, configurations: [MadeUpConfiguration(count: 2_000, surplus: 1)])
        container.verifiesPushDown = false
        let error = try #require(throws: ModelContextError.self) {
            try ModelContext(container).enumerate(FetchDescriptor<Book>(), batchSize: 100) { _ in }
        }
        #expect("\(error)".contains("Its cursor returned 101 rows where 100 were asked for."))
    }
}

private struct MadeUpConfiguration: DataStoreConfiguration {
    typealias Store = MadeUpStore
    var name = "made up"
    var schema: Schema?
    let count: Int
    /// How many records a portion of its cursor has too many.
    var surplus = 0
    /// Whether fetches are answered with their window alone.
    var appliesLimit = false

    init(count: Int, surplus: Int = 0, appliesLimit: Bool = false) {
        self.count = count
        self.surplus = surplus
        self.appliesLimit = appliesLimit
    }
}

/// Has books that it makes from their numbers when they are asked for, each with an author of its own.
private final class MadeUpStore: QueryableDataStore {
    typealias Snapshot = DefaultSnapshot
    let identifier = "made-up"
    let schema: Schema
    let configuration: MadeUpConfiguration
    private let layouts: [String: RecordLayout]

    init(_ configuration: MadeUpConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.schema = schema
        self.configuration = configuration
        layouts = schema.stored.recordLayouts()
    }

    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { throw DataStoreError.unsupportedFeature }

    func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = FetchPlan(query, detail: "made up", isFullScan: true)
        plan.order = query.order.isEmpty ? .total : .none
        for conjunct in query.conjuncts where Self.wanted(conjunct.expression) != nil {
            plan.claims[conjunct.id] = .exact
        }
        plan.appliesLimit = configuration.appliesLimit && query.conjuncts.isEmpty && plan.order == .total
        return plan
    }

    /// The records that a condition names.
    private static func wanted(_ condition: QueryExpression) -> [UInt64]? {
        switch condition {
        case .compare(.equal, .identifier(.variable(0)), .constant(.identifier(let record))):
            [record.sequenceNumber ?? 0]
        case .contains(.list(let records), .identifier(.variable(0))):
            records.compactMap {
                if case .constant(.identifier(let record)) = $0 { record.sequenceNumber } else { nil }
            }
        default: nil
        }
    }

    func rows(for plan: FetchPlan) throws -> StoreRows<DefaultSnapshot> {
        let wanted = plan.query.conjuncts.compactMap { Self.wanted($0.expression) }.first
        let all = 0..<configuration.count
        let numbers =
            wanted.map { $0.map(Int.init) } ?? Array(plan.appliesLimit ? plan.query.window(of: all.count) : all)
        return StoreRows(snapshots: numbers.map { record($0, plan.query.entity) }, scanned: numbers.count)
    }

    func cursor(for plan: FetchPlan) throws -> any RowCursor<DefaultSnapshot> { Cursor(self, plan.query.entity) }

    fileprivate func record(_ number: Int, _ entity: String) -> DefaultSnapshot {
        let layout =
            layouts[entity] ?? .init(entityName: entity, superentityName: nil, slots: [], uniqueConstraints: [])
        func identifier(_ entity: String) -> PersistentIdentifier {
            .numbered(UInt64(number), storeIdentifier: self.identifier, entityName: entity)
        }
        let values = layout.slots.map { slot -> StoredValue in
            switch slot.name {
            case "title": .string("book \(number)")
            case "name": .string("author \(number)")
            case "genre": .string("novel")
            case "pages": .integer(Int64(number))
            case "keywords": .array([])
            case "author": .identifier(identifier("Author"))
            default: slot.role.isToMany ? .identifiers([]) : .null
            }
        }
        return DefaultSnapshot(
            persistentIdentifier: identifier(entity), layout: layout, values: ContiguousArray(values))
    }

    private final class Cursor: RowCursor {
        private let store: MadeUpStore
        private let entity: String
        private var next = 0

        init(_ store: MadeUpStore, _ entity: String) {
            self.store = store
            self.entity = entity
        }

        func next(atMost count: Int) -> [DefaultSnapshot] {
            let end = min(next + count + store.configuration.surplus, store.configuration.count)
            defer { next = end }
            return (next..<end).map { store.record($0, entity) }
        }
    }
}
