import CustomStore
import Foundation
import Mortise
import MortiseEngine
import Synchronization
import PackageTestSupport
import Testing

@Model private final class Reader {
    @Attribute(.unique) var card: Int
    var name: String
    @Attribute(.preserveValueOnDeletion) var note: String?
    @Relationship(deleteRule: .nullify, inverse: \Loan.reader) var loans: [Loan] = []
    var favourites: [Loan] = []
    init(_ card: Int, _ name: String) {
        self.card = card
        self.name = name
    }
}

@Model private final class Loan {
    var title: String
    var days: Int
    var reader: Reader?
    init(_ title: String, _ days: Int) {
        self.title = title
        self.days = days
    }
}

/// What a follower of a feed knows of the store, from the feed alone.
private final class Mirror: Sendable {
    struct State {
        var records: [PersistentIdentifier: [String: StoredValue]] = [:]
        var numbers: [UInt64] = []
        var authors: Set<String?> = []
        var faults: [String] = []
    }
    let state = Mutex(State())

    func take(_ delivery: ChangeFeed.Delivery) {
        state.withLock { state in
            for changes in delivery.changes { Self.take(changes, &state) }
        }
    }

    private static func take(_ changes: ChangeSet, _ state: inout State) {
        guard let commit = changes.commit else { return state.faults.append("no commit") }
        state.numbers.append(commit.number)
        state.authors.insert(changes.author)
        if changes.isErasure { state.records = [:] }
        for deletion in changes.deleted {
            guard let gone = state.records.removeValue(forKey: deletion.record) else {
                state.faults.append("\(deletion.record) deleted, and unknown")
                continue
            }
            for slot in deletion.preserved.slots {
                let name = deletion.layout.slots[slot].name
                if !deletion.values[slot].isIdentical(to: gone[name] ?? .null) {
                    state.faults.append("\(deletion.record).\(name) at the end")
                }
            }
        }
        for update in changes.updated {
            if state.records[update.record] == nil { state.faults.append("\(update.record) updated, and unknown") }
            for slot in update.slots.slots {
                let name = update.layout.slots[slot].name
                guard let value = update.value(at: slot) else {
                    state.faults.append("\(update.record).\(name) has no value")
                    continue
                }
                if let old = update.oldValue(at: slot),
                    !old.isIdentical(to: state.records[update.record]?[name] ?? .null)
                {
                    state.faults.append("\(update.record).\(name) was not \(old)")
                }
                state.records[update.record]?[name] = value
            }
        }
        if changes.inserted.hasValues {
            for snapshot in changes.inserted.values {
                if snapshot.persistentIdentifier.isTemporary { state.faults.append("a temporary identifier") }
                state.records[snapshot.persistentIdentifier] = Dictionary(
                    uniqueKeysWithValues: zip(snapshot.layout.slots.map(\.name), snapshot.values))
            }
        } else if !changes.inserted.isEmpty {
            state.faults.append("insertions without values")
        }
    }

    /// The records that differ from those of a context, as text.
    /// - Parameter keepsDangling: whether the store leaves references to deleted records behind, which getters pass over.
    func differences(from context: ModelContext, keepsDangling: Bool = false) throws -> [String] {
        var found: [PersistentIdentifier: [String: StoredValue]] = [:]
        for reader in try context.fetch(FetchDescriptor<Reader>()) {
            found[reader.persistentModelID] = [
                "card": .integer(Int64(reader.card)), "name": .string(reader.name),
                "note": reader.note.map { .string($0) } ?? .null,
                "favourites": .identifiers(reader.favourites.map(\.persistentModelID).sorted()),
            ]
        }
        for loan in try context.fetch(FetchDescriptor<Loan>()) {
            found[loan.persistentModelID] = [
                "title": .string(loan.title), "days": .integer(Int64(loan.days)),
                "reader": loan.reader.map { .identifier($0.persistentModelID) } ?? .null,
            ]
        }
        return state.withLock { state in
            var differences = state.faults
            for (record, values) in found {
                guard let known = state.records[record] else {
                    differences.append("\(record) is unknown")
                    continue
                }
                for (name, value) in values {
                    var told = known[name] ?? .null
                    if case .identifiers(let members) = told {
                        let shown = keepsDangling ? members.filter { found[$0] != nil } : members
                        told = .identifiers(shown.sorted())
                    }
                    if told.isNull, case .identifiers([]) = value { continue }
                    if !told.isIdentical(to: value) {
                        differences.append("\(record).\(name): expected \(value), told \(told)")
                    }
                }
            }
            for record in state.records.keys where found[record] == nil {
                differences.append("\(record) is not in the store")
            }
            return differences
        }
    }
}

private enum FedStore: CaseIterable {
    case memory, json, log, shared, csv, quiet

    func container(in folder: Folder) throws -> ModelContainer {
        let url: String
        switch self {
        case .quiet:
            return try ModelContainer(for: Reader.self, Loan.self, configurations: QuietConfiguration())
        case .memory: url = "memory:"
        case .json: url = "json:\(folder.path("library.json"))"
        case .log: url = "log:\(folder.path("library.log"))"
        case .shared: url = "log:\(folder.path("library.log"))?sharing=shared"
        case .csv:
            try FileManager.default.createDirectory(atPath: folder.path("csv"), withIntermediateDirectories: true)
            return try ModelContainer(
                for: Reader.self, Loan.self,
                configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("csv"))))
        }
        return try ModelContainer(for: Reader.self, Loan.self, store: url)
    }
}

private struct QuietConfiguration: DataStoreConfiguration {
    typealias Store = QuietStore
    var name = "quiet"
    var schema: Schema?
}

/// A store of versions that posts nothing, and whose saves are done some time after they began.
private final class QuietStore: EngineDataStore {
    typealias Snapshot = DefaultSnapshot
    let configuration: QuietConfiguration
    let schema: Schema
    let engine: Engine
    let allowsSave = true
    var changeFeed: ChangeFeed? { nil }

    init(_ configuration: QuietConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
        self.configuration = configuration
        self.schema = schema
        engine = Engine(.empty(Catalog(schema: schema.stored, storeIdentifier: "quiet-\(UUID().uuidString)")))
    }

    func beginSave(_ request: DataStoreSaveChangesRequest<DefaultSnapshot>) throws -> DeferredSave? {
        let base = engine.version.number
        if let wanted = request.baseVersion, wanted != base { throw VersionSuperseded() }
        let result = DataStoreSaveChangesResult<DefaultSnapshot>(
            for: identifier, remappedIdentifiers: try save(request).remappedIdentifiers)
        let version = engine.version
        return DeferredSave(result) {
            // So that those that begin one after the other end in any order.
            Thread.sleep(forTimeInterval: version.number % 3 == 0 ? 0.003 : 0)
            return version
        }
    }
}

/// What followers of a store's feed receive.
@Suite struct ChangeFeedTests {
    /// Random saves of two contexts, batches and erasures: the feed alone is enough to know what the store holds.
    @Test(arguments: FedStore.allCases.filter { $0 != .quiet }, 1...2) private func theFeedTellsAllThatTheStoreHolds(
        _ store: FedStore, _ round: Int
    ) throws {
        let seed = testSeed() &+ UInt64(round)
        let folder = try Folder()
        let container = try store.container(in: folder)
        defer { try? container.close() }
        let feed = try #require(container.changeFeeds.values.first)
        let mirror = Mirror()
        let follower = feed.follow { mirror.take($0) }
        defer { follower.cancel() }
        var random = SeededGenerator(seed: seed)
        let contexts = [ModelContext(container), ModelContext(container)]
        contexts[1].author = "other"
        for step in 0..<60 {
            let context = contexts[Int.random(in: 0...1, using: &random)]
            for _ in 0..<Int.random(in: 1...6, using: &random) { try change(context, &random, store) }
            if random.chance(8) { context.rollback() } else { try context.save() }
            if random.chance(20), store != .csv { try container.erase() }
            if step % 15 == 14 {
                feed.settle()
                let differences = try mirror.differences(
                    from: ModelContext(container), keepsDangling: store == .csv)
                #expect(differences == [], "seed \(seed), step \(step)")
            }
        }
        feed.settle()
        let (numbers, authors) = mirror.state.withLock { ($0.numbers, $0.authors) }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(authors.isSuperset(of: [nil, "other"]))
    }

    private func change(_ context: ModelContext, _ random: inout SeededGenerator, _ store: FedStore) throws {
        let readers = try context.fetch(FetchDescriptor<Reader>())
        let loans = try context.fetch(FetchDescriptor<Loan>())
        let number = Int.random(in: 0..<40, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        // Also one with a card that there is: it updates that reader.
        case 0, 1:
            if store != .csv || !readers.contains(where: { $0.card == number }) {
                context.insert(Reader(number, "r\(number)"))
            }
        case 2, 3:
            let loan = Loan("l\(number)", number)
            loan.reader = readers.randomElement(using: &random)
            context.insert(loan)
        case 4: readers.randomElement(using: &random)?.note = random.chance(3) ? nil : "n\(number)"
        case 5: loans.randomElement(using: &random)?.reader = readers.randomElement(using: &random)
        case 6: readers.randomElement(using: &random)?.favourites = loans.filter { _ in random.chance(3) }
        case 7: readers.randomElement(using: &random)?.loans = loans.filter { _ in random.chance(4) }
        case 8: if let loan = loans.randomElement(using: &random) { context.delete(loan) }
        case 9: if random.chance(3), let reader = readers.randomElement(using: &random) { context.delete(reader) }
        case 10:
            try context.save()
            try context.delete(model: Loan.self, where: #Predicate { $0.days == number })
        default:
            try context.save()
            try context.update(Loan.self, where: #Predicate { $0.days > number }) { $0.set(\.title, to: "u\(number)") }
        }
    }

    /// Nothing is told twice, and nothing of a save that failed.
    @Test func aSaveThatFailsIsNotTold() throws {
        let container = try memory(Reader.self, Loan.self)
        let feed = try #require(container.changeFeeds.values.first)
        let mirror = Mirror()
        let follower = feed.follow { mirror.take($0) }
        let context = ModelContext(container)
        context.insert(Reader(1, "a"))
        try context.save()
        try context.save()
        let other = ModelContext(container)
        let stale = try onlyModel(Reader.self, in: other)
        try onlyModel(Reader.self, in: context).name = "b"
        try context.save()
        other.mergePolicy = .error
        stale.name = "c"
        #expect(throws: SaveConflict.self) { try other.save() }
        feed.settle()
        #expect(mirror.state.withLock { $0.numbers } == [1, 2])
        follower.cancel()
        try onlyModel(Reader.self, in: context).name = "d"
        try context.save()
        feed.settle()
        #expect(mirror.state.withLock { $0.numbers } == [1, 2])
        #expect(!feed.isFollowed)
    }

    /// A handler may use the store, and what it saves is told afterwards.
    @Test func aHandlerMaySave() throws {
        let container = try memory(Reader.self, Loan.self)
        let feed = try #require(container.changeFeeds.values.first)
        let seen = Mutex<[UInt64]>([])
        let saved = DispatchSemaphore(value: 0)
        let follower = feed.follow { delivery in
            let numbers = delivery.changes.compactMap { $0.commit?.number }
            seen.withLock { $0 += numbers }
            if numbers == [1] {
                let context = ModelContext(container)
                context.insert(Loan("from the handler", 1))
                try? context.save()
            } else {
                saved.signal()
            }
        }
        let context = ModelContext(container)
        context.insert(Reader(1, "a"))
        try context.save()
        #expect(saved.wait(timeout: .now() + 60) == .success)
        #expect(seen.withLock { $0 } == [1, 2])
        follower.cancel()
    }

    /// Bug: a follower that was released was still called for what was waiting.
    @Test func whoLetsGoOfItsFollowerIsNotCalledAnyMore() throws {
        let container = try memory(Reader.self, Loan.self)
        let feed = try #require(container.changeFeeds.values.first)
        let (calls, began, goesOn) = (Tally(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var follower: ChangeFeed.Follower? = feed.follow { _ in
            calls.add()
            began.signal()
            goesOn.wait()
        }
        let context = ModelContext(container)
        for number in 0..<3 {
            context.insert(Loan("l", number))
            try context.save()
        }
        #expect(began.wait(timeout: .now() + 60) == .success && follower != nil)
        follower = nil
        goesOn.signal()
        feed.settle()
        #expect(calls.count == 1)
        #expect(!feed.isFollowed)
    }

    /// Savers at one time on a log that shares its syncs, and on a store for which the framework posts: the order is that of the
    /// numbers.
    @Test(arguments: [FedStore.log, .quiet]) private func savesAtOnceAreToldInTheOrderOfTheirNumbers(
        _ store: FedStore
    ) async throws {
        let folder = try Folder()
        let container = try store.container(in: folder)
        defer { try? container.close() }
        let feed = try #require(container.changeFeeds.values.first)
        let mirror = Mirror()
        let follower = feed.follow { mirror.take($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for saver in 0..<6 {
                group.addTask {
                    let context = ModelContext(container)
                    for number in 0..<40 {
                        context.insert(Loan("\(saver)", number))
                        try context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        feed.settle()
        #expect(mirror.state.withLock { $0.numbers } == Array(1...240))
        #expect(try mirror.differences(from: ModelContext(container)) == [])
        follower.cancel()
    }

    /// A change set that names very many records comes without values, whoever posts it: what waits for a slow handler is
    /// bounded.
    @Test(arguments: [FedStore.memory, .quiet]) private func changesOfVeryManyRecordsComeWithoutValues(
        _ store: FedStore
    ) throws {
        let folder = try Folder()
        let container = try store.container(in: folder)
        let feed = try #require(container.changeFeeds.values.first)
        let told = Mutex<[ChangeSet]>([])
        let follower = feed.follow { delivery in told.withLock { $0 += delivery.changes } }
        let context = ModelContext(container)
        for extra in [0, 1] {
            try context.insert(Loan.self, from: 0..<(ChangeFeed.valueLimit + extra)) { loan, number in
                try loan.set(\.title, to: "l")
                try loan.set(\.days, to: number)
            }
        }
        feed.settle()
        let sets = told.withLock { $0 }
        #expect(sets.map(\.inserted.hasValues) == [true, false])
        #expect(sets.map(\.count) == [ChangeFeed.valueLimit, ChangeFeed.valueLimit + 1])
        follower.cancel()
    }

    /// Change sets are coded by names, with their values, and come back the same.
    @Test func changesComeBackFromTheirCodedForm() throws {
        let container = try memory(Reader.self, Loan.self)
        let feed = try #require(container.changeFeeds.values.first)
        let told = Mutex<[ChangeSet]>([])
        let follower = feed.follow { delivery in told.withLock { $0 += delivery.changes } }
        let context = ModelContext(container)
        context.author = "clerk"
        let reader = Reader(1, "a")
        let loan = Loan("l", 3)
        loan.reader = reader
        context.insert(loan)
        try context.save()
        reader.note = "n"
        loan.reader = nil
        try context.save()
        context.delete(reader)
        try context.save()
        try container.erase()
        feed.settle()
        follower.cancel()
        let sets = told.withLock { $0 }
        #expect(sets.count == 4)
        let again = try JSONDecoder().decode([ChangeSet].self, from: try JSONEncoder().encode(sets))
        func text(_ sets: [ChangeSet]) -> [String] { sets.map(Self.text) }
        #expect(text(again) == text(sets))
        #expect(again[1].updated.flatMap(\.properties).sorted() == ["note", "reader"])
        #expect(again[2].deleted[0].preserved.slots.map { again[2].deleted[0].layout.slots[$0].name }.contains("note"))
    }

    private static func text(_ changes: ChangeSet) -> String {
        func named(_ layout: RecordLayout, _ values: ContiguousArray<StoredValue>, _ slots: [Int]) -> String {
            values.isEmpty ? "-" : slots.map { "\(layout.slots[$0].name)=\(values[$0])" }.joined(separator: " ")
        }
        var lines = ["\(changes.commit.map { "\($0)" } ?? "-") \(changes.author ?? "-") \(changes.isErasure)"]
        lines += changes.inserted.values.map {
            "+\($0.persistentIdentifier) \(named($0.layout, $0.values, Array($0.values.indices)))"
        }
        lines += changes.updated.map {
            "~\($0.record) \(named($0.layout, $0.values, $0.slots.slots)) was "
                + named($0.layout, $0.oldValues, $0.slots.slots)
        }
        lines += changes.deleted.map { "-\($0.record) \(named($0.layout, $0.values, $0.preserved.slots))" }
        return lines.joined(separator: "\n")
    }
}
