import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

struct OpeningAtOnceTests {
    /// Runs the body on a thread of its own, and says whether it came to its end in time.
    private func ends(within seconds: Double, _ body: @escaping @Sendable () throws -> Void) -> Bool {
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try body() } catch { Issue.record(error) }
            isDone.signal()
        }
        return isDone.wait(timeout: .now() + seconds) == .success
    }

    @Test func aStoreOpensAndClosesWhileAnotherIsBeingOpened() throws {
        let (slow, quick) = (try makeDisk(), try makeDisk())
        _ = try makeSmallLog(on: slow)
        _ = try makeSmallLog(on: quick)
        let isEnded = Mutex<Bool?>(nil)
        slow.interject(of: .read) {
            let ended = ends(within: 10) { try openStore(logConfiguration(quick)).close() }
            isEnded.withLock { $0 = ended }
        }
        try openStore(logConfiguration(slow)).close()
        #expect(isEnded.withLock { $0 } == true)
    }

    @Test func aStoreOpensWhileAnotherIsBeingClosed() throws {
        let (slow, quick) = (try makeDisk(), try makeDisk())
        let store = try openStore(logConfiguration(slow))
        let isEnded = Mutex<Bool?>(nil)
        slow.interject(of: .close) {
            let ended = ends(within: 10) { try openStore(logConfiguration(quick)).close() }
            isEnded.withLock { $0 = ended }
        }
        try store.close()
        #expect(isEnded.withLock { $0 } == true)
    }

    @Test func whoOpensTheSamePlaceWaitsAndGetsTheSameStore() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let second = Mutex<AppendLogStore?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        disk.interject(of: .read) {
            Thread.detachNewThread {
                do {
                    let store = try openStore(logConfiguration(disk))
                    second.withLock { $0 = store }
                } catch {
                    Issue.record(error)
                }
                isDone.signal()
            }
            let isWaiting = comesAbout { (try? OpenLogs.shared.waiting(for: logConfiguration(disk))) == 1 }
            #expect(isWaiting)
        }
        let first = try openStore(logConfiguration(disk))
        isDone.wait()
        let other = try #require(second.withLock { $0.take() })
        #expect(other.engine === first.engine)
        try first.close()
        // The other still has it.
        #expect(throws: FileError.self) { try FileLock(forStoreAt: logPath, in: disk.process(7)) }
        try other.close()
        try FileLock(forStoreAt: logPath, in: disk.process(7)).release()
    }

    @Test func anOpeningThatFailsKeepsNobodyOut() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        disk.inject(.fail(.io), of: .read)
        #expect(throws: FileError.self) { try openStore(logConfiguration(disk)) }
        try openStore(logConfiguration(disk)).close()
    }

    /// Whoever waits for its sync when the log is closed gets it.
    @Test func closingSyncsWhatSaversWaitFor() throws {
        let disk = try makeDisk()
        let store = try openStore(logConfiguration(disk))
        let sink = try #require(store.opened.sink)
        let append = try sink.writer.append([(.schema, try sink.catalog.schemaPayload())], transaction: 0)
        let before = disk.trace.count
        try store.close()
        #expect(disk.trace[before...].contains { $0.operation == .sync && $0.path == logPath })
        try sink.writer.sync(upTo: append)
    }
}
