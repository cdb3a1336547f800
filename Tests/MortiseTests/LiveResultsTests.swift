import CustomStore
import Foundation
import Mortise
import Testing

@testable import MortiseCore

@Model private final class LiveSkipper {
    #Unique<LiveSkipper>([\.name])
    var name: String
    var rank: Int = 0
    @Relationship(deleteRule: .cascade, inverse: \LiveYacht.skipper) var yachts: [LiveYacht] = []
    init(_ name: String, rank: Int = 0) {
        self.name = name
        self.rank = rank
    }
}

@Model private final class LiveYacht {
    var name: String
    var skipper: LiveSkipper?
    init(_ name: String) { self.name = name }

    /// Code, so that its results are fetched again after each change.
    var length: Int { name.count }
}

/// Live results of a context: unsaved changes, saves of others, and what undoes them.
@Suite struct LiveResultsTests {
    enum Store: String, CaseIterable, Sendable { case memory, csv }

    private let folder: Folder
    init() throws { folder = try Folder() }

    private func container(_ store: Store = .memory) throws -> ModelContainer {
        let schema = Schema([LiveSkipper.self, LiveYacht.self])
        switch store {
        case .memory: return try ModelContainer(for: schema, configurations: [InMemoryConfiguration()])
        case .csv:
            try FileManager.default.createDirectory(atPath: folder.path("csv"), withIntermediateDirectories: true)
            return try ModelContainer(
                for: schema, configurations: [CSVConfiguration(folder: URL(fileURLWithPath: folder.path("csv")))])
        }
    }

    private func yachts(_ context: ModelContext, _ filter: Predicate<LiveYacht>? = nil) throws -> ResultsObserver<
        LiveYacht, Never
    > {
        try ResultsObserver(filterBy: filter, sortBy: [SortDescriptor(\.name)], modelContext: context)
    }

    /// Bug: an undo told live results nothing of the models that it took out and brought back.
    @Test(arguments: Store.allCases) func whatAnUndoTakesOutAndBringsBackIsFollowed(_ store: Store) throws {
        let context = ModelContext(try container(store))
        context.undoPolicy.recordsWithoutManager = true
        let observer = try yachts(context)
        func shows(_ names: [String]) -> Bool {
            context.processPendingChanges()
            return observer.results.map(\.name) == names
        }
        let yacht = LiveYacht("a")
        context.withUndoGroup { context.insert(yacht) }
        #expect(shows(["a"]))
        try context.undo()
        #expect(shows([]))
        try context.redo()
        #expect(shows(["a"]))
        try context.save()
        context.withUndoGroup { context.delete(yacht) }
        #expect(shows([]))
        try context.undo()
        #expect(shows(["a"]))
        try context.redo()
        try context.save()
        try context.undo()
        #expect(shows(["a"]))
        try context.save()
        #expect(shows(["a"]))
        try context.undo()
        #expect(shows([]))
    }

    /// Bug: unsaved models kept the place that a related record gave them after others had deleted it.
    @Test func unsavedModelsOfARecordThatOthersDeleteAreTestedAgain() throws {
        let container = try container()
        let (context, other) = (ModelContext(container), ModelContext(container))
        let skippers = ["a", "b", "c"].map { LiveSkipper($0) }
        for skipper in skippers { context.insert(skipper) }
        try context.save()
        for (place, name) in ["x", "y", "z", "u", "v", "w"].enumerated() {
            let yacht = LiveYacht(name)
            context.insert(yacht)
            yacht.skipper = skippers[place % 3]
        }
        let order = [SortDescriptor(\LiveYacht.skipper?.name), SortDescriptor(\.name)]
        let observer = try ResultsObserver<LiveYacht, Never>(sortBy: order, modelContext: context)
        #expect(observer.results.map(\.name) == ["u", "x", "v", "y", "w", "z"])
        for skipper in try other.fetch(FetchDescriptor<LiveSkipper>(predicate: #Predicate { $0.name == "c" })) {
            other.delete(skipper)
        }
        try other.save()
        let fetched = try context.fetch(FetchDescriptor<LiveYacht>(sortBy: order)).map(\.name)
        #expect(fetched.prefix(2) == ["w", "z"])
        #expect(observer.results.map(\.name) == fetched)
    }

    /// Bug: a record that an undo had brought back under its old identifier was not found by queries that go through a
    /// relationship to it, nor by `registeredModel(for:)`, until it was saved.
    @Test func whatHasComeBackUnderItsOldIdentifierIsFound() throws {
        let context = ModelContext(try container())
        context.undoPolicy.recordsWithoutManager = true
        let (skipper, yacht) = (LiveSkipper("s"), LiveYacht("a"))
        skipper.yachts = [yacht]
        context.insert(skipper)
        try context.save()
        let identifier = skipper.persistentModelID
        context.withUndoGroup { context.delete(skipper) }
        try context.save()
        try context.undo()
        #expect(skipper.persistentModelID == identifier && yacht.skipper === skipper)
        let found = FetchDescriptor<LiveYacht>(predicate: #Predicate { $0.skipper?.name == "s" })
        #expect(try context.fetch(found).count == 1)
        #expect(context.registeredModel(for: identifier) as LiveSkipper? === skipper)
        let observer = try yachts(context, found.predicate)
        skipper.name = "t"
        context.processPendingChanges()
        #expect(observer.results.isEmpty)
    }

    /// Bug: the survivor of an upsert was taken for the new model, and so neither tested again nor told.
    @Test(arguments: Store.allCases) func theSurvivorOfAnUpsertIsLookedAtAgain(_ store: Store) throws {
        let context = ModelContext(try container(store))
        context.insert(LiveSkipper("s"))
        try context.save()
        let observer = try ResultsObserver<LiveSkipper, Never>(
            filterBy: #Predicate { $0.rank == 1 }, modelContext: context)
        let all = try ResultsObserver<LiveSkipper, Never>(modelContext: context)
        var told: [ResultsChange] = []
        all.onChange = { told.append($0) }
        context.insert(LiveSkipper("s", rank: 1))
        context.processPendingChanges()
        #expect(all.results.count == 2)
        try context.save()
        #expect(observer.results.map(\.rank) == [1] && all.results.map(\.rank) == [1])
        #expect(told.last?.removed.map(\.index) == [1] && told.last?.renamed == [])
        #expect(told.last?.updated.map(\.new) == [0])
    }

    /// Bug: the sections of results that are fetched again had unsaved titles, though unsaved changes did not count.
    @Test func unsavedTitlesMakeNoSectionsWhereUnsavedChangesDoNotCount() throws {
        let context = ModelContext(try container())
        let yacht = LiveYacht("a")
        context.insert(yacht)
        try context.save()
        var descriptor = FetchDescriptor<LiveYacht>(sortBy: [SortDescriptor(\.length)])
        descriptor.includePendingChanges = false
        let observer = try ResultsObserver(fetchDescriptor: descriptor, sectionBy: \.name, modelContext: context)
        #expect(!observer.explanation.isIncremental)
        yacht.name = "b"
        context.insert(LiveYacht("c"))
        context.processPendingChanges()
        #expect(observer.sections?.map(\.title) == ["a"])
        try context.save()
        #expect(observer.sections?.map(\.title) == ["b", "c"])
    }

    /// Bug: what others saved in a store without versions was only followed if the context had read a record of it.
    @Test(arguments: Store.allCases) func anEmptyResultFollowsWhatOthersSave(_ store: Store) throws {
        let container = try container(store)
        let (context, other) = (ModelContext(container), ModelContext(container))
        let observer = try yachts(context)
        other.insert(LiveYacht("a"))
        try other.save()
        try context.refresh()
        #expect(observer.results.map(\.name) == ["a"])
    }

    /// Bug: in a store without versions, what was observed of related models was never told.
    @Test(.timeLimit(.minutes(15)), arguments: Store.allCases)
    func whatIsObservedOfRelatedModelsIsTold(_ store: Store) async throws {
        let container = try container(store)
        let context = ModelContext(container)
        let (skipper, yacht) = (LiveSkipper("s"), LiveYacht("a"))
        yacht.skipper = skipper
        context.insert(yacht)
        context.insert(LiveYacht("b"))
        try context.save()
        let all = FetchDescriptor<LiveYacht>(sortBy: [SortDescriptor(\.name)])
        var changes = context.changes(of: all, observing: [\.skipper?.name]).makeAsyncIterator()
        #expect(try await changes.next(isolation: #isolation)?.newCount == 2)
        skipper.name = "t"
        context.processPendingChanges()
        let change = try await changes.next(isolation: #isolation)
        #expect(change?.updated.map(\.identifier) == [yacht.persistentModelID])
    }

    /// Bug: who waited for the next change of a container that was closed waited for ever.
    @Test(.timeLimit(.minutes(15))) func closingEndsWhatWaits() async throws {
        let container = try container()
        let waiting = Task {
            let context = ModelContext(container)
            context.insert(LiveYacht("a"))
            try context.save()
            var changes = context.changes(of: FetchDescriptor<LiveYacht>()).makeAsyncIterator()
            var count = 0
            while let change = try await changes.next(isolation: #isolation) {
                count += change.newCount
                // It is closed while this task waits, or before.
                Task { try container.close() }
            }
            return count
        }
        await #expect(throws: ModelContextError.containerClosed) { try await waiting.value }
    }

    /// Bug: unsaved models of which the last observer was not told before it went were there for as long as the context.
    @Test func whatTheLastObserverWasNotToldIsLetGo() throws {
        let context = ModelContext(try container())
        weak var yacht: LiveYacht?
        do {
            let observer = try yachts(context)
            let new = LiveYacht("a")
            yacht = new
            context.insert(new)
            #expect(observer.results.isEmpty)
        }
        context.rollback()
        #expect(yacht == nil)
    }

    /// Bug: a row that was changed where the query does not look was not tested again for what changed with it in related records.
    @Test func aRowIsTestedForRelatedRecordsThoughItHasChangedItself() throws {
        let context = ModelContext(try container())
        let (skipper, yacht) = (LiveSkipper("s"), LiveYacht("a"))
        yacht.skipper = skipper
        context.insert(yacht)
        try context.save()
        let observer = try ResultsObserver<LiveYacht, Never>(
            filterBy: #Predicate { $0.skipper?.name == "s" }, modelContext: context)
        yacht.name = "b"
        skipper.name = "t"
        context.processPendingChanges()
        #expect(observer.results.isEmpty)
        yacht.name = "c"
        skipper.name = "s"
        context.processPendingChanges()
        #expect(observer.results.map(\.name) == ["c"])
    }
}
