import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Several threads that are the first to touch what a checkpoint has; a run under the thread sanitizer sees how.
struct FirstTouchTests {
    private let checkpointPath = logPath + ".checkpoint"
    private static let count = isFullSize ? 20_000 : 3_000

    private func makeLog(on disk: SimulatedFileSystem) throws {
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        var box = Box("")
        for number in 0..<Self.count {
            if number % 20 == 0 {
                box = Box("box \(number / 20)")
                context.insert(box)
            }
            context.insert(Item(number % 3 == 0 ? "item \(number % 7)" : "a longer name \(number)", box: box))
        }
        try context.save()
        try container.store(AppendLogStore.self)?.checkpoint()
        try container.close()
    }

    /// What each thread asks for, beginning with another question.
    private static let questions: [@Sendable (ModelContext) throws -> Int] = [
        { try $0.fetchCount(FetchDescriptor<Item>(predicate: #Predicate { $0.name.contains("99") })) },
        { try $0.fetch(FetchDescriptor<Item>()).reduce(0) { $0 + $1.name.count } },
        { try $0.fetch(FetchDescriptor<Box>(sortBy: [SortDescriptor(\.label)])).reduce(0) { $0 + $1.items.count } },
        { try $0.fetch(FetchDescriptor<Box>(predicate: #Predicate { $0.label == "box 77" })).first?.items.count ?? -1 },
        { try $0.fetchCount(FetchDescriptor<Item>(predicate: #Predicate { $0.name == "item 6" })) },
        { try $0.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.box?.label == "box 5" })).count },
    ]

    /// Opened by one process for itself, or by two that share it, whose threads are at work at the same time.
    @Test(arguments: [false, true], [AppendLogSharing.exclusive, .shared])
    func threadsThatTouchACheckpointFirstGetTheSameAnswers(isUnreadable: Bool, sharing: AppendLogSharing) throws {
        let disk = try makeDisk()
        try makeLog(on: disk)
        let expected = try withLog(logConfiguration(disk)) { context in try Self.questions.map { try $0(context) } }
        for _ in 0..<(isFullSize ? 12 : 3) {
            let containers = try (0..<(sharing == .shared ? 2 : 1)).map { number in
                var configuration = AppendLogConfiguration(
                    path: logPath, sharing: sharing, in: disk.process(Int32(100 + number)))
                configuration.allocationStep = 4_096
                return try openLog(configuration)
            }
            if isUnreadable { disk.limits.unreadable[checkpointPath] = [4_096..<(1 << 30)] }
            let answers = Mutex<[Int: Int]>([:])
            let wrong = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                let context = ModelContext(containers[thread % containers.count])
                for step in Self.questions.indices {
                    let number = (thread + step) % Self.questions.count
                    do {
                        let found = try Self.questions[number](context)
                        answers.withLock { $0[number] = found }
                        if found != expected[number] {
                            wrong.withLock { $0.append("question \(number): \(found), not \(expected[number])") }
                        }
                    } catch {
                        wrong.withLock { $0.append("question \(number): \(error)") }
                    }
                }
            }
            #expect(wrong.withLock { $0 } == [])
            #expect(answers.withLock { $0.count } == Self.questions.count)
            disk.limits.unreadable = [:]
            for container in containers { try container.close() }
        }
    }
}
