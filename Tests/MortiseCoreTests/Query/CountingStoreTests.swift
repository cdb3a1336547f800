import Foundation
import MortiseCore
import MortiseEngine
import Testing

/// Stores of versions that answer a count with a number and no rows.
@Suite struct CountingStoreTests {
    private func library(leavesConditions: Bool) throws -> ModelContext {
        let container = try ModelContainer(
            for: Schema([Author.self, Book.self, Shelf.self]),
            configurations: [CountingConfiguration(leavesConditions: leavesConditions)])
        let context = ModelContext(container)
        for pages in 1...6 { context.insert(Book(title: "b", pages: pages)) }
        try context.save()
        return context
    }

    /// A count came back as 0 where the framework cut off offset and limit: it cut the rows, of which there were none.
    @Test func aWindowThatTheStoreLeavesIsTakenOffItsCount() throws {
        let context = try library(leavesConditions: false)
        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 1 })
        #expect(try context.fetchCount(descriptor) == 5)
        descriptor.fetchOffset = 2
        #expect(try context.fetchCount(descriptor) == 3)
        descriptor.fetchLimit = 2
        #expect(try context.fetchCount(descriptor) == 2)
        descriptor.fetchOffset = 9
        #expect(try context.fetchCount(descriptor) == 0)
        context.container.verifiesPushDown = true
        #expect(try context.fetchCount(descriptor) == 0)
    }

    @Test func aCountOfWhatIsStillToBeCheckedIsRefused() throws {
        let context = try library(leavesConditions: true)
        let error = try #require(throws: ModelContextError.self) {
            try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 1 }))
        }
        #expect("\(error)".contains("counted 6 rows of Book and returned 0"))
    }
}

private struct CountingConfiguration: DataStoreConfiguration {
    typealias Store = CountingStore
    /// Whether the store counts all records and leaves the conditions to the framework.
    var leavesConditions: Bool
    var name = "counting"
    var schema: Schema?

    init(leavesConditions: Bool) { self.leavesConditions = leavesConditions }
}

private final class CountingStore: EngineDataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: CountingConfiguration
    let schema: Schema
    let engine: Engine
    var allowsSave: Bool { true }

    init(_ configuration: CountingConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        engine = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: "counting")))
    }

    func plan(_ query: StoreQuery) -> FetchPlan {
        var plan = FetchPlan.scanAll(query)
        if !configuration.leavesConditions {
            for conjunct in query.conjuncts { plan.claims[conjunct.id] = .exact }
        }
        return plan
    }

    func rows(for plan: FetchPlan, in version: any StoreVersion) throws -> VersionRows {
        let reader = RecordReader(schema: schema.stored, layouts: schema.stored.recordLayouts()) {
            version.rows(ofEntity: $0)
        }
        var rows: [RecordReference] = []
        if let table = reader.table(named: plan.query.entity) {
            let source = reader.tables[table].rows
            rows = (0..<source.endRow).filter(source.contains).map { RecordReference(table: table, row: $0) }
        }
        let claimed = plan.query.conjuncts.filter { plan.claim(of: $0) == .exact }.map(\.expression)
        let found = try QueryExecutor(reader: reader).filter(rows, by: claimed)
        let isCount = plan.query.purpose == .count
        return VersionRows(
            entities: reader.tables.map(\.entityName), rows: isCount ? [] : found,
            count: isCount ? found.count : nil, report: ExecutionReport(scanned: rows.count))
    }
}
