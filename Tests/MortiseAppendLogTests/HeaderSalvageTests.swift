import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Salvage of logs whose file header is damaged, so that nothing says at first what the checksums of frames go on from.
struct HeaderSalvageTests {
    private let checkpointPath = logPath + ".checkpoint"
    private let newPath = "/data/new.log"

    private func frames(_ log: [UInt8]) -> [Int] {
        stride(from: 64, to: log.count - 48, by: 8).filter { log[$0..<($0 + 4)] == [0x4D, 0x46, 0x52, 0x1A] }
    }

    /// A log, on request compacted and saved to again, and what it holds.
    private func makeLog(isCompacted: Bool) throws -> (disk: SimulatedFileSystem, contents: [String]) {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        if isCompacted {
            let store = try openStore(logConfiguration(disk, history: .keep(days: 0)))
            #expect(try store.compact() > 0)
            try store.close()
            try withLog(logConfiguration(disk)) { context in
                context.insert(Item("behind"))
                try context.save()
            }
        }
        return (disk, try contents(logConfiguration(disk)))
    }

    private func damaged(_ disk: SimulatedFileSystem, _ change: (inout [UInt8]) -> Void) throws -> SimulatedFileSystem {
        var log = try #require(disk.contents(at: logPath))
        change(&log)
        return try makeDisk(with: log, checkpoint: disk.contents(at: checkpointPath))
    }

    @Test(arguments: [false, true]) func everyBitOfTheHeaderIsPutRight(isCompacted: Bool) throws {
        let (disk, expected) = try makeLog(isCompacted: isCompacted)
        // One in four, another each time.
        let bits = isFullSize ? Array(0..<512) : (0..<128).map { 4 * $0 + .random(in: 0..<4) }
        for bit in bits {
            let other = try damaged(disk) { $0[bit / 8] ^= 1 << UInt8(bit % 8) }
            #expect(throws: AppendLogError.self) { try openStore(logConfiguration(other)) }
            let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
            // The names of records have the store's identifier in them.
            #expect(try contents(logConfiguration(other, path: newPath)) == expected, "bit \(bit)")
            #expect(result.lost.count == 1 && !result.hasNewIdentifier, "bit \(bit): \(result.lost)")
            #expect(result.records == expected.count && result.leftOut.isEmpty)
            #expect(try AppendLogStore.verify(logPath, in: other).problems == result.lost)
        }
    }

    @Test func withoutAnythingOfTheHeaderTheRecordsAreThereUnderANewIdentifier() throws {
        let (disk, expected) = try makeLog(isCompacted: false)
        let other = try damaged(disk) { $0.replaceSubrange(0..<64, with: [UInt8](repeating: 0, count: 64)) }
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.hasNewIdentifier && result.lost.map(\.fault) == [.notALog])
        #expect(result.records == expected.count)
        let found = try withLog(logConfiguration(other, path: newPath)) { context in
            try context.fetch(FetchDescriptor<Item>()).map { "\($0.name) \($0.box?.label ?? "-")" }.sorted()
        }
        let wanted = try withLog(logConfiguration(disk)) { context in
            try context.fetch(FetchDescriptor<Item>()).map { "\($0.name) \($0.box?.label ?? "-")" }.sorted()
        }
        #expect(found == wanted)
    }

    @Test(arguments: [64, nil]) func aCheckpointTellsWhatTheHeaderDoesNot(length: Int?) throws {
        let (disk, expected) = try makeLog(isCompacted: true)
        // The header alone, and with the schema behind it.
        let other = try damaged(disk) { log in
            let end = length ?? frames(log)[1]
            log.replaceSubrange(0..<end, with: [UInt8](repeating: 0x55, count: end))
        }
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(!result.hasNewIdentifier && result.lost.first?.fault == .notALog)
        #expect(try contents(logConfiguration(other, path: newPath)) == expected)
    }

    /// Nothing of the log can be read, all of the checkpoint can.
    @Test(arguments: [0, 30, 5_000]) func ofALogThatIsGoneTheCheckpointIsLeft(length: Int) throws {
        let (disk, expected) = try makeLog(isCompacted: true)
        let garbage = [UInt8](repeating: 0x33, count: length)
        let other = try makeDisk(with: garbage, checkpoint: disk.contents(at: checkpointPath))
        guard length > 0 else {
            #expect(throws: AppendLogError.self) { try AppendLogStore.salvage(logPath, to: newPath, in: other) }
            return
        }
        let result = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(result.records == expected.count - 1)
        #expect(!result.lost.isEmpty)
        let found = try contents(logConfiguration(other, path: newPath))
        #expect(Set(found).isSubset(of: expected) && found.count == expected.count - 1)
    }

    @Test func withoutSchemaNothingCanBeReadAndTheErrorSaysSo() throws {
        let (disk, expected) = try makeLog(isCompacted: false)
        for end in [64, 0] {
            // The header and the schema, and the schema alone.
            let other = try damaged(disk) { log in
                let schema = frames(log)[1]
                log.replaceSubrange((64 - end)..<schema, with: [UInt8](repeating: 0x55, count: schema - 64 + end))
            }
            #expect {
                try AppendLogStore.salvage(logPath, to: newPath, in: other)
            } throws: {
                ($0 as? AppendLogError)?.fault == .schemaMissing(transactions: 4)
            }
            #expect(other.contents(at: newPath) == nil)
            #expect(try !AppendLogStore.verify(logPath, in: other).isSound)
        }
        // A checkpoint has it.
        let store = try openStore(logConfiguration(disk))
        try store.checkpoint()
        try store.close()
        let other = try damaged(disk) { log in
            let schema = frames(log)[1]
            log.replaceSubrange(0..<schema, with: [UInt8](repeating: 0x55, count: schema))
        }
        _ = try AppendLogStore.salvage(logPath, to: newPath, in: other)
        #expect(try contents(logConfiguration(other, path: newPath)) == expected)
    }

    @Test func whatIsNoLogIsNotTakenForOne() throws {
        let text = Array(String(repeating: "{\"format\": 1, \"MFR\": \"\u{1A}\"}\n", count: 300).utf8)
        let disk = try makeDisk(with: text)
        #expect {
            try AppendLogStore.salvage(logPath, to: newPath, in: disk)
        } throws: {
            ($0 as? AppendLogError)?.fault == .notALog
        }
        // A log of a later version is whole, and not to be read as one of this.
        let (made, _) = try makeLog(isCompacted: false)
        let later = try damaged(made) { log in
            log[8] = 2
            withUnsafeBytes(of: CRC32C.checksum(of: Array(log[..<60])).littleEndian) {
                log.replaceSubrange(60..<64, with: $0)
            }
        }
        #expect {
            try AppendLogStore.salvage(logPath, to: newPath, in: later)
        } throws: {
            ($0 as? AppendLogError)?.fault == .unsupportedVersion(2)
        }
        #expect(disk.contents(at: newPath) == nil && later.contents(at: newPath) == nil)
    }

    @Test func aChecksumCanBeFollowedBack() {
        var generator = TestGenerator(seed: testSeed())
        for count in 0..<100 {
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            let start = UInt32(truncatingIfNeeded: generator.next())
            var sum = CRC32C(resuming: start)
            sum.update(bytes)
            #expect(bytes.withUnsafeBytes { CRC32C.origin(of: sum.value, behind: $0) } == start)
        }
    }
}
