import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import Testing

@Suite struct BatchDeleteTests {
    @Test(arguments: BatchStore.allCases) func whatMatchesIsGoneAndReferencesToItAreCleared(_ store: BatchStore) throws
    {
        let context = try store.library()
        let shelf = Shelf(label: "s")
        context.insert(shelf)
        shelf.books = try context.fetch(FetchDescriptor<Book>())
        try context.save()
        let posted = PostedSaves(of: context)
        try context.delete(model: Book.self, where: #Predicate { $0.pages > 250 })
        posted.stop()
        #expect(!context.hasChanges && posted.willSaves == 1)
        #expect(posted.counts.first?["deletedIdentifiers"] == 3)
        #expect(try context.shelfList == ["Solaris 100", "Fiasco 200"])
        #expect(shelf.books.map(\.title) == ["Solaris", "Fiasco"])
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Shelf>()).first?.books.count == 2)
    }

    @Test(arguments: BatchStore.allCases) func cascadesTakeTheirMembersAlong(_ store: BatchStore) throws {
        let context = try store.library()
        context.container.verifiesPushDown = false
        let books = try context.fetch(FetchDescriptor<Book>())
        try context.delete(model: Author.self, where: #Predicate { $0.name == "Lem" })
        #expect(try context.shelfList == ["Baudolino 400", "Beowulf 500"])
        #expect(books.map(\.isDeleted) == [true, true, true, false, false] && books[0].title == "Solaris")
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Author>()) == 1)
    }

    @Test(arguments: BatchStore.allCases) func everythingGoesWithoutAPredicate(_ store: BatchStore) throws {
        let context = try store.library()
        try context.delete(model: Book.self)
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 0)
        #expect(try context.fetch(FetchDescriptor<Author>()).allSatisfy { $0.books.isEmpty })
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Author>()) == 2)
    }

    @Test(arguments: BatchStore.allCases) func subclassesStayOnRequest(_ store: BatchStore) throws {
        let container = try store.container([Item.self, Special.self, Box.self])
        let context = ModelContext(container)
        for _ in 0..<2 { context.insert(Item(ItemValues())) }
        context.insert(Special(ItemValues()))
        try context.save()
        try context.delete(model: Item.self, where: #Predicate { $0.size == 0 }, includeSubclasses: false)
        #expect(try context.fetch(FetchDescriptor<Item>()).map { $0 is Special } == [true])
        try context.delete(model: Item.self)
        #expect(try context.fetchCount(FetchDescriptor<Item>()) == 0)
    }

    @Test(arguments: BatchStore.allCases) func aDenyingRuleKeepsEverything(_ store: BatchStore) throws {
        let context = ModelContext(try store.container([Guard.self, Ward.self]))
        let (strict, free) = (Guard(name: "strict"), Guard(name: "free"))
        context.insert(strict)
        context.insert(free)
        context.insert(Ward(name: "w", guardian: strict))
        try context.save()
        #expect {
            try context.delete(model: Guard.self)
        } throws: { error in
            guard case ModelValidationError.deletionDenied("Guard", "wards", strict.persistentModelID, 1) = error else {
                return false
            }
            return true
        }
        #expect(!context.hasChanges)
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Guard>()) == 2)
        try context.delete(model: Guard.self, where: #Predicate { $0.name == "free" })
        try context.delete(model: Ward.self)
        try context.delete(model: Guard.self)
        #expect(try context.fetchCount(FetchDescriptor<Guard>()) == 0)
    }

    @Test(arguments: BatchStore.allCases) func withUnsavedChangesItWaitsForTheSave(_ store: BatchStore) throws {
        let context = try store.library()
        context.insert(Book(title: "New", pages: 900))
        try context.delete(model: Book.self, where: #Predicate { $0.pages > 250 })
        #expect(try context.shelfList == ["Solaris 100", "Fiasco 200"])
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Book>()) == 5)
        try context.save()
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Book>()) == 2)
    }

    // MARK: Plans

    @Test func aRefusedScanKeepsABatchFromRunning() throws {
        let context = try BatchStore.engine.library()
        context.fullScanPolicy = .refuse
        #expect(throws: QueryPlanError.self) {
            try context.delete(model: Book.self, where: #Predicate { $0.pages > 250 })
        }
        #expect(throws: QueryPlanError.self) {
            try context.update(Book.self, where: #Predicate { $0.pages > 250 }) { $0.set(\.pages, to: 0) }
        }
        context.fullScanPolicy = .allow
        #expect(try context.fetchCount(FetchDescriptor<Book>()) == 5)
    }

    @Test(arguments: LyingBatches.Lie.allCases) func aStoreThatDoesSomethingElseIsCaught(_ lie: LyingBatches.Lie) throws
    {
        func attempt(_ change: (ModelContext) throws -> Void) throws {
            let container = try ModelContainer(
                for: Schema([Author.self, Book.self, Shelf.self]), configurations: [LyingBatches(lie)])
            container.verifiesPushDown = true
            let context = ModelContext(container)
            for pages in [1, 2, 3] { context.insert(Book(title: "b\(pages)", pages: pages)) }
            try context.save()
            try change(context)
        }
        let update = { (context: ModelContext) in
            _ = try context.update(Book.self, where: #Predicate { $0.pages > 1 }) { $0.set(\.title, to: "x") }
        }
        let delete = { (context: ModelContext) in
            try context.delete(model: Book.self, where: #Predicate { $0.pages > 1 })
        }
        for change in [update, delete] {
            if lie == .none {
                try attempt(change)
            } else {
                #expect {
                    try attempt(change)
                } throws: { error in
                    if case QueryPlanError.falseClaim("LyingBatchStore", _, _, _) = error { true } else { false }
                }
            }
        }
    }
}

/// A store over an engine that does to other records what it was asked to do to some.
struct LyingBatches: DataStoreConfiguration {
    typealias Store = LyingBatchStore
    enum Lie: CaseIterable { case none, dropsConjunct, losesRecord, doesNothing, countsWrong }

    let lie: Lie
    var name = "lying"
    var schema: Schema?
    init(_ lie: Lie) { self.lie = lie }
}

final class LyingBatchStore: EngineDataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: LyingBatches
    let schema: Schema
    let engine: Engine
    var allowsSave: Bool { true }

    init(_ configuration: LyingBatches, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        engine = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: "lying")))
    }

    func execute(_ batch: StoreBatch) throws -> StoreBatchResult {
        guard case .query(var query) = batch.selection else { return try engine.execute(batch) }
        var batch = batch
        let honest = query.conjuncts.count
        switch configuration.lie {
        case .none: break
        case .dropsConjunct:
            query.conjuncts = []
            batch.selection = .query(query)
        case .losesRecord:
            query.conjuncts += StoreQuery("", conjuncts: [.constant(.bool(honest == 0))]).conjuncts
            batch.selection = .query(query)
        case .doesNothing: return StoreBatchResult(count: 2)
        case .countsWrong:
            var result = try engine.execute(batch)
            result.count += 1
            return result
        }
        var result = try engine.execute(batch)
        if configuration.lie != .none { result.count = 2 }
        return result
    }
}

final class Guard: PersistentModel {
    var persistentBackingData: any BackingData<Guard> = Guard.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Guard.name),
            .init(
                name: "wards", keypath: \Guard.wards,
                metadata: Schema.Relationship(deleteRule: .deny, inverse: \Ward.guardian)),
        ]
    }
    init(backingData: any BackingData<Guard>) { persistentBackingData = backingData }
    init(name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var wards: [Ward] {
        get { getValue(forKey: \.wards) }
        set { setValue(forKey: \.wards, to: newValue) }
    }
}

final class Ward: PersistentModel {
    var persistentBackingData: any BackingData<Ward> = Ward.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "name", keypath: \Ward.name), .init(name: "guardian", keypath: \Ward.guardian)]
    }
    init(backingData: any BackingData<Ward>) { persistentBackingData = backingData }
    init(name: String, guardian: Guard?) {
        self.name = name
        self.guardian = guardian
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var guardian: Guard? {
        get { getValue(forKey: \.guardian) }
        set { setValue(forKey: \.guardian, to: newValue) }
    }
}
