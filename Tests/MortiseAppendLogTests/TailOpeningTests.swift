import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Logs that are opened with a tail behind their checkpoint.
struct TailOpeningTests {
    private static let checkpointPath = logPath + ".checkpoint"

    /// A log of `count` boxes with two items each, and a checkpoint of it.
    private func makeLog(_ boxes: Int, on disk: SimulatedFileSystem) throws {
        let configuration = logConfiguration(disk)
        try withLog(configuration) { context in
            for number in 0..<boxes {
                let box = Box("box \(number)")
                context.insert(box)
                for place in 0..<2 { context.insert(Item("item \(number) \(place)", count: number, box: box)) }
            }
            try context.save()
        }
        let store = try openStore(configuration)
        try store.checkpoint()
        try store.close()
    }

    private func box(_ label: String, in context: ModelContext) throws -> Box? {
        try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == label })).first
    }

    // MARK: Reading little

    /// One in a hundred records changed, some deleted and some new, all over the store.
    @Test func openingAndOneLookUpReadTheSameFewBytesWhateverTheTail() throws {
        var bytes: [Int] = []
        for (boxes, changes) in [(1_000, 10), (1_000, 200), (8_000, 80)] {
            let disk = try makeDisk()
            try makeLog(boxes, on: disk)
            try withLog(logConfiguration(disk)) { context in
                let step = boxes / changes
                let all = try context.fetch(FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label)]))
                for number in stride(from: 0, to: boxes, by: step) {
                    let box = all[number]
                    box.label = "new \(box.label)"
                    box.items.first?.name = "new item"
                    if number % (step * 4) == 0 { box.items.last?.box = all[number + 1] }
                    if number % (step * 5) == 0, let item = box.items.last { context.delete(item) }
                    if number % (step * 7) == 0 { context.insert(Item("more", box: box)) }
                }
                try context.save()
            }
            let counted = CountingFileSystem(disk, of: Self.checkpointPath)
            let container = try openLog(logConfiguration(counted))
            // Comparing each answer with that of a full scan would read everything.
            container.verifiesPushDown = false
            let opened = counted.bytes
            let context = ModelContext(container)
            #expect(try box("box 999", in: context)?.label == "box 999")
            #expect(try box("nowhere", in: context) == nil)
            #expect(try context.fetchCount(FetchDescriptor<Box>()) == boxes)
            bytes.append(counted.bytes)
            try container.close()
            #expect(opened < 100 << 10, "\(opened) bytes for opening \(boxes)")
        }
        let whole = bytes.max() ?? 0
        #expect(whole < 200 << 10 && whole < 3 * (bytes.min() ?? 0), "\(bytes)")
    }

    // MARK: Answers

    private func answers(_ context: ModelContext, _ random: inout TestGenerator) throws -> [String] {
        var found: [String] = []
        let boxes = random.pick([1, 40, 130])
        let label = "box \(boxes)"
        let low = random.below(150)
        var steps: [(inout TestGenerator) throws -> [String]] = [
            { _ in
                ["\(try context.fetchCount(FetchDescriptor<Box>())) \(try context.fetchCount(FetchDescriptor<Item>()))"]
            },
            { _ in
                try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == label })).map {
                    "\($0.persistentModelID) \($0.items.map(\.name).sorted())"
                }
            },
            { _ in try context.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label > label })).map(\.label) },
            { _ in ["\(try context.fetchCount(FetchDescriptor<Box>(predicate: #Predicate { $0.label <= label })))"] },
            { _ in
                var page = FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label, order: .reverse)])
                (page.fetchLimit, page.fetchOffset) = (7, low)
                return try context.fetch(page).map(\.label)
            },
            { _ in
                try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.box?.label == label })).map(\.name)
            },
            { _ in
                try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { ($0.count ?? 0) >= low })).map(\.name)
            },
            { _ in try context.fetchIdentifiers(FetchDescriptor<Item>()).map { "\($0)" } },
            { _ in try contents(context) },
            { _ in
                try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).map {
                    "\($0.transactionIdentifier) \($0.changes.count)"
                }
            },
        ]
        steps = steps.enumerated().map { $0.element }
        // All in one order, so that the answers of two stores can be compared; which order that is differs from time to time.
        let order = Array(steps.indices).shuffled(using: &random)
        for index in order { found.append("\(index): \(try steps[index](&random))") }
        return found
    }

    @Test(arguments: 0..<(isFullSize ? 20 : 3)) func everyAnswerIsThatOfTheLogAlone(round: Int) throws {
        let seed = testSeed() &+ UInt64(round)
        var random = TestGenerator(seed: seed)
        let disk = try makeDisk(seed: seed)
        try makeLog(150, on: disk)
        for step in 0..<6 {
            let copy = random
            let alone = try makeDisk(with: try #require(disk.contents(at: logPath)))
            let expected = try withLog(logConfiguration(alone)) { context in
                var other = copy
                return try answers(context, &other)
            }
            let container = try openLog(logConfiguration(disk))
            let context = ModelContext(container)
            if random.chance(2) {
                var other = copy
                #expect(try answers(context, &other) == expected, "seed \(seed), step \(step)")
            }
            // Saves as the first thing after opening, or after everything was read.
            for _ in 0..<random.below(4) { try change(context, &random) }
            if random.chance(4) { try container.logStore?.checkpoint() }
            for _ in 0..<random.below(2) { try change(context, &random) }
            let after = try contents(context)
            try container.close()
            #expect(try contents(logConfiguration(disk)) == after, "seed \(seed), step \(step)")
            #expect(try AppendLogStore.verify(logPath, in: disk).problems == [], "seed \(seed), step \(step)")
        }
    }

    private func change(_ context: ModelContext, _ random: inout TestGenerator) throws {
        var boxes = try context.fetch(FetchDescriptor<Box>())
        let number = Int(random.next() >> 1)
        for _ in 0..<(1 + random.below(12)) {
            guard let box = boxes.randomElement(using: &random) else { break }
            switch random.below(6) {
            case 0: box.label = "box \(number) \(random.next())"
            case 1: box.items.first?.count = random.chance(3) ? nil : random.below(200)
            case 2: box.items.first?.box = boxes.randomElement(using: &random)
            case 3:
                context.delete(box)
                boxes.removeAll { $0 === box }
            case 4:
                let made = Box("made \(number) \(random.next())")
                context.insert(made)
                context.insert(Item("made \(number)", count: random.below(200), box: random.chance(2) ? made : box))
            default: if let item = box.items.last { context.delete(item) }
            }
        }
        try context.save()
    }

    // MARK: What is put together from all records

    @Test func anErasureInTheTailErasesAndTheLogGoesOn() throws {
        let disk = try makeDisk()
        try makeLog(300, on: disk)
        try withLog(logConfiguration(disk)) { context in
            try box("box 3", in: context)?.label = "changed before"
            try context.save()
        }
        let store = try openStore(logConfiguration(disk))
        try store.erase()
        try store.close()
        let expected = try withLog(logConfiguration(disk)) { context in
            #expect(try context.fetchCount(FetchDescriptor<Item>()) == 0)
            context.insert(Box("box 3"))
            try context.save()
            return try contents(context)
        }
        #expect(try contents(logConfiguration(disk)) == expected)
        #expect(try AppendLogStore.verify(logPath, in: disk).problems == [])
    }

    @Test func aSchemaThatChangesInTheTailIsGoneThrough() throws {
        let disk = try makeDisk()
        func with<M: PersistentModel, R>(_ model: M.Type, _ body: (ModelContainer, ModelContext) throws -> R) throws
            -> R
        {
            let container = try ModelContainer(
                for: Schema([model]), configurations: [logConfiguration(disk)])
            defer { try? container.close() }
            return try body(container, ModelContext(container))
        }
        try with(Earlier.Note.self) { container, context in
            for number in 0..<600 { context.insert(Earlier.Note("note \(number)")) }
            try context.save()
            try container.logStore?.checkpoint()
        }
        try with(Earlier.Note.self) { _, context in
            let notes = try context.fetch(FetchDescriptor<Earlier.Note>())
            notes[5].text = "changed"
            context.delete(notes[6])
            try context.save()
        }
        // Under the other schema before anything is saved under it, then with its frame in the tail, then with changes behind.
        for step in 0..<3 {
            let rank = try with(Later.Note.self) { _, context in
                let notes = try context.fetch(FetchDescriptor<Later.Note>())
                #expect(notes.count == 599 + step)
                #expect(notes.contains { $0.text == "changed" } && !notes.contains { $0.text == "note 6" })
                #expect(notes.count { $0.rank == 5 } == 599)
                context.insert(Later.Note("later \(step)", rank: 7 + step))
                try context.save()
                return notes.map(\.rank).max()
            }
            #expect(rank == (step == 0 ? 5 : 6 + step))
        }
        #expect(try AppendLogStore.verify(logPath, in: disk).problems == [])
    }

    @Test func dataInFilesOfTheirOwnAreThoseThatTheTailNames() throws {
        let disk = SimulatedFileSystem(seed: 2)
        let store = PictureStore.log
        var container = try store.open(disk)
        for state in 1...4 { try container.advancePictures(to: state) }
        try container.logStore?.checkpoint()
        try container.close()
        for state in 5...9 {
            container = try store.open(disk)
            if state % 2 == 0 { #expect(try Pictures.state(of: container) == state - 1) }
            try container.advancePictures(to: state)
            #expect(try Pictures.state(of: container) == state)
            try container.close()
        }
        container = try store.open(disk)
        try container.logStore?.compact()
        #expect(store.dataFiles(on: disk).count == 3)
        #expect(try Pictures.state(of: container) == 9)
        try container.close()
        #expect(try AppendLogStore.verify(store.path, in: disk).problems == [])
    }

    // MARK: Writers

    /// A checkpoint puts together what is laid over the last one. Meanwhile others save.
    @Test func aCheckpointOfATailLetsWritersSave() throws {
        let disk = try makeDisk()
        try makeLog(400, on: disk)
        try withLog(logConfiguration(disk)) { context in
            for number in stride(from: 0, to: 400, by: 9) {
                try box("box \(number)", in: context)?.label = "new \(number)"
            }
            try context.save()
        }
        let container = try openLog(logConfiguration(disk))
        let store = try #require(container.logStore)
        let saves = Mutex(0)
        nonisolated(unsafe) let context = ModelContext(container)
        // While the checkpoint is written.
        disk.interject(of: .write) {
            for _ in 0..<3 {
                saves.withLock { $0 += 1 }
                context.insert(Box("meanwhile \(saves.withLock { $0 })"))
                do { try context.save() } catch { Issue.record(error) }
            }
        }
        try store.checkpoint()
        #expect(saves.withLock { $0 } > 0)
        let expected = try contents(context)
        try container.close()
        #expect(try contents(logConfiguration(disk)) == expected)
        #expect(try AppendLogStore.verify(logPath, in: disk).problems == [])
    }
}
