import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Numbers behind which there are no more, with right checksums: another program wrote them.
struct HostileNumberTests {
    private static let hostile: [UInt64] = [1 << 62, 1 << 63, .max]
    private let schema = Schema([Box.self, Item.self])

    private func fault(_ disk: SimulatedFileSystem) -> LogFault? {
        do {
            try openStore(logConfiguration(disk)).close()
            return nil
        } catch {
            return (error as? AppendLogError)?.fault
        }
    }

    private func isMalformed(_ fault: LogFault?) -> Bool {
        if case .malformed? = fault { true } else { false }
    }

    /// A log with its schema and one more frame.
    private func log(
        _ header: FileHeader, _ payload: [UInt8]? = nil, position: LogPosition? = nil, transaction: UInt64 = 1
    ) throws -> [UInt8] {
        let catalog = LogCatalog(schema.stored, store: header.store.uuidString)
        var writer = ByteWriter()
        var frames = ByteWriter()
        let next = frames.frames(
            [(.schema, try catalog.schemaPayload())], from: .first, transaction: 0, synced: 0, seed: header.seed)
        header.bytes.withUnsafeBytes { writer.raw($0) }
        frames.bytes.withUnsafeBytes { writer.raw($0) }
        if let payload {
            var start = position ?? next
            start.end = next.end
            // The first of two stands where another should; from the second on it is read again.
            for sequence in position == nil ? [start.sequence] : [9, start.sequence] {
                writer.zeros(Int(start.offset) - writer.count)
                let frame = FrameHeader(
                    kind: .transaction, payload: payload, sequence: sequence, transaction: transaction, synced: 0,
                    seed: header.seed)
                frame.write(to: &writer, seed: header.seed)
                payload.withUnsafeBytes { writer.raw($0) }
                start.end = Int64(writer.count)
            }
        }
        return writer.bytes
    }

    private func transaction(next: UInt64) -> [UInt8] {
        var payload = ByteWriter()
        payload.fixed(UInt64(0))
        payload.byte(0)
        payload.text("process")
        payload.text("bundle")
        payload.varint(next)
        for _ in 0..<3 { payload.varint(0 as UInt64) }
        payload.byte(payloadEnd)
        return payload.bytes
    }

    private func checkpoint(_ log: FileHeader, transaction: UInt64, next: UInt64, sequence: UInt64) throws -> [UInt8] {
        let header = FileHeader(kind: .checkpoint, store: log.store)
        let directory = CheckpointDirectory(
            schema: schema.stored, transaction: transaction, nextSequence: next,
            places: [
                .init(
                    log: log.file,
                    position: LogPosition(end: Int64(FileHeader.size), sequence: sequence, transaction: transaction))
            ], keyForm: PackedTable.keyForm, tables: [])
        var payload = ByteWriter()
        try payload.directory(directory, store: log.store.uuidString)
        var sum = CRC32C(resuming: header.seed)
        sum.update(payload.bytes)
        var file = ByteWriter()
        header.bytes.withUnsafeBytes { file.raw($0) }
        payload.bytes.withUnsafeBytes { file.raw($0) }
        file.zeros((8 - file.count % 8) % 8)
        let footer = CheckpointFooter(
            offset: UInt64(FileHeader.size), length: UInt64(payload.count), checksum: sum.value)
        footer.bytes(seed: header.seed).withUnsafeBytes { file.raw($0) }
        return file.bytes
    }

    @Test(arguments: hostile) func theNextNumberOfATransactionIsRefused(number: UInt64) throws {
        let header = FileHeader(kind: .log, store: UUID())
        let good = try makeDisk(with: try log(header, transaction(next: 5)))
        #expect(fault(good) == nil)
        let disk = try makeDisk(with: try log(header, transaction(next: number)))
        #expect(isMalformed(fault(disk)))
        #expect(try !AppendLogStore.verify(logPath, in: disk).isSound)
    }

    /// A frame calls all before it synced; there are none behind it yet.
    @Test(arguments: [UInt64(0), 1]) func whatAFrameCallsSyncedIsTakenAsFarAsThereAreFrames(first: UInt64) throws {
        let header = FileHeader(kind: .log, store: UUID())
        let payload = transaction(next: 5)
        var bytes = try log(header)
        // The first frame is damaged, so that reading goes on at the next.
        bytes[64 + 60] ^= 1
        for (sequence, synced) in [(first, 0), (first + 1, UInt64.max - 1), (first + 2, UInt64.max - 1)] {
            var frame = ByteWriter()
            frame.zeros((8 - bytes.count % 8) % 8)
            let sealed = FrameHeader(
                kind: .transaction, payload: payload, sequence: sequence, transaction: sequence, synced: synced,
                seed: header.seed)
            sealed.write(to: &frame, seed: header.seed)
            bytes += frame.bytes + payload
        }
        let disk = try makeDisk(with: bytes)
        #expect(try !AppendLogStore.verify(logPath, in: disk).isSound)
        #expect(throws: AppendLogError.self) { try AppendLogStore.salvage(logPath, to: "/data/new.log", in: disk) }
    }

    @Test(arguments: hostile) func theBaseOfALogIsRefused(number: UInt64) throws {
        let header = FileHeader(kind: .log, store: UUID(), base: number)
        let disk = try makeDisk(with: try log(header))
        #expect(isMalformed(fault(disk)))
        #expect(try !AppendLogStore.verify(logPath, in: disk).isSound)
    }

    @Test(arguments: hostile) func theNumbersOfADirectoryAreRefused(number: UInt64) throws {
        let header = FileHeader(kind: .log, store: UUID())
        let log = try log(header)
        func ignored(transaction: UInt64, next: UInt64, sequence: UInt64) throws -> LogFault? {
            let disk = try makeDisk(
                with: log,
                checkpoint: try checkpoint(header, transaction: transaction, next: next, sequence: sequence))
            let store = try openStore(logConfiguration(disk))
            defer { try? store.close() }
            return store.recovery?.ignoredCheckpoint
        }
        #expect(try ignored(transaction: 0, next: 1, sequence: 1) == nil)
        #expect(isMalformed(try ignored(transaction: number, next: 1, sequence: 1)))
        #expect(isMalformed(try ignored(transaction: 0, next: number, sequence: 1)))
        #expect(isMalformed(try ignored(transaction: 0, next: 1, sequence: number)))
    }

    /// What would be refused at the next opening is refused before it is written.
    @Test func whoeverHasNoNumbersLeftSavesNoMore() throws {
        func refused(_ disk: SimulatedFileSystem, saves: Int) throws {
            let container = try openLog(logConfiguration(disk))
            for number in 0..<saves {
                let context = ModelContext(container)
                context.insert(Box("box \(number)"))
                try context.save()
            }
            let context = ModelContext(container)
            context.insert(Box("too much"))
            #expect { try context.save() } throws: {
                if case EngineError.noMoreNumbers = $0 { true } else { false }
            }
            #expect(context.hasChanges)
            try container.close()
            let reopened = try openLog(logConfiguration(disk))
            #expect(try ModelContext(reopened).fetchCount(FetchDescriptor<Box>()) == saves)
            try reopened.close()
        }
        let limit = EngineVersion.numberLimit
        for saves in 0...1 {
            let header = FileHeader(kind: .log, store: UUID())
            // Of records.
            try refused(makeDisk(with: log(header, transaction(next: limit - 1 - UInt64(saves)))), saves: saves)
            // Of frames, which a checkpoint says begin late.
            let first = limit - 2 - UInt64(saves)
            var bytes = ByteWriter()
            var frames = ByteWriter()
            header.bytes.withUnsafeBytes { bytes.raw($0) }
            _ = frames.frames(
                [(.schema, try LogCatalog(schema.stored, store: header.store.uuidString).schemaPayload())],
                from: LogPosition(end: Int64(FileHeader.size), sequence: first, transaction: 0), transaction: 0,
                synced: 0, seed: header.seed)
            frames.bytes.withUnsafeBytes { bytes.raw($0) }
            let disk = try makeDisk(
                with: bytes.bytes, checkpoint: try checkpoint(header, transaction: 0, next: 1, sequence: first))
            try refused(disk, saves: saves)
        }
    }

    /// Behind damage reading goes on at whatever frame comes next.
    @Test(arguments: hostile) func theNumbersOfAFrameAreRefused(number: UInt64) throws {
        let header = FileHeader(kind: .log, store: UUID())
        for (sequence, transaction) in [(number, number), (number, 1)] {
            let disk = try makeDisk(
                with: try log(
                    header, self.transaction(next: 5),
                    position: LogPosition(end: 0, sequence: sequence, transaction: 0), transaction: transaction))
            #expect(fault(disk) != nil)
            let found = try AppendLogStore.verify(logPath, in: disk)
            #expect(!found.isSound && found.transactions == 0)
        }
    }
}
