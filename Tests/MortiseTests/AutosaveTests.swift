import Foundation
import Logging
import Mortise
import Synchronization
import PackageTestSupport
import Testing

@testable import MortiseCore

/// Contexts whose `autosaveEnabled` is true. It was once ignored by all but the main context, whose own was false.
@Suite struct AutosaveTests {
    let container: ModelContainer

    init() throws { container = try householdContainer() }

    private func count<T: PersistentModel>(_ type: T.Type = Poster.self) throws -> Int {
        try ModelContext(container).fetchCount(FetchDescriptor<T>())
    }

    @Test @MainActor func onlyTheMainContextSavesByItselfUnasked() {
        #expect(container.mainContext.autosaveEnabled)
        #expect(!ModelContext(container).autosaveEnabled)
        #expect(!Clerk(modelContainer: container).modelExecutor.modelContext.autosaveEnabled)
    }

    /// Tasks on other threads that are the first to ask for it get one and the same, which is saved on the main actor.
    @Test func theMainContextReachedFromOtherThreadsIsOneAndSavesOnTheMainActor() async throws {
        let container = container
        let (saves, strays) = (Tally(), Tally())
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: nil, queue: nil) {
            note in
            guard let context = note.object as? ModelContext, context.container === container else { return }
            saves.add()
            if !isOnMainActor() { strays.add() }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        let found = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for number in 0..<20 {
                group.addTask {
                    #expect(!isOnMainActor())
                    return await MainActor.run {
                        container.mainContext.insert(Poster(title: "\(number)"))
                        return ObjectIdentifier(container.mainContext)
                    }
                }
            }
            return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert($1) }
        }
        #expect(found.count == 1)
        try await until { try count() == 20 }
        #expect(await MainActor.run { !container.mainContext.hasChanges && container.mainContext.autosaveEnabled })
        #expect(saves.count > 0 && strays.count == 0)
    }

    @Test @MainActor func aContextOfTheMainActorSavesByItself() async throws {
        let context = ModelContext(container)
        context.autosaveEnabled = true
        let poster = Poster(title: "p")
        context.insert(poster)
        #expect(try count() == 0)
        try await until { !context.hasChanges }
        #expect(try count() == 1)
        poster.title = "q"
        try await until { !context.hasChanges }
        #expect(try onlyModel(Poster.self, in: ModelContext(container)).title == "q")
        context.delete(poster)
        try await until { !context.hasChanges }
        #expect(try count() == 0)
    }

    /// Bug: it was an observed property, whose observers do not run in a convenience initializer of an extension.
    @Test @MainActor func autosaveMayBeEnabledInAnInitializerOfAnExtension() async throws {
        let context = ModelContext(savingByItself: container)
        context.insert(Poster(title: "p"))
        try await until { !context.hasChanges }
        #expect(try count() == 1)
        let entity = Schema.Entity(withAttribute: "size")
        #expect(entity.storedProperties.map(\.name) == ["size"] && entity.attributes.map(\.name) == ["size"])
    }

    @Test @MainActor func whatWasChangedBeforeAutosaveWasEnabledIsSavedToo() async throws {
        let context = ModelContext(container)
        context.insert(Poster(title: "p"))
        // Whatever the insertion has scheduled comes before these.
        for _ in 0..<5 { await Task.detached { @MainActor in }.value }
        #expect(context.hasChanges)
        context.autosaveEnabled = true
        try await until { !context.hasChanges }
        #expect(try count() == 1)
    }

    @Test @MainActor func aContextWhoseAutosaveIsSwitchedOffSavesNothing() async throws {
        let main = container.mainContext
        main.insert(Poster(title: "p"))
        main.autosaveEnabled = false
        // Whatever the insertion has scheduled comes before these.
        for _ in 0..<5 { await Task.detached { @MainActor in }.value }
        #expect(main.hasChanges)
        #expect(try count() == 0)
    }

    @Test @MainActor func aContextLivesUntilItHasSaved() async throws {
        weak var gone: ModelContext?
        do {
            let context = ModelContext(container)
            context.autosaveEnabled = true
            context.insert(Poster(title: "p"))
            gone = context
        }
        try await until { gone == nil }
        #expect(try count() == 1)
    }

    @Test @MainActor func aContextThatHasNothingToSaveIsNotKept() throws {
        weak var gone: ModelContext?
        do {
            let context = ModelContext(container)
            context.autosaveEnabled = true
            context.insert(Poster(title: "p"))
            try context.save()
            context.insert(Poster(title: "q"))
            context.rollback()
            gone = context
        }
        #expect(gone == nil)
    }

    @Test func aModelActorSavesByItself() async throws {
        let writer = Writer(modelContainer: container)
        await writer.enableAutosave()
        await writer.add(["a"])
        try await until { try count() == 1 }
        let other = OtherWriter(container)
        await other.add(["b"])
        try await until { try count() == 2 }
    }

    @Test func aModelActorThatIsLetGoSavesBefore() async throws {
        weak var gone: ModelContext?
        do {
            let writer = Writer(modelContainer: container)
            await writer.enableAutosave()
            await writer.add(["a"])
            gone = writer.modelExecutor.modelContext
        }
        try await until { gone == nil }
        #expect(try count() == 1)
    }

    /// Blocks of many lengths, on two executors at once, with other work between them: each is saved whole or not at all.
    @Test func noSaveFallsIntoTheMiddleOfABlock() async throws {
        let seed = testSeed()
        let writer = Writer(modelContainer: container)
        await writer.enableAutosave()
        let own = await MainActor.run {
            let context = ModelContext(container)
            context.autosaveEnabled = true
            return Boxed(context)
        }
        let halves = Tally()
        let token = NotificationCenter.default.addObserver(forName: ModelContext.didSave, object: nil, queue: nil) {
            _ in
            // On the saving thread, where the block is either through or has not begun.
            if Block.current.value { halves.add() }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        var random = SeededGenerator(seed: seed)
        var sizes: [Int] = []
        for _ in 0..<120 {
            let size = Int.random(in: 1...4, using: &random)
            sizes.append(size)
            let titles = (0..<size).map { "\(sizes.count)-\($0)" }
            if Bool.random(using: &random) {
                await writer.add(titles)
            } else {
                await MainActor.run { Block.add(titles, to: own.context) }
            }
            if Bool.random(using: &random) { await Task.yield() }
            // What others see is whole blocks.
            let seen = try ModelContext(container).fetch(FetchDescriptor<Poster>()).map {
                $0.title.split(separator: "-")[0]
            }
            for (block, members) in Dictionary(grouping: seen, by: { $0 }) {
                #expect(members.count == sizes[(Int(block) ?? 0) - 1], "block \(block), seed \(seed)")
            }
        }
        #expect(halves.count == 0, "seed \(seed)")
        let all = sizes.reduce(0, +)
        try await until { try count() == all }
    }

    @Test @MainActor func whatFailsIsLoggedThrownByTheNextFetchAndTriedAgain() async throws {
        let lines = Lines()
        container.logger = Logger(label: "test") { _ in lines }
        let main = container.mainContext
        let house = House(name: "h")
        let room = Room(name: "r", house: house)
        main.insert(room)
        try main.save()
        main.delete(house)
        try await until { !lines.all.isEmpty }
        #expect(lines.all.first?.hasPrefix("error autosave failed") == true)
        #expect(main.hasChanges)
        #expect(throws: ModelValidationError.self) { try main.fetch(FetchDescriptor<Room>()) }
        _ = try main.fetch(FetchDescriptor<Room>())
        // What was in the way goes, and nobody calls save().
        room.house = House(name: "other")
        try await until { !main.hasChanges }
        #expect(try ModelContext(container).fetch(FetchDescriptor<House>()).map(\.name) == ["other"])
    }

    /// Bug: each change whose save failed began another series of attempts, and none of them ever ended.
    @Test @MainActor func whatFailsIsTriedAgainInOneSeries() async throws {
        let lines = Lines()
        let waits = Waits()
        container.logger = Logger(label: "test") { _ in lines }
        let main = container.mainContext
        main.autosave.wait = { await waits.wait($0) }
        let house = House(name: "h")
        main.insert(Room(name: "r", house: house))
        try main.save()
        main.delete(house)
        for number in 1...8 {
            main.insert(Poster(title: "\(number)"))
            try await until { lines.all.count >= number }
        }
        // The first failure began to wait, and each end of a wait leads to one attempt and one longer wait.
        for round in 0...3 {
            try await until { lines.all.count == 8 + round && waits.begun.count == 1 + round }
            waits.endAll()
        }
        try await until { waits.begun.count == 5 }
        #expect(lines.all.count == 12)
        #expect(waits.begun == [.seconds(1)] + Array(repeating: .seconds(64), count: 4))
        main.rollback()
        waits.endAll()
    }

    @Test @MainActor func aRollbackForgetsWhatFailed() async throws {
        let lines = Lines()
        container.logger = Logger(label: "test") { _ in lines }
        let main = container.mainContext
        let house = House(name: "h")
        main.insert(Room(name: "r", house: house))
        try main.save()
        main.delete(house)
        try await until { !lines.all.isEmpty }
        main.rollback()
        #expect(try main.fetchCount(FetchDescriptor<House>()) == 1)
    }

    @Test @MainActor func closingSavesTheMainContext() throws {
        let folder = try Folder()
        func open() throws -> ModelContainer {
            try ModelContainer(
                for: Poster.self, House.self, Room.self,
                configurations: ModelConfiguration(url: folder.url.appending(path: "a.store")))
        }
        let first = try open()
        first.mainContext.insert(Poster(title: "p"))
        try first.close()
        let second = try open()
        #expect(try ModelContext(second).fetchCount(FetchDescriptor<Poster>()) == 1)
        second.mainContext.autosaveEnabled = false
        second.mainContext.insert(Poster(title: "q"))
        try second.close()
        let third = try open()
        #expect(try ModelContext(third).fetchCount(FetchDescriptor<Poster>()) == 1)
        try third.close()
    }

    @Test func whereNothingTellsThatABlockEndsTheLogSaysSo() async throws {
        let lines = Lines()
        container.logger = Logger(label: "test") { _ in lines }
        try await Task.detached { [container] in
            let context = ModelContext(container)
            context.autosaveEnabled = true
            context.insert(Poster(title: "p"))
            context.insert(Poster(title: "q"))
            #expect(context.hasChanges)
            try context.save()
        }.value
        #expect(lines.all.count == 1 && lines.all[0].hasPrefix("warning autosaveEnabled has no effect here"))
        #expect(try count() == 2)
    }
}

/// Whether the current thread runs the main queue, on which the main actor's code runs.
private func isOnMainActor() -> Bool {
    if Thread.isMainThread { return true }
    return DispatchQueue.getSpecific(key: mainQueueKey) == true
}

private let mainQueueKey: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
}()

/// The waits between attempts, which end when the test says so.
private final class Waits: Sendable {
    private let state = Mutex<(begun: [Duration], under: [CheckedContinuation<Void, Never>])>(([], []))

    var begun: [Duration] { state.withLock { $0.begun } }

    func wait(_ duration: Duration) async {
        await withCheckedContinuation { continuation in
            state.withLock {
                $0.begun.append(duration)
                $0.under.append(continuation)
            }
        }
    }

    func endAll() {
        let ended = state.withLock { state in
            defer { state.under = [] }
            return state.under
        }
        for continuation in ended { continuation.resume() }
    }
}

/// Asks again and again, for at most ten seconds: nothing announces that a job on the main actor has failed.
private func until(isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool) async throws {
    for _ in 0..<2_000 {
        if try condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("it did not come about within ten seconds")
}

private struct Boxed: @unchecked Sendable {
    // @unchecked: the context is used on the main actor.
    let context: ModelContext
    init(_ context: ModelContext) { self.context = context }
}

/// Whether the current thread is in the middle of a block.
private enum Block {
    final class Flag { var value = false }

    static var current: Flag {
        if let flag = Thread.current.threadDictionary["AutosaveTests.block"] as? Flag { return flag }
        let flag = Flag()
        Thread.current.threadDictionary["AutosaveTests.block"] = flag
        return flag
    }

    static func add(_ titles: [String], to context: ModelContext) {
        current.value = true
        for title in titles {
            context.insert(Poster(title: title))
            // So that a save that did not wait for the block's end would come in its middle.
            usleep(200)
        }
        current.value = false
    }
}

@ModelActor
actor Writer {
    func enableAutosave() { modelContext.autosaveEnabled = true }
    func add(_ titles: [String]) { Block.add(titles, to: modelContext) }
}

/// A model actor whose executor is not ours.
private actor OtherWriter: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor

    init(_ container: ModelContainer) {
        modelContainer = container
        let context = ModelContext(container)
        modelExecutor = OwnExecutor(context)
    }

    func add(_ titles: [String]) {
        modelContext.autosaveEnabled = true
        Block.add(titles, to: modelContext)
    }
}

private final class OwnExecutor: SerialModelExecutor, @unchecked Sendable {
    // @unchecked: the context is used only by jobs on the queue.
    let modelContext: ModelContext
    private let queue = DispatchQueue(label: "autosave-tests")

    init(_ context: ModelContext) { modelContext = context }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

private final class Lines: LogHandler, @unchecked Sendable {
    // @unchecked: guarded by the lock.
    private let lock = NSLock()
    private var recorded: [String] = []
    var all: [String] { lock.withLock { recorded } }

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
    func log(event: LogEvent) { lock.withLock { recorded.append("\(event.level) \(event.message)") } }
}

extension ModelContext {
    fileprivate convenience init(savingByItself container: ModelContainer) {
        self.init(container)
        autosaveEnabled = true
    }
}

extension Schema.Entity {
    fileprivate convenience init(withAttribute name: String) {
        self.init("Sized")
        attributes = [Schema.Attribute(name: name, valueType: Int.self)]
    }
}
