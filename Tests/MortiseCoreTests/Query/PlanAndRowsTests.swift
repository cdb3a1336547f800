import Foundation
import Logging
import MortiseCore
import MortiseInMemory
import Synchronization
import Testing

/// For typical queries, the plan as text beside the rows that it gave.
@Suite struct PlanAndRowsTests {
    private func library(_ configuration: any DataStoreConfiguration = InMemoryConfiguration("books")) throws
        -> ModelContext
    {
        let container = try ModelContainer(
            for: Schema([Author.self, Book.self, Shelf.self]), configurations: [configuration])
        container.verifiesPushDown = true
        let context = ModelContext(container)
        let lem = Author(name: "Lem", born: 1921)
        for (title, pages) in [("Solaris", 204), ("Fiasco", 322), ("Eden", 272)] {
            context.insert(Book(title: title, pages: pages, author: lem))
        }
        context.insert(Book(title: "Beowulf", genre: .poem, pages: 120))
        try context.save()
        return context
    }

    private func check(
        _ context: ModelContext, _ descriptor: FetchDescriptor<Book>, finds titles: [String], by plan: String,
        location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try context.fetch(descriptor).map(\.title) == titles, sourceLocation: location)
        #expect(try context.explain(descriptor).description == plan, sourceLocation: location)
    }

    private var longByLem: FetchDescriptor<Book> {
        var descriptor = FetchDescriptor<Book>(
            predicate: #Predicate { $0.pages > 250 && $0.author?.name == "Lem" },
            sortBy: [SortDescriptor(\.pages, order: .reverse)])
        descriptor.fetchLimit = 1
        return descriptor
    }

    @Test func pushed() throws {
        try check(
            library(), longByLem, finds: ["Fiasco"],
            by: """
                fetch Book from books: scan of all rows
                  pushed: pages > 250
                  pushed: author.name == "Lem"
                  sort (pushed): pages descending
                  window (pushed): offset 0, limit 1
                  4 rows scanned, 1 returned, full scan
                """)
    }

    @Test func residual() throws {
        try check(
            library(PlainConfiguration()), longByLem, finds: ["Fiasco"],
            by: """
                fetch Book from plain: all records
                  residual: pages > 250
                  residual: author.name == "Lem"
                  sort (in memory): pages descending
                  window (in memory): offset 0, limit 1
                  4 rows scanned, 1 returned, full scan
                """)
        try check(
            library(ClaimingConfiguration(.equality)),
            FetchDescriptor(predicate: #Predicate { $0.title == "Eden" && $0.pages > 0 }), finds: ["Eden"],
            by: """
                fetch Book from claiming: claims equality
                  pushed: title == "Eden"
                  residual: pages > 0
                  4 rows scanned, 1 returned
                """)
    }

    @Test func rechecked() throws {
        try check(
            library(ClaimingConfiguration(.superset)), FetchDescriptor(predicate: #Predicate { $0.title == "Eden" }),
            finds: ["Eden"],
            by: """
                fetch Book from claiming: claims superset
                  rechecked: title == "Eden"
                  4 rows scanned, 1 returned
                """)
    }

    @Test func onModels() throws {
        let descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 200 && $0.shout == "EDEN" })
        let context = try library()
        #expect(try context.fetch(descriptor).map(\.title) == ["Eden"])
        let found = try context.explain(descriptor)
        #expect(found.conjuncts.map(\.status) == [.pushed, .onModels])
        #expect(found.conjuncts[1].text.hasPrefix("code("))
        // Why, and no address of a getter.
        #expect(found.conjuncts[1].text.contains("is not a persisted property"))
        #expect(!found.conjuncts[1].text.contains("0x"))
        #expect(found.rowsScanned == 4 && found.rowsReturned == 1)
    }

    @Test func codeMakesTheWindowWait() throws {
        var descriptor = FetchDescriptor<Book>(predicate: #Predicate { $0.shout != "EDEN" })
        descriptor.fetchLimit = 2
        let context = try library()
        #expect(try context.fetch(descriptor).map(\.title) == ["Solaris", "Fiasco"])
        #expect(try !context.explain(descriptor).windowIsPushed)
    }

    @Test func mergedWithUnsavedChanges() throws {
        let context = try library()
        let eden = try #require(
            try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == "Eden" })).first)
        eden.pages = 999
        try check(
            context, longByLem, finds: ["Eden"],
            by: """
                fetch Book from books: scan of all rows
                  pushed: pages > 250
                  residual: author.name == "Lem"
                  sort (in memory): pages descending
                  window (in memory): offset 0, limit 1
                  merged with unsaved changes
                  4 rows scanned, 1 returned, full scan
                """)
    }

    // MARK: Full scans

    @Test func aRefusedScanNamesItsConditions() throws {
        let context = try library()
        let long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 250 })
        context.container.fullScanPolicy = .refuse
        let error = try #require(throws: QueryPlanError.self) { try context.fetch(long) }
        #expect(
            error
                == .fullScanRefused(
                    entity: "Book",
                    causes: [
                        FullScanCause(
                            conjunct: "pages > 250", reason: .notIndexed(declaration: #"#Index<Book>([\.pages])"#))
                    ], suggestion: #"#Index<Book>([\.pages])"#)
        )
        #expect("\(error)".contains(#"pages > 250 has no index (declare #Index<Book>([\.pages]))"#))
        #expect(throws: QueryPlanError.self) { try context.fetchCount(long) }
        #expect(throws: QueryPlanError.self) { try context.fetchIdentifiers(long) }
        // Everything without conditions is no accident.
        #expect(try context.fetch(FetchDescriptor<Book>()).count == 4)
    }

    @Test func aRefusalSaysOfEachConditionWhyItIsNoHelp() throws {
        let context = try library()
        context.fullScanPolicy = .refuse
        func causes(
            _ predicate: Predicate<Book>?, limit: Int? = nil, in context: ModelContext
        ) throws -> [FullScanCause] {
            var descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\Book.pages)])
            descriptor.fetchLimit = limit
            do {
                _ = try context.fetch(descriptor)
            } catch QueryPlanError.fullScanRefused(_, let causes, _) {
                return causes
            }
            return []
        }
        let found = try causes(#Predicate { $0.pages + 1 > 250 && $0.title.starts(with: "E") }, in: context)
        #expect(
            found.map(\.reason) == [.notIndexable, .notIndexed(declaration: #"#Index<Book>([\.title])"#)])
        #expect(found.map { $0.conjunct?.prefix(5) } == ["(page", "title"])
        #expect(try causes(#Predicate { $0.shout == "EDEN" }, in: context).map(\.reason) == [.onModels])
        #expect(try causes(nil, limit: 2, in: context) == [FullScanCause(conjunct: nil, reason: .limit)])
        let plain = try library(PlainConfiguration())
        plain.fullScanPolicy = .refuse
        #expect(
            try causes(#Predicate { $0.title == "Eden" }, in: plain) == [
                FullScanCause(conjunct: #"title == "Eden""#, reason: .leftToFramework)
            ])
    }

    @Test func theRequestOutranksTheContextAndThatTheContainer() throws {
        let context = try library()
        var long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 250 })
        context.container.fullScanPolicy = .refuse
        context.fullScanPolicy = .allow
        #expect(try context.fetch(long).count == 2)
        long.fullScanPolicy = .refuse
        #expect(throws: QueryPlanError.self) { try context.fetch(long) }
        context.fullScanPolicy = .refuse
        long.fullScanPolicy = .allow
        #expect(try context.fetch(long).count == 2)
        context.fullScanPolicy = nil
        long.fullScanPolicy = nil
        #expect(throws: QueryPlanError.self) { try context.fetch(long) }
    }

    @Test func storesOfEveryShapeObeyTheRefusal() throws {
        let long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 250 })
        for configuration in [PlainConfiguration(), ScanningConfiguration()] as [any DataStoreConfiguration] {
            let context = try library(configuration)
            context.fullScanPolicy = .refuse
            #expect(throws: QueryPlanError.self) { try context.fetch(long) }
            #expect(throws: QueryPlanError.self) { try context.fetchCount(long) }
        }
    }

    @Test func aStoreOfApplesShapeIsNotAskedForWhatIsRefused() throws {
        let context = try library(PlainConfiguration())
        let store = try #require(context.container.store(PlainStore.self))
        let before = store.fetches
        context.fullScanPolicy = .refuse
        let long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 250 })
        var first = FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)])
        first.fetchLimit = 1
        #expect(throws: QueryPlanError.self) { try context.fetch(long) }
        #expect(throws: QueryPlanError.self) { try context.fetchCount(long) }
        #expect(throws: QueryPlanError.self) { try context.fetch(first) }
        context.insert(Book(title: "new"))
        #expect(throws: QueryPlanError.self) { try context.fetch(long) }
        #expect(store.fetches == before)
    }

    @Test func aWarningTellsHowManyRowsItTook() throws {
        let context = try library()
        let log = LogRecorder()
        context.container.logger = Logger(label: "test") { _ in log }
        let long = FetchDescriptor<Book>(predicate: #Predicate { $0.pages > 250 })
        context.container.fullScanPolicy = .warn(above: 4)
        #expect(try context.fetch(long).count == 2)
        #expect(log.lines.isEmpty)
        context.container.fullScanPolicy = .warn(above: 3)
        #expect(try context.fetch(long).count == 2)
        #expect(
            log.lines == [
                "warning full scan [conjuncts: 1, entity: Book, plan: scan of all rows, scanned: 4, suggestion: #Index<Book>([\\.pages])]"
            ])
    }
}

/// Remembers what was logged.
final class LogRecorder: LogHandler, Sendable {
    private let recorded = Mutex<[String]>([])
    var lines: [String] { recorded.withLock { $0 } }

    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        recorded.withLock { $0.append("\(event.level) \(event.message) [\(details.joined(separator: ", "))]") }
    }
}
