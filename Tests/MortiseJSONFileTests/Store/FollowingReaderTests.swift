import Foundation
import Mortise
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Synchronization
import PackageTestSupport
import Testing

@Model private final class Leaf {
    @Attribute(.unique) var number: Int
    var text: String
    @Attribute(.externalStorage) var picture: Data?
    var branch: Branch?
    @Relationship(inverse: \Mark.leaves) var marks: [Mark] = []
    init(_ number: Int, _ text: String) {
        self.number = number
        self.text = text
    }
}

@Model private final class Branch {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Leaf.branch) var leaves: [Leaf] = []
    @Relationship(inverse: \Branch.below) var above: Branch?
    var below: Branch?
    init(_ name: String) { self.name = name }
}

@Model private final class Mark {
    var name: String
    var leaves: [Leaf] = []
    init(_ name: String) { self.name = name }
}

/// Stores that were opened for reading, while another process writes the file.
@Suite struct FollowingReaderTests {
    private static let path = "/tree.json"
    private let disk = SimulatedFileSystem(seed: 1)

    private func container(_ process: Int32? = nil, as configuration: JSONFileConfiguration? = nil) throws
        -> ModelContainer
    {
        let configuration =
            configuration
            ?? process.map { JSONFileConfiguration(path: Self.path, allowsSave: false, in: disk.process($0)) }
            ?? JSONFileConfiguration(path: Self.path, in: disk)
        let container = try ModelContainer(
            for: Leaf.self, Branch.self, Mark.self, configurations: configuration)
        container.verifiesPushDown = false
        return container
    }

    private func feed(_ container: ModelContainer) throws -> ChangeFeed {
        try #require(container.changeFeeds.values.first)
    }

    /// What the feed of a reader has told.
    private final class Told: Sendable {
        struct State {
            var records: [PersistentIdentifier: [String: StoredValue]] = [:]
            var deliveries = 0
            var numbers: [UInt64] = []
            var faults: [String] = []
        }
        let state = Mutex(State())

        func take(_ delivery: ChangeFeed.Delivery) {
            state.withLock { state in
                state.deliveries += 1
                if !delivery.isRemote { state.faults.append("a delivery that is not remote") }
                for changes in delivery.changes {
                    state.numbers.append(changes.commit?.number ?? 0)
                    for deletion in changes.deleted where state.records.removeValue(forKey: deletion.record) == nil {
                        state.faults.append("\(deletion.record) deleted, and unknown")
                    }
                    for update in changes.updated {
                        for slot in update.slots.slots {
                            let name = update.layout.slots[slot].name
                            let known = state.records[update.record]?[name] ?? .null
                            if update.oldValue(at: slot)?.isIdentical(to: known) != true {
                                state.faults.append("\(update.record).\(name) was not \(known)")
                            }
                            state.records[update.record]?[name] = update.value(at: slot)
                        }
                    }
                    for snapshot in changes.inserted.values {
                        state.records[snapshot.persistentIdentifier] = Dictionary(
                            uniqueKeysWithValues: zip(snapshot.layout.slots.map(\.name), snapshot.values))
                    }
                }
            }
        }

        func differences(from version: any StoreVersion, _ schema: StoredSchema) throws -> [String] {
            let (records, faults) = state.withLock { ($0.records, $0.faults) }
            var differences = faults
            var count = 0
            let layouts = schema.recordLayouts()
            for entity in schema.entities {
                guard let rows = version.rows(ofEntity: entity.name), let layout = layouts[entity.name] else {
                    continue
                }
                for row in 0..<rows.endRow where rows.contains(row: row) {
                    count += 1
                    let record = rows.identifier(ofRow: row)
                    for (slot, description) in layout.slots.enumerated() where description.role != .toManyDerived {
                        let value = try rows.readValue(row: row, slot: slot)
                        let told = records[record]?[description.name] ?? .null
                        if !told.isIdentical(to: value) {
                            differences.append("\(record).\(description.name): expected \(value), told \(told)")
                        }
                    }
                }
            }
            if count != records.count { differences.append("expected \(count) records, told \(records.count)") }
            return differences
        }
    }

    /// Random saves of a writer: the reader's models, its answers and its feed are as what a new opening reads.
    @Test(arguments: 1...6) func aReaderKnowsWhatTheWriterHasSaved(_ round: Int) throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let writer = try container()
        let context = ModelContext(writer)
        try writer.erase()
        context.insert(Branch("first"))
        try context.save()
        context.delete(try #require(try context.fetch(FetchDescriptor<Branch>()).first))
        try context.save()
        let reader = try container(300)
        let told = Told()
        let follower = try feed(reader).follow { told.take($0) }
        let reading = ModelContext(reader)
        var kept: [any PersistentModel] = []
        for step in 0..<40 {
            for _ in 0..<Int.random(in: 1...4, using: &random) { try change(context, &random) }
            try context.save()
            if random.chance(12) { try writer.erase() }
            kept += try reading.fetch(FetchDescriptor<Leaf>())
            kept += try reading.fetch(FetchDescriptor<Branch>())
            kept += try reading.fetch(FetchDescriptor<Mark>())
            let fresh = try container(301)
            let there = ModelContext(fresh)
            for model in kept where model.modelContext != nil {
                let stored = try Self.stored(model, in: there)
                #expect(Self.text(model) == stored, "seed \(seed), step \(step)")
            }
            #expect(try reading.fetchCount(FetchDescriptor<Leaf>()) == there.fetchCount(FetchDescriptor<Leaf>()))
            try fresh.close()
        }
        let store = try #require(reader.store(JSONFileStore.self))
        try feed(reader).settle()
        #expect(
            try told.differences(from: store.currentVersion, store.schema.stored) == [], "seed \(seed)")
        let (numbers, deliveries) = told.state.withLock { ($0.numbers, $0.deliveries) }
        #expect(numbers == numbers.indices.map { UInt64($0) + 1 } && deliveries >= 10)
        follower.cancel()
        try reader.close()
        try writer.close()
    }

    private func change(_ context: ModelContext, _ random: inout SeededGenerator) throws {
        let leaves = try context.fetch(FetchDescriptor<Leaf>())
        let branches = try context.fetch(FetchDescriptor<Branch>())
        let marks = try context.fetch(FetchDescriptor<Mark>())
        let number = Int.random(in: 0..<30, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: context.insert(Branch("b\(number)"))
        case 1, 2:
            let leaf = Leaf(number, "l\(number)")
            leaf.branch = branches.randomElement(using: &random)
            context.insert(leaf)
        case 3: context.insert(Mark("m\(number)"))
        case 4: leaves.randomElement(using: &random)?.text = "t\(number)"
        case 5:
            leaves.randomElement(using: &random)?.picture =
                random.chance(3) ? nil : Data(repeating: UInt8(number), count: 200_000)
        case 6: leaves.randomElement(using: &random)?.branch = branches.randomElement(using: &random)
        case 7: leaves.randomElement(using: &random)?.marks = marks.filter { _ in random.chance(2) }
        case 8: branches.randomElement(using: &random)?.below = branches.randomElement(using: &random)
        default:
            if random.chance(2), let branch = branches.randomElement(using: &random) {
                context.delete(branch)
            } else if let leaf = leaves.randomElement(using: &random) {
                context.delete(leaf)
            }
        }
    }

    private static func stored<T: PersistentModel>(_ model: T, in context: ModelContext) throws -> String {
        text(try context.existingModel(for: model.persistentModelID, as: T.self))
    }

    private static func text(_ model: any PersistentModel) -> String {
        func names(_ models: [any PersistentModel]) -> String { "\(models.map(\.persistentModelID).sorted())" }
        return switch model {
        case let leaf as Leaf:
            "\(leaf.number) \(leaf.text) \(leaf.picture?.first ?? 0) \(names(leaf.branch.map { [$0] } ?? [])) "
                + names(leaf.marks)
        case let branch as Branch:
            "\(branch.name) \(names(branch.leaves)) \(names([branch.above, branch.below].compactMap { $0 }))"
        case let mark as Mark: "\(mark.name) \(names(mark.leaves))"
        default: "unknown"
        }
    }

    /// Waits for what a file has to stay at fault for.
    private func error(of body: () throws -> Void) -> (any Error)? {
        let end = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < end {
            do {
                try body()
            } catch {
                return error
            }
            // The file's patience is asked, and nothing announces its end.
            Thread.sleep(forTimeInterval: 0.02)
        }
        return nil
    }

    private enum Fault: CaseIterable {
        case halfWritten, otherStore, deleted, lowerNumbers, newerSchema
    }

    /// What is no later state of the file leaves what is known, is told once, and is passed over when the file is right again.
    @Test(arguments: Fault.allCases) private func aFileThatCannotBeFollowedIsToldOnce(_ fault: Fault) throws {
        let writer = try container()
        let context = ModelContext(writer)
        context.insert(Leaf(1, "one"))
        context.insert(Leaf(2, "two"))
        try context.save()
        try writer.close()
        let good = try #require(disk.contents(at: Self.path))
        let reader = try container(300)
        let events = Mutex<[StoreEvent]>([])
        reader.store(JSONFileStore.self)?.reportEvents { event in events.withLock { $0.append(event) } }
        let reading = ModelContext(reader)
        let leaves = try reading.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.number)]))
        #expect(leaves.map(\.text) == ["one", "two"])
        func install(_ bytes: [UInt8]) throws {
            try disk.install(bytes, at: "/new.json")
            try disk.rename("/new.json", to: Self.path)
        }
        func edited(_ body: (inout String) -> Void) throws -> [UInt8] {
            var text = String(decoding: good, as: UTF8.self)
            let before = text
            body(&text)
            #expect(text != before)
            try disk.install(Array(text.utf8), at: "/edited.json")
            try JSONFileStore.reseal("/edited.json", in: disk)
            return disk.contents(at: "/edited.json") ?? []
        }
        switch fault {
        case .halfWritten: try install(Array(good.prefix(good.count / 2)))
        case .deleted: try disk.unlink(Self.path)
        case .otherStore:
            let other = try container(as: JSONFileConfiguration(path: "/other.json", in: disk))
            let there = ModelContext(other)
            there.insert(Leaf(7, "other"))
            try there.save()
            try other.close()
            try install(disk.contents(at: "/other.json") ?? [])
        case .lowerNumbers:
            // The first record is gone and comes again.
            let again = try container()
            let there = ModelContext(again)
            there.delete(try #require(try there.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.number)])).first))
            try there.save()
            try again.close()
            #expect(try reading.fetchCount(FetchDescriptor<Leaf>()) == 1)
            try install(good)
        case .newerSchema:
            try install(try edited { $0.replace("\"version\": \"1.0.0\"", with: "\"version\": \"2.0.0\"") })
        }
        let found = error { _ = try reading.fetch(FetchDescriptor<Leaf>()) }
        switch fault {
        case .halfWritten: #expect(found is JSONFileError)
        case .deleted, .otherStore: #expect(found is FileError)
        case .lowerNumbers: #expect(found is EngineError)
        case .newerSchema: #expect(found is MigrationError)
        }
        #expect(events.withLock { $0.count { if case .readerLeftBehind = $0 { true } else { false } } } == 1)
        let known = fault == .lowerNumbers ? ["two"] : ["one", "two"]
        #expect(try reading.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.number)])).map(\.text) == known)
        #expect(leaves.map(\.text) == ["one", "two"])
        if fault == .lowerNumbers { return }
        try install(good)
        let again = try container()
        let there = ModelContext(again)
        try there.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.number)])).first?.text = "three"
        try there.save()
        #expect(
            try reading.fetch(FetchDescriptor<Leaf>(sortBy: [SortDescriptor(\.number)])).map(\.text) == [
                "three", "two",
            ])
        #expect(leaves.map(\.text) == ["three", "two"])
        try again.close()
    }

    /// An editor that writes in place: what it leaves for a moment is nobody's error.
    @Test func aFileThatIsIncompleteForAMomentIsNoError() throws {
        let writer = try container()
        let context = ModelContext(writer)
        context.insert(Leaf(1, "one"))
        try context.save()
        try writer.close()
        let good = try #require(disk.contents(at: Self.path))
        let reading = ModelContext(try container(300))
        #expect(try reading.fetchCount(FetchDescriptor<Leaf>()) == 1)
        for length in stride(from: 10, to: good.count, by: 100) {
            try disk.install(Array(good.prefix(length)), at: Self.path)
            #expect(try reading.fetch(FetchDescriptor<Leaf>()).map(\.text) == ["one"])
        }
        try disk.install(good, at: Self.path)
        #expect(try reading.fetch(FetchDescriptor<Leaf>()).map(\.text) == ["one"])
    }

    /// Bug: what the system had refused once was looked at again only when the writer had saved once more.
    @Test func aFileThatCouldNotBeOpenedForAMomentIsFollowed() throws {
        let writing = ModelContext(try container())
        writing.insert(Leaf(1, "one"))
        try writing.save()
        let readersDisk = disk.process(7)
        let reading = try container(as: JSONFileConfiguration(path: Self.path, allowsSave: false, in: readersDisk))
        let all = FetchDescriptor<Leaf>(predicate: #Predicate { $0.number > 0 })
        #expect(try ModelContext(reading).fetchCount(all) == 1)
        writing.insert(Leaf(2, "two"))
        try writing.save()
        readersDisk.inject(.fail(.processFiles), of: .open)
        #expect(try ModelContext(reading).fetchCount(all) == 1)
        // Not at once, but without another save.
        let end = ContinuousClock.now + .seconds(60)
        var count = 1
        while count == 1, ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: 0.01)
            // The error of a file that stays so for a while is thrown by one fetch.
            count = (try? ModelContext(reading).fetchCount(all)) ?? 1
        }
        #expect(count == 2)
    }

    /// On a real disk the system tells of the save: nobody fetches.
    @Test func theSystemTellsOfASave() throws {
        let folder = try StoreFolder()
        try folder.fill("one")
        let reader = try folder.open(allowsSave: false)
        let feed = try #require(reader.changeFeeds.values.first)
        let told = DispatchSemaphore(value: 0)
        let follower = feed.follow { delivery in
            if delivery.isRemote, delivery.changes.contains(where: { $0.inserted.count == 1 }) { told.signal() }
        }
        let heard = DispatchSemaphore(value: 0)
        let observer = NotificationCenter.default.addObserver(
            forName: ModelContainer.remoteChange, object: reader, queue: nil
        ) { _ in heard.signal() }
        defer { NotificationCenter.default.removeObserver(observer) }
        // In place of another process: the file cannot be open here for writing as well.
        let copy = folder.path + ".copy"
        try FileManager.default.copyItem(atPath: folder.path, toPath: copy)
        let writer = try ModelContainer(
            for: Schema([Original.Note.self]), configurations: [JSONFileConfiguration(path: copy)])
        let context = ModelContext(writer)
        context.insert(Original.Note(title: "two"))
        try context.save()
        try writer.close()
        try POSIXFileSystem().rename(copy, to: folder.path)
        #expect(told.wait(timeout: .now() + 60) == .success)
        #expect(heard.wait(timeout: .now() + 60) == .success)
        follower.cancel()
        try reader.close()
    }
}
