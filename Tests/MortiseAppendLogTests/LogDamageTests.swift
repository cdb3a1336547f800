import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing
import MortiseTestSupport

/// Damaged logs: a typed error, or the same data; never fewer transactions in silence.
struct LogDamageTests {
    private func open(_ bytes: [UInt8]) throws -> (
        contents: [String], recovery: AppendLogRecovery?, disk: SimulatedFileSystem
    ) {
        let disk = try makeDisk(with: bytes)
        let store = try openStore(logConfiguration(disk))
        let recovery = store.recovery
        return (try withLog(logConfiguration(disk), contents), recovery, disk)
    }

    @Test func everySingleBitFlipIsAnErrorOrChangesNothing() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        var detected = 0
        for bit in 0..<(log.count * 8) {
            var flipped = log
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            do {
                let (found, recovery, _) = try open(flipped)
                #expect(found == states.last, "bit \(bit)")
                #expect(recovery == nil, "bit \(bit)")
            } catch let error as AppendLogError {
                detected += 1
                #expect(error.path == logPath)
            }
        }
        // What is not detected are the bits of the gaps between frames.
        #expect(detected > log.count * 8 * 9 / 10)
    }

    @Test func aFlippedBitLeavesTheFileAsItIs() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        var log = try #require(disk.contents(at: logPath))
        log[log.count / 2] ^= 4
        let other = try makeDisk(with: log)
        #expect(throws: AppendLogError.self) { try openStore(logConfiguration(other)) }
        #expect(other.contents(at: logPath) == log)
        #expect(other.paths.filter { $0.contains("torn") }.isEmpty)
    }

    @Test func truncationAtEveryLengthRecoversToTheLastWholeTransaction() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        var seen: Set<Int> = []
        for length in 0...log.count {
            let cut = Array(log[..<length])
            do {
                let (found, recovery, other) = try open(cut)
                let state = try #require(states.lastIndex(of: found), "length \(length)")
                seen.insert(state)
                if let recovery {
                    let kept = try #require(recovery.keptAside)
                    let offset = Int(try #require(recovery.tornAt))
                    #expect(other.contents(at: kept) == Array(cut[offset...]))
                    #expect(recovery.lastTransaction == UInt64(state))
                }
                #expect(try contents(logConfiguration(other)) == found)
            } catch let error as AppendLogError {
                // Within the header, or the schema that is made with it in one piece.
                #expect(length < 1024, "length \(length): \(error)")
                #expect(seen.isEmpty)
            }
        }
        #expect(seen == Set(0..<states.count))
    }

    @Test func aTornTailIsRecoveredOnceAndTheStoreGoesOn() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        let other = try makeDisk(with: Array(log.dropLast(5)))
        try withLog(logConfiguration(other)) { context in
            #expect(try contents(context) == states[3])
            context.insert(Box("green"))
            try context.save()
        }
        let store = try openStore(logConfiguration(other))
        #expect(store.recovery == nil)
        try store.close()
        #expect(try contents(logConfiguration(other)).contains { $0.contains("green") })
    }

    /// Numbers may come again after a restart: what an earlier recovery kept is neither written over nor in the way.
    @Test func aTailKeptEarlierUnderTheSameNameStays() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let torn = Array(try #require(disk.contents(at: logPath)).dropLast(5))
        let kept = try #require(try open(torn).recovery?.keptAside)
        let other = try makeDisk(with: torn)
        try other.install([1, 2, 3], at: kept)
        let store = try openStore(logConfiguration(other))
        let keptNow = try #require(store.recovery?.keptAside)
        #expect(keptNow != kept)
        try store.close()
        #expect(other.contents(at: kept) == [1, 2, 3])
        #expect(other.contents(at: keptNow)?.isEmpty == false)
        #expect(try contents(logConfiguration(other)) == states[3])
    }

    @Test func zeroedSectorsOfTheLastFrameAreATornTail() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            context.insert(Box("first"))
            try context.save()
            context.insert(Item(String(repeating: "x", count: 3_000)))
            try context.save()
        }
        let log = try #require(disk.contents(at: logPath))
        let first = try withLog(logConfiguration(disk)) { try contents($0).filter { $0.contains("first") } }
        for sector in (log.count - 2_500) / 512...(log.count - 1) / 512 {
            var torn = log
            for index in (sector * 512)..<min(sector * 512 + 512, log.count) { torn[index] = 0 }
            let (found, recovery, _) = try open(torn)
            #expect(found == first)
            #expect(recovery?.tornAt != nil)
        }
    }

    @Test func zerosBehindTheLogAreNoDamage() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        for count in [1, 7, 47, 48, 511, 4_096, 100_000] {
            let (found, recovery, _) = try open(log + [UInt8](repeating: 0, count: count))
            #expect(found == states.last)
            #expect(recovery == nil)
        }
        #expect(throws: AppendLogError.self) { try open(log + [UInt8](repeating: 0xA5, count: 4_096)) }
    }

    @Test func aValidFrameBehindALostOneThatWasSyncedIsDamage() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        // The third transaction's frame, found by its header.
        let offsets = stride(from: 64, to: log.count - 48, by: 8).filter {
            log[$0..<($0 + 4)] == [0x4D, 0x46, 0x52, 0x1A]
        }
        var lost = log
        for index in offsets[3]..<offsets[4] { lost[index] = 0 }
        #expect {
            try open(lost)
        } throws: { error in
            guard case .damagedFrame(let offset, 4, _) = (error as? AppendLogError)?.fault else { return false }
            return offset == Int64(offsets[3])
        }
    }

    @Test func headersOfOtherFilesAreRefusedByName() throws {
        let disk = try makeDisk()
        _ = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        func fault(_ bytes: [UInt8]) throws -> LogFault? {
            let other = try makeDisk(with: bytes)
            let error = #expect(throws: AppendLogError.self) { try openStore(logConfiguration(other)) }
            #expect(other.contents(at: logPath) == bytes)
            return error?.fault
        }
        #expect(try fault([]) == .empty)
        #expect(try fault(Array(log[..<63])) == .tooShort(bytes: 63))
        #expect(try fault(Array("{\"format\": 1}".utf8)) == .notALog)
        var newer = log
        newer[8] = 2
        #expect(try fault(newer) == .unsupportedVersion(2))
        var damaged = log
        damaged[20] ^= 1
        #expect(try fault(damaged) == .damagedHeader)
    }

    @Test func randomMutationsNeverCrashAndNeverAnswerWrong() throws {
        let disk = try makeDisk()
        let states = try makeSmallLog(on: disk)
        let log = try #require(disk.contents(at: logPath))
        var generator = TestGenerator(seed: testSeed())
        var outcomes = [0, 0]
        for _ in 0..<1_000 {
            var mutated = log
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<max(mutated.count, 1), using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: mutated[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: mutated.removeSubrange(place..<min(place + 16, mutated.count))
                case 2: mutated.insert(contentsOf: log[(place % log.count)...].prefix(64), at: place)
                case 3: mutated.removeLast(mutated.count - place)
                default:
                    for index in place..<min(place + 48, mutated.count) {
                        mutated[index] = UInt8.random(in: 0...255, using: &generator)
                    }
                }
                if mutated.isEmpty { break }
            }
            do {
                let (found, _, _) = try open(mutated)
                #expect(states.contains(found))
                outcomes[0] += 1
            } catch is AppendLogError {
                outcomes[1] += 1
            }
        }
        #expect(outcomes.allSatisfy { $0 > 0 })
    }
}
