import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Synchronization
import Testing
import MortiseTestSupport

/// Many tasks save at once, each through a context of its own.
struct ConcurrentSaveCheck {
    private let tasks = 6
    private var rounds: Int { isFullSize ? 40 : 5 }
    /// One container for all tasks; where there are several, nobody sees to it that one saves after the other.
    var containers = 1
    var mistake: BrokenFileSystem.Mistake?

    func run() async throws -> Findings {
        var findings = Findings()
        let depot = try Depot()
        let opened = try (0..<containers).map { number in
            let process = depot.disk.process(100 + Int32(number))
            let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(process, mistake: $0) } ?? process
            return try Workload.open(depot.configuration(in: fileSystem))
        }
        let failures = await withTaskGroup(of: [String].self) { group in
            for task in 0..<tasks {
                let container = opened[task % containers]
                group.addTask { [rounds] in Self.save(task, rounds, in: container) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        for container in opened { _ = thrown { try container.close() } }
        findings.inject(tasks * rounds)
        for failure in failures { findings.expect(false, failure) }
        let parcels = try ModelContext(depot.open()).fetch(FetchDescriptor<Parcel>())
        let expected = (0..<tasks).flatMap { task in
            (0..<rounds).map { "\(task * 1_000 + $0) \($0 + 1 < rounds ? "seen" : "new")" }
        }
        let found = parcels.map { "\($0.number) \($0.label)" }
        findings.expect(found.sorted() == expected.sorted(), "\(found.count) parcels of \(expected.count), or others")
        findings.expect(
            parcels.allSatisfy { $0.courier?.name == "courier \($0.number / 1_000)" }, "a parcel of another courier")
        return findings
    }

    private static func save(_ task: Int, _ rounds: Int, in container: ModelContainer) -> [String] {
        let context = ModelContext(container)
        let courier = Courier(name: "courier \(task)")
        context.insert(courier)
        var previous: Parcel?
        for round in 0..<rounds {
            previous?.label = "seen"
            let parcel = Parcel(number: task * 1_000 + round, label: "new", courier: courier)
            context.insert(parcel)
            previous = parcel
            if let error = thrown({ try context.save() }) { return ["task \(task), round \(round): \(error)"] }
        }
        return []
    }
}

/// Many tasks save through contexts of their own, on one file.
@Suite struct ConcurrentSaveTests {
    private let tasks = 6
    private var rounds: Int { isFullSize ? 40 : 5 }

    @Test func concurrentSavesLeaveWhatOneAfterTheOtherWould() async throws {
        try await ConcurrentSaveCheck().run().verify("F34")
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
        FaultLedger.add(["F34", "F09"], trials: failures.withLock { $0 })
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
        FaultLedger.add(["F34"], trials: 3)
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
