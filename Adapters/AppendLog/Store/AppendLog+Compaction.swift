import Foundation
import MortiseCore
import MortiseEngine

extension AppendLog {
    /// Writes a checkpoint, drops the transactions before it for which `keeps` returns false, and then the external
    /// files that no record names any more, those that `dropping` says for good. Asks `keeps` for each transaction up to
    /// the checkpoint, oldest first, and returns how many were dropped.
    @discardableResult
    func compact(
        _ progress: MaintenanceProgress, dropping: ExternalFiles.Dropping,
        keeping keeps: (_ transaction: UInt64, _ time: Date) throws -> Bool
    ) throws -> Int {
        try maintaining(progress) { try compactAlone(progress, dropping: dropping, keeping: keeps) }
    }

    /// Like `compact`, for a caller that has excluded all other maintenance.
    func compactAlone(
        _ progress: MaintenanceProgress, dropping: ExternalFiles.Dropping,
        keeping keeps: (_ transaction: UInt64, _ time: Date) throws -> Bool
    ) throws -> Int {
        // The others would go on in the old log.
        try writer.holdAlone()
        defer { writer.share() }
        for work in [checkpoints, compactions] { work.hold() }
        defer { for work in [checkpoints, compactions] { work.release() } }
        catchUp()
        let (version, position, header) = try snapshot(progress)
        let checkpoint = checkpointWriter(version, progress)
        // The log is read twice, and the part that is kept is written.
        progress.begin(total: 2 * position.end)
        let doomed = try transactionsToDrop(before: position, of: header, progress, keeps)
        let dropped = doomed.transactions
        if dropped.isEmpty {
            let size = try write(checkpoint, [.init(log: header.file, position: position)])
            noteCheckpoint(behind: position.end, size: size)
            try progress.advance(to: 2 * position.end)
            sweepExternal(progress, dropping)
            return 0
        }
        let next = FileHeader(kind: .log, store: header.store, base: version.number)
        var isHolding = false
        var isReplaced = false
        var taken: LogPosition?
        var written: (end: Int64, size: Int64)?
        do {
            try DurableReplacement(of: path, in: fileSystem).replace { file in
                var frames = try FrameWriter(next, to: file)
                try copyHistory(without: doomed, to: position, of: header, progress, into: &frames)
                frames.skip(to: version.number)
                let base = frames.position
                let size = try write(
                    checkpoint,
                    [.init(log: header.file, position: position), .init(log: next.file, position: base)])
                noteCheckpoint(behind: position.end, size: size)
                written = (base.end, size)
                try progress.advance(to: 2 * position.end)
                var copied = try copyAhead(from: position, of: header, progress, into: &frames, file)
                var end = try writer.holdAppends()
                isHolding = true
                var attempts = 1
                // Holding waits for a long frame, which is copied while others go on.
                while end.end - copied.end > Self.longestTail, attempts < 8 {
                    isHolding = false
                    writer.resumeAppends()
                    attempts += 1
                    copied = try copyAhead(from: copied, of: header, progress, into: &frames, file)
                    end = try writer.holdAppends()
                    isHolding = true
                }
                try copyTail(from: copied, to: end, of: header, into: &frames)
                taken = frames.position
            }
            isReplaced = true
            let file = try fileSystem.open(path, mode: .readWrite)
            try LogOpening.claim(file, isShared: isShared)
            guard let taken else { throw EngineError.latched(store: path, cause: "nothing was copied") }
            try writer.releaseAppends(takingUp: file, header: next, position: taken)
            if let written { noteCheckpoint(behind: written.end, size: written.size) }
            compactions.plan(at: taken.end + configuration.leastGarbage)
        } catch {
            if isHolding { writer.releaseAppends(after: error, isReplaced: isReplaced) }
            throw error
        }
        sweepExternal(progress, dropping)
        return dropped.count
    }

    /// How much is copied at most while savers wait, but where they save faster than that.
    private static let longestTail: Int64 = 1 << 20

    /// Copies and syncs what has come since a position, while more comes, until little is left.
    /// - Returns: how far it was copied.
    private func copyAhead(
        from start: LogPosition, of header: FileHeader, _ progress: MaintenanceProgress, into frames: inout FrameWriter,
        _ file: FileWriter
    ) throws -> LogPosition {
        var copied = start
        for _ in 0..<16 {
            let now = writer.state.position
            try copyTail(from: copied, to: now, of: header, into: &frames)
            copied = now
            // So that the sync for which savers have to wait finds little to write.
            try file.sync(.data)
            try progress.check()
            if writer.state.position.end - copied.end < Self.longestTail { break }
        }
        return copied
    }

    /// Removes the external files that neither the records name nor any version that this process still holds; no other
    /// process has the log open for writing. Files that cannot be removed wait for the next compaction.
    private func sweepExternal(_ progress: MaintenanceProgress, _ dropping: ExternalFiles.Dropping) {
        // Until the first save under another schema the log still has what the old one names.
        guard let external = catalog.external, !hasOtherSchema else { return }
        _ = try? external.sweep(external.present(), dropping: dropping) { try snapshot(progress).version }
    }

    private func scan(
        of header: FileHeader, from start: LogPosition = .first, to end: LogPosition,
        _ body: (ScannedFrame) throws -> Void
    ) throws {
        let file = try fileSystem.open(path, mode: .read)
        defer { try? file.close() }
        let reader = FrameReader(file, size: end.end, seed: header.seed)
        if start == end { return }
        let scan = try AppendLogError.naming(path) {
            try reader.scan(
                from: start, allowingGapsTo: header.base, includingUnknown: true, keepingWhole: true
            ) { frame in
                try body(frame)
                return true
            }
        }
        guard scan.position.sequence == end.sequence else {
            throw AppendLogError(
                path: path,
                fault: .damagedFrame(
                    offset: scan.position.offset, sequence: scan.position.sequence, reason: "it has disappeared"))
        }
    }

    /// Transactions that a compaction drops.
    private struct Doomed {
        var transactions: Set<UInt64> = []
        /// The first transaction that is kept: those before it leave no trace, but for the last.
        var firstKept = UInt64.max
        /// The last before it.
        var horizon: UInt64 = 0

        func leavesStub(_ number: UInt64) -> Bool { number >= horizon }
    }

    private func transactionsToDrop(
        before end: LogPosition, of header: FileHeader, _ progress: MaintenanceProgress,
        _ keeps: (UInt64, Date) throws -> Bool
    ) throws -> Doomed {
        var doomed = Doomed()
        try scan(of: header, to: end) { frame in
            let number = frame.header.transaction
            if frame.header.kind == .stub, doomed.firstKept == .max { doomed.horizon = number }
            guard frame.header.kind.isTransaction else { return }
            guard let last = try frame.parts().last else { return }
            let origin = try last.reading { try $0.origin().origin }
            if try keeps(number, origin.timestamp) {
                doomed.firstKept = min(doomed.firstKept, number)
            } else {
                doomed.transactions.insert(number)
                if doomed.firstKept == .max { doomed.horizon = number }
            }
            try progress.advance(to: frame.position.end)
        }
        return doomed
    }

    /// Copies the frames that are kept, with the schema that each of them needs and that of what follows. Of a transaction in between that
    /// is not kept a stub stays, and one of the last before them.
    private func copyHistory(
        without doomed: Doomed, to end: LogPosition, of header: FileHeader, _ progress: MaintenanceProgress,
        into frames: inout FrameWriter
    ) throws {
        var schema: [UInt8] = []
        var isWritten = false
        func writeSchema(_ frames: inout FrameWriter) throws {
            if !isWritten, !schema.isEmpty { try frames.append(.schema, schema) }
            isWritten = true
        }
        try scan(of: header, to: end) { frame in
            let number = frame.header.transaction
            if frame.header.kind == .schema {
                schema = Array(frame.payload)
                isWritten = false
            } else if frame.header.kind.isTransaction, !doomed.transactions.contains(number) {
                try writeSchema(&frames)
                try frames.append(frame.header.kind, frame.payload, transaction: number)
                // What follows is under its last schema.
                if let last = try frame.lastSchema() { schema = last }
            } else if frame.header.kind.isTransaction {
                if doomed.leavesStub(number) {
                    try writeSchema(&frames)
                    var stub = ByteWriter()
                    stub.stub(try frame.entry())
                    try stub.bytes.withUnsafeBytes {
                        try frames.append(.stub, $0, transaction: number, isSkippable: true)
                    }
                }
                if let last = try frame.lastSchema() {
                    schema = last
                    isWritten = false
                }
            } else if frame.header.kind != .stub || doomed.leavesStub(number) {
                // A stub, or a frame of a later version: without knowing its purpose, keep it.
                try writeSchema(&frames)
                try frames.append(
                    frame.header.kind, frame.payload, transaction: number, isSkippable: frame.header.isSkippable)
            }
            try progress.advance(to: end.end + frame.position.end)
        }
        if !isWritten { try frames.append(.schema, schema) }
    }

    private func copyTail(
        from start: LogPosition, to end: LogPosition, of header: FileHeader, into frames: inout FrameWriter
    ) throws {
        try scan(of: header, from: start, to: end) { frame in
            try frames.append(
                frame.header.kind, frame.payload, transaction: frame.header.transaction,
                isSkippable: frame.header.isSkippable)
        }
    }
}
