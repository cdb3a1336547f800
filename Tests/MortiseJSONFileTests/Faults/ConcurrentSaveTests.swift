import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Synchronization
import Testing

/// Many tasks save through contexts of their own, on one file.
@Suite struct ConcurrentSaveTests {
    private let tasks = 6
    private var rounds: Int { isFullSize ? 40 : 8 }

    @Test func concurrentSavesLeaveWhatOneAfterTheOtherWould() async throws {
        let depot = try Depot()
        let container = try depot.open()
        try await save(in: container) { _, _ in }
        try container.close()

        let reopened = try depot.open()
        let parcels = try ModelContext(reopened).fetch(FetchDescriptor<Parcel>())
        let expected = (0..<tasks).flatMap { task in
            (0..<rounds).map { "\(task * 1_000 + $0) \($0 + 1 < rounds ? "seen" : "new")" }
        }
        #expect(parcels.map { "\($0.number) \($0.label)" }.sorted() == expected.sorted())
        #expect(parcels.allSatisfy { $0.courier?.name == "courier \($0.number / 1_000)" })
        FaultLedger.add(["F34"], injected: tasks * rounds)
    }

    @Test func savesThatFailNowAndThenLoseNothingThatWasAcknowledged() async throws {
        let depot = try Depot()
        let container = try depot.open()
        let failures = Mutex(0)
        try await save(in: container) { task, round in
            if (task + round) % 3 == 0 { depot.disk.inject(.fail(.noSpace), of: .write) }
        } onFailure: { error in
            #expect((error as? FileError)?.reason == .noSpace)
            failures.withLock { $0 += 1 }
        }
        try container.close()
        #expect(failures.withLock { $0 } > 0)
        let parcels = try ModelContext(depot.open()).fetch(FetchDescriptor<Parcel>())
        #expect(parcels.count == tasks * rounds)
        FaultLedger.add(["F34", "F09"], injected: failures.withLock { $0 })
    }

    /// Readers take versions meanwhile: each is one that a whole save left.
    @Test func readersNeverSeeHalfASave() async throws {
        let depot = try Depot()
        let container = try depot.open()
        let isDone = Flag()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for state in 1...(isFullSize ? 100 : 20) { try container.advance(to: state) }
                isDone.raise()
            }
            for _ in 0..<3 {
                group.addTask {
                    var last = 0
                    while !isDone.isRaised {
                        let state = container.jsonStore.flatMap { Workload.state(of: $0, upTo: 100) }
                        #expect((state ?? -1) >= last)
                        last = state ?? last
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        FaultLedger.add(["F34"], injected: 3)
    }

    private func save(
        in container: ModelContainer, before: @escaping @Sendable (Int, Int) -> Void,
        onFailure: @escaping @Sendable (any Error) -> Void = { Issue.record($0) }
    ) async throws {
        let rounds = rounds
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    let context = ModelContext(container)
                    let courier = Courier(name: "courier \(task)")
                    context.insert(courier)
                    var previous: Parcel?
                    for round in 0..<rounds {
                        previous?.label = "seen"
                        let parcel = Parcel(number: task * 1_000 + round, label: "new", courier: courier)
                        context.insert(parcel)
                        previous = parcel
                        before(task, round)
                        var isSaved = false
                        while !isSaved {
                            do {
                                try context.save()
                                isSaved = true
                            } catch { onFailure(error) }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// Something that has happened, for closures on any thread.
private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .acquiring) }
    func raise() { value.store(true, ordering: .releasing) }
}
