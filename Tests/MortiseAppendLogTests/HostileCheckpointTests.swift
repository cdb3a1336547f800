import FaultWorkload
import Foundation
import MortiseCore
import PackageTestSupport
import Testing

@testable import MortiseAppendLog
@testable import MortiseEngine
import MortiseTestSupport

/// Checkpoints that another program wrote, with right checksums.
struct HostileCheckpointTests {
    private static let checkpointPath = logPath + ".checkpoint"

    /// A checkpoint whose bytes can be changed, and its checksums made right again.
    private struct Resealed {
        var bytes: [UInt8]
        private let seed: UInt32
        private let directory: Range<Int>
        private let tail: LogTail?
        /// Each region that another names, and where.
        private(set) var regions: [(place: Range<Int>, name: Int)]

        init(_ bytes: [UInt8]) throws {
            self.bytes = bytes
            let seed = try FileHeader(Array(bytes.prefix(64)), expecting: .checkpoint).seed
            self.seed = seed
            let footer = try CheckpointFooter(
                Array(bytes.suffix(64)), at: UInt64(bytes.count - 64), seed: seed)
            let directory = Int(footer.offset)..<Int(footer.offset + footer.length)
            self.directory = directory
            tail = footer.tail
            regions = bytes.withUnsafeBytes { raw in
                (64..<(directory.upperBound - 16)).compactMap { name in
                    let offset = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: name, as: UInt64.self))
                    let length = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: name + 8, as: UInt32.self))
                    let end = offset.addingReportingOverflow(UInt64(length))
                    guard length > 0, offset >= 64, !end.overflow, end.partialValue <= UInt64(footer.offset) else {
                        return nil
                    }
                    let place = Int(offset)..<Int(end.partialValue)
                    let checksum = UInt32(littleEndian: raw.loadUnaligned(fromByteOffset: name + 12, as: UInt32.self))
                    return Self.sum(raw[place], seed) == checksum ? (place, name) : nil
                }
            }.sorted { $0.place.lowerBound < $1.place.lowerBound }
        }

        private static func sum(_ bytes: Slice<UnsafeRawBufferPointer>, _ seed: UInt32) -> UInt32 {
            var sum = CRC32C(resuming: seed)
            sum.update(UnsafeRawBufferPointer(rebasing: bytes))
            return sum.value
        }

        mutating func put(_ value: UInt64, at place: Int) {
            withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(place..<(place + 8), with: $0) }
        }

        /// Lets the second of two names name what the first does.
        mutating func alias(_ second: Int, to first: Int) {
            bytes.replaceSubrange(second..<(second + 16), with: bytes[first..<(first + 16)])
            regions.removeAll { $0.name == second }
            regions += regions.filter { $0.name == first }.map { ($0.place, second) }
            regions.sort { $0.place.lowerBound < $1.place.lowerBound }
        }

        /// What is named stands before what names it.
        mutating func seal() {
            for (place, name) in regions {
                let sum = bytes.withUnsafeBytes { Self.sum($0[place], seed) }
                withUnsafeBytes(of: sum.littleEndian) { bytes.replaceSubrange((name + 12)..<(name + 16), with: $0) }
            }
            let sum = bytes.withUnsafeBytes { Self.sum($0[directory], seed) }
            let footer = CheckpointFooter(
                offset: UInt64(directory.lowerBound), length: UInt64(directory.count), checksum: sum, tail: tail)
            bytes.replaceSubrange((bytes.count - 64)..., with: footer.bytes(seed: seed))
        }
    }

    /// A log whose records are in its checkpoint alone: items without a count and with one, tags and texts that are shared.
    private func makeLog() throws -> SimulatedFileSystem {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk, history: .keep(days: 0)))
        let context = ModelContext(container)
        for save in 0..<3 {
            let box = Box("box \(save)")
            context.insert(box)
            for number in 0..<12 {
                context.insert(
                    Item(
                        number % 2 == 0 ? "shared" : "an item with a long name \(save) \(number)",
                        count: number % 3 == 0 ? nil : number, tags: ["a", "b"], box: box))
            }
            try context.save()
        }
        #expect(try container.store(AppendLogStore.self)?.compact() ?? 0 > 0)
        try container.close()
        return disk
    }

    private func disk(_ log: [UInt8], _ checkpoint: Resealed) throws -> SimulatedFileSystem {
        try makeDisk(with: log, checkpoint: checkpoint.bytes)
    }

    /// Reads everything in every way. What is wrong is an error; a program that ends is a failure of this run.
    /// - Returns: what the store holds; nil where it cannot be read.
    @discardableResult
    private func readAll(_ disk: SimulatedFileSystem) throws -> [String]? {
        let isSound = try AppendLogStore.verify(logPath, in: disk).isSound
        _ = try? AppendLogStore.salvage(logPath, to: "/data/new.log", in: disk)
        do {
            let found = try withLog(logConfiguration(disk, allowsSave: false)) { context in
                _ = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.name == "shared" }))
                _ = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.count == nil }))
                return try contents(context)
            }
            return found
        } catch ModelContextError.invalidStoredValue {
            // A value of the store's kind that the model's type does not take.
            return nil
        } catch {
            #expect(!isSound, "\(error)")
            return nil
        }
    }

    @Test func withItsChecksumsMadeRightItReadsAsBefore() throws {
        let origin = try makeLog()
        let log = try #require(origin.contents(at: logPath))
        var checkpoint = try Resealed(try #require(origin.contents(at: Self.checkpointPath)))
        let before = checkpoint.bytes
        #expect(checkpoint.regions.count >= 6)
        checkpoint.seal()
        #expect(checkpoint.bytes == before)
        #expect(try readAll(disk(log, checkpoint))?.count == 39)
    }

    /// Numbers anywhere that are as large or as small as can be.
    @Test func noNumberInARegionEndsTheProgram() throws {
        let origin = try makeLog()
        let log = try #require(origin.contents(at: logPath))
        let checkpoint = try Resealed(try #require(origin.contents(at: Self.checkpointPath)))
        var generator = TestGenerator(seed: testSeed())
        var refused = 0
        for region in checkpoint.regions {
            // All that stands at the beginning, where lengths and directories are, and some of the rest.
            let beginning = stride(
                from: region.place.lowerBound, to: min(region.place.lowerBound + 96, region.place.upperBound - 7), by: 4
            )
            let rest = (0..<(isFullSize ? 60 : 6)).map { _ in
                Int.random(
                    in: region.place.lowerBound...max(region.place.lowerBound, region.place.upperBound - 8),
                    using: &generator)
            }
            // At small size one value for each place, another from one to the next.
            for (turn, place) in (Array(beginning) + rest).enumerated() where place + 8 <= region.place.upperBound {
                let values = [UInt64.max, 0, 1 << 63]
                for value in isFullSize ? values : [values[turn % 3]] {
                    var changed = checkpoint
                    changed.put(value, at: place)
                    changed.seal()
                    if try readAll(disk(log, changed)) == nil { refused += 1 }
                }
            }
        }
        #expect(refused > (isFullSize ? 100 : 30))
    }

    /// Readers look at the value before they ask whether there is one.
    @Test(arguments: [UInt8(0xFF), 1]) func aValueThatIsAbsentHasNoBytes(byte: UInt8) throws {
        let origin = try makeLog()
        let log = try #require(origin.contents(at: logPath))
        let checkpoint = try Resealed(try #require(origin.contents(at: Self.checkpointPath)))
        let names = ["name", "count", "made", "tags", "box", "scratch"]
        let store = try openStore(logConfiguration(origin))
        let catalog = LogCatalog(
            store.engine.version.catalog.schema, store: store.engine.version.catalog.storeIdentifier)
        try store.close()
        let entity = try #require(catalog.numbers["Item"])
        let slots = catalog.layouts[entity].slots
        let slot = try #require(slots.firstIndex { $0.name == "count" })
        #expect(Set(slots.map(\.name)) == Set(names))
        var tried = 0
        for region in checkpoint.regions where region.place.count > 256 {
            let found = checkpoint.bytes.withUnsafeBytes { raw -> [Int]? in
                let place = ChunkPlace(
                    fixed: raw.baseAddress! + region.place.lowerBound, heap: raw.baseAddress! + region.place.lowerBound)
                guard place.columnCount == slots.count, place.entry(slot).form == .int64 else { return nil }
                let entry = place.entry(slot)
                return (0..<36).filter { place.isAbsent(entry, $0) }.map { entry.offset + 8 * $0 }
            }
            guard let found, !found.isEmpty else { continue }
            tried += 1
            for offset in found {
                var changed = checkpoint
                changed.bytes[region.place.lowerBound + offset] = byte
                changed.seal()
                let disk = try disk(log, changed)
                #expect(try readAll(disk) == nil)
            }
        }
        #expect(tried == 1)
    }

    /// Branches that share what is beneath them would make a few nodes as many as one likes.
    @Test func aNodeIsBeneathOneBranchAlone() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk, history: .keep(days: 0)))
        let context = ModelContext(container)
        for number in 0..<1_000 {
            context.insert(Box("box number \(number)"))
            if number == 500 { try context.save() }
        }
        try context.save()
        #expect(try container.store(AppendLogStore.self)?.compact() ?? 0 > 0)
        try container.close()
        let log = try #require(disk.contents(at: logPath))
        let checkpoint = try Resealed(try #require(disk.contents(at: Self.checkpointPath)))
        func beneath(_ name: Int) -> ArraySlice<UInt8> { checkpoint.bytes[(name + 16)..<(name + 24)] }
        let names = Set(checkpoint.regions.map(\.name))
        let siblings = names.filter { name in
            names.contains(name + 24) && beneath(name).elementsEqual(beneath(name + 24))
                && checkpoint.regions.contains { $0.place.contains(name) }
        }
        #expect(!siblings.isEmpty)
        for first in siblings {
            var changed = checkpoint
            changed.alias(first + 24, to: first)
            changed.seal()
            let problems = try AppendLogStore.verify(logPath, in: self.disk(log, changed)).problems
            #expect(
                problems.contains { "\($0)".contains("has an impossible child") }, "\(problems)")
        }
    }

    /// Then frames are passed over that no checkpoint has.
    @Test func aCheckpointWhosePlaceIsAnotherFramesIsToldOf() throws {
        let disk = try makeLog()
        var ends: [Int64] = []
        try withLog(logConfiguration(disk)) { context in
            let writer = try #require(context.container.store(AppendLogStore.self)?.opened.sink).writer
            ends.append(writer.state.position.end)
            for number in 0..<3 {
                context.insert(Box("behind \(number)"))
                try context.save()
                ends.append(writer.state.position.end)
            }
        }
        let log = try #require(disk.contents(at: logPath))
        #expect(try AppendLogStore.verify(logPath, in: disk).isSound)
        var checkpoint = try Resealed(try #require(disk.contents(at: Self.checkpointPath)))
        let end = withUnsafeBytes(of: UInt64(ends[0]).littleEndian) { Array($0) }
        let places = checkpoint.bytes.indices.filter { checkpoint.bytes[$0...].starts(with: end) }
        #expect(!places.isEmpty)
        for place in places { checkpoint.put(UInt64(ends[2]), at: place) }
        checkpoint.seal()
        let changed = try makeDisk(with: log, checkpoint: checkpoint.bytes)
        let problems = try AppendLogStore.verify(logPath, in: changed).problems
        #expect(problems.contains { $0.fault == .checkpointOfAnother }, "\(problems)")
    }

    /// An older copy of the log is as long as the newer, since room was allocated ahead, and ends before the place.
    @Test func aCheckpointBesideAnOlderCopyOfItsLogIsRefused() throws {
        let disk = try makeDisk()
        let container = try openLog(logConfiguration(disk))
        let context = ModelContext(container)
        context.insert(Box("first"))
        try context.save()
        let older = try #require(disk.contents(at: logPath))
        context.insert(Box("second"))
        try context.save()
        try container.store(AppendLogStore.self)?.checkpoint()
        let newer = try #require(disk.contents(at: Self.checkpointPath))
        #expect(disk.contents(at: logPath)?.count == older.count)
        try container.close()
        let mixed = try makeDisk(with: older, checkpoint: newer)
        #expect {
            try openStore(logConfiguration(mixed))
        } throws: {
            ($0 as? AppendLogError)?.fault == .checkpointOfAnother
        }
        #expect(try !AppendLogStore.verify(logPath, in: mixed).isSound)
        #expect(mixed.contents(at: logPath) == older)
    }
}
