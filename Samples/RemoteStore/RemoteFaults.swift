#if RemoteStore
import Foundation
import MortiseCore
import Synchronization

/// What becomes of a save when the service is slow, busy, or not there.
struct RemoteFaults {
    let service: RemoteService
    let address: URL

    struct Check {
        let name: String
        /// The fault; nil if there was none.
        var fault: String?
    }

    private struct Fault: Error { let text: String }

    func run() -> [Check] {
        [
            check("a busy service is asked again", busyServiceIsAskedAgain),
            check("a service that stays busy is a typed error", serviceThatStaysBusy),
            check("a late answer is a typed error, at the deadline", lateAnswer),
            check("a save that comes twice is carried out once", saveThatComesTwice),
            check("a service that is not there is a typed error", missingService),
            check("tasks go on while a save waits", tasksGoOn),
        ]
    }

    private func check(_ name: String, _ body: () throws -> Void) -> Check {
        defer { service.misbehaviour.withLock { $0 = .init() } }
        do { try body() } catch let fault as Fault {
            return Check(name: name, fault: fault.text)
        } catch {
            return Check(name: name, fault: "\(error)")
        }
        return Check(name: name)
    }

    private func store(timeout: Double = 10) throws -> RemoteStore {
        var configuration = RemoteConfiguration(address, store: UUID().uuidString, timeout: timeout)
        configuration.schema = Schema([])
        return try RemoteStore(configuration, migrationPlan: nil)
    }

    private func save(_ store: RemoteStore) throws {
        _ = try store.save(DataStoreSaveChangesRequest(editingState: EditingState()))
    }

    private func expect(_ condition: Bool, _ what: String) throws { if !condition { throw Fault(text: what) } }

    private func busyServiceIsAskedAgain() throws {
        let store = try store()
        service.misbehaviour.withLock { $0.refusals = 2 }
        try save(store)
    }

    private func serviceThatStaysBusy() throws {
        let store = try store()
        service.misbehaviour.withLock { $0.refusals = 3 }
        do {
            try save(store)
        } catch RemoteStoreError.unreachable(_, 3) { return }
        throw Fault(text: "no error though the service was busy three times")
    }

    private func lateAnswer() throws {
        let store = try store(timeout: 0.3)
        service.misbehaviour.withLock { ($0.late, $0.delay) = (1, 2) }
        let start = ContinuousClock.now
        do {
            try save(store)
        } catch RemoteStoreError.timedOut {
            try expect(ContinuousClock.now - start < .seconds(1.5), "the error came after the deadline")
            return
        }
        throw Fault(text: "no error though the answer came too late")
    }

    private func saveThatComesTwice() throws {
        let data = RemoteData()
        let changes = RemoteChanges(
            key: UUID(),
            inserted: [
                RemoteRecord(
                    identifier: try .identifier(for: "x", entityName: "Entry", primaryKey: "temporary"), values: [:])
            ], updated: [], deleted: [])
        let answers = try (0..<2).map { _ in try data.save(changes).pairs.map(\.permanent) }
        try expect(answers[0] == answers[1], "two answers: \(answers)")
        let count = data.records(RemoteQuestion(entities: ["Entry"], derived: [])).count
        try expect(count == 1, "\(count) records of one save")
    }

    private func missingService() throws {
        do {
            var configuration = RemoteConfiguration(
                URL(string: "http://127.0.0.1:1") ?? address, store: "none", timeout: 2)
            configuration.schema = Schema([])
            _ = try RemoteStore(configuration, migrationPlan: nil)
        } catch RemoteStoreError.unreachable { return }
        throw Fault(text: "no error though there is no service")
    }

    /// Model actors that save, more of them than the cooperative pool has threads, leave it to other tasks.
    private func tasksGoOn() throws {
        let store = try store()
        let waiting = 8
        let container = try ModelContainer(
            for: Schema([]), configurations: [RemoteConfiguration(address, store: UUID().uuidString)])
        let savers = (0..<waiting).map { _ in Saver(container) }
        service.misbehaviour.withLock { ($0.late, $0.delay) = (waiting, 1) }
        let ticks = Mutex(0)
        let ticker = Task {
            while !Task.isCancelled {
                ticks.withLock { $0 += 1 }
                try? await Task.sleep(for: .milliseconds(10))
            }
        }
        let saved = Mutex(0)
        let done = DispatchSemaphore(value: 0)
        Task {
            let successes = await withTaskGroup(of: Bool.self) { group in
                for saver in savers {
                    group.addTask { (try? await saver.save(to: store)) != nil }
                }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            saved.withLock { $0 = successes }
            done.signal()
        }
        done.wait()
        ticker.cancel()
        try container.close()
        try expect(saved.withLock { $0 } == waiting, "not every save succeeded")
        let count = ticks.withLock { $0 }
        try expect(count >= 30, "a task came to run \(count) times in the second that saves waited")
    }
}

/// A model actor that saves in its own isolation, on the thread of its executor.
private actor Saver: ModelActor {
    nonisolated let modelContainer: ModelContainer
    nonisolated let modelExecutor: any ModelExecutor

    init(_ container: ModelContainer) {
        modelContainer = container
        modelExecutor = DefaultSerialModelExecutor(modelContext: ModelContext(container))
    }

    func save(to store: RemoteStore) throws {
        _ = try store.save(DataStoreSaveChangesRequest(editingState: EditingState()))
    }
}
#endif
