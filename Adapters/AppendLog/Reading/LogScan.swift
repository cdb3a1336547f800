import MortiseCore
import MortiseEngine

/// A valid frame on its way past.
struct ScannedFrame {
    let header: FrameHeader
    let position: LogPosition
    let payload: UnsafeRawBufferPointer

    /// Runs a body that reads the payload, and says where in the file it was faulty.
    func reading<R>(_ body: (inout ByteReader) throws -> R) throws -> R {
        var reader = ByteReader(payload)
        do {
            return try body(&reader)
        } catch let fault as PayloadFault {
            throw LogFault.malformed(
                part: .frame, offset: position.offset + Int64(FrameHeader.size + fault.offset), what: fault.what)
        }
    }
}

extension FrameReader {
    /// Passes each frame from a position on, verified, to the body, up to the first position without a frame. Skips frames
    /// of unknown kind that are marked skippable.
    /// - Parameters:
    ///   - start: the position of the first frame.
    ///   - base: transactions up to this number may be missing.
    ///   - includesUnknown: whether the body gets skippable frames of unknown kind too.
    ///   - body: gets each frame, whose payload is valid only inside. Returns false to stop after the frame.
    /// - Returns: the position after the last frame; why the frames end there (nil if the body stopped); the position
    ///   from which on no frame is known to be synced.
    /// - Throws: `LogFault`; what the body throws.
    func scan(
        from start: LogPosition, allowingGapsTo base: UInt64 = 0, includingUnknown includesUnknown: Bool = false,
        _ body: (ScannedFrame) throws -> Bool
    ) throws -> (position: LogPosition, end: LogEnd?, unsynced: LogPosition) {
        var position = start
        var unsynced: [LogPosition] = []
        // Where they begin in the array: taken from its front one by one, they would each be moved each time.
        var firstUnsynced = 0
        while true {
            let offset = position.offset
            guard let header = try header(at: offset), hasWhole(header, at: offset) else { break }
            let isKnown = header.kind == .schema || header.kind.isTransaction
            let goesOn = try withPayload(of: header, at: offset) { payload -> Bool in
                guard header.sequence == position.sequence else {
                    throw LogFault.outOfOrder(offset: offset, expected: position.sequence, found: header.sequence)
                }
                try checkTransaction(header, after: position.transaction, base, at: offset)
                guard isKnown || header.isSkippable else {
                    throw LogFault.unknownKind(offset: offset, kind: header.kind.rawValue)
                }
                if !isKnown, !includesUnknown { return true }
                return try body(ScannedFrame(header: header, position: position, payload: payload))
            }
            guard let goesOn else { break }
            if firstUnsynced < unsynced.count, unsynced[firstUnsynced].sequence <= header.synced {
                let synced = header.synced - unsynced[firstUnsynced].sequence + 1
                firstUnsynced += min(Int(clamping: synced), unsynced.count - firstUnsynced)
                if firstUnsynced > unsynced.count / 2 {
                    unsynced.removeFirst(firstUnsynced)
                    firstUnsynced = 0
                }
            }
            unsynced.append(position)
            position = position.following(header)
            if !goesOn { return (position, nil, unsynced[firstUnsynced]) }
        }
        return (position, try end(at: position), firstUnsynced < unsynced.count ? unsynced[firstUnsynced] : position)
    }

    /// The last schema from a position on, and where the frames end. The payloads of transactions are read only where the
    /// headers show a fault: a payload that was torn, or has a byte too many, shows in the header behind it.
    /// - Throws: the `LogFault` that `scan` throws.
    func lastSchema(
        from start: LogPosition, allowingGapsTo base: UInt64
    ) throws -> (schema: StoredSchema?, end: LogPosition) {
        do {
            return try lastSchemaOfHeaders(from: start)
        } catch is LogFault {
            var schema: StoredSchema?
            let scan = try scan(from: start, allowingGapsTo: base) { frame in
                if frame.header.kind == .schema { schema = try frame.reading { try $0.schema() } }
                return true
            }
            return (schema, scan.position)
        }
    }

    private func lastSchemaOfHeaders(from start: LogPosition) throws -> (schema: StoredSchema?, end: LogPosition) {
        var schema: StoredSchema?
        let position = try forEachSchema(from: start) { schema = $0 }
        _ = try end(at: position)
        return (schema, position)
    }

    /// Hands over the schemas from a position on, without looking at the payloads of transactions.
    /// - Returns: where the frames end.
    /// - Throws: `LogFault`.
    @discardableResult
    func forEachSchema(from start: LogPosition, _ body: (StoredSchema) -> Void) throws -> LogPosition {
        var position = start
        while let header = try header(at: position.offset), hasWhole(header, at: position.offset) {
            guard header.sequence == position.sequence else {
                throw LogFault.outOfOrder(
                    offset: position.offset, expected: position.sequence, found: header.sequence)
            }
            if header.kind == .schema {
                let found = try withPayload(of: header, at: position.offset) { payload in
                    try ScannedFrame(header: header, position: position, payload: payload).reading { try $0.schema() }
                }
                guard let found else { break }
                body(found)
            }
            position = position.following(header)
        }
        return position
    }

    private func checkTransaction(
        _ header: FrameHeader, after last: UInt64, _ base: UInt64, at offset: Int64
    ) throws(LogFault) {
        let isExpected =
            if !header.kind.isTransaction {
                header.transaction == last || (header.transaction > last && header.transaction <= base)
            } else if header.transaction <= base {
                header.transaction > last
            } else {
                header.transaction == last + 1 || (last <= base && header.transaction == base + 1)
            }
        guard isExpected else {
            throw .outOfOrder(offset: offset, expected: last + 1, found: header.transaction)
        }
    }
}
