import MortiseCore
import MortiseEngine

/// A valid frame on its way past, or a part of a migration, which comes as if schemas and changes were frames of their own.
struct ScannedFrame {
    /// Of a part, what it would have for a header.
    let header: FrameHeader
    /// The header that is in the file.
    let wholeHeader: FrameHeader
    let position: LogPosition
    let payload: UnsafeRawBufferPointer
    /// Where the payload begins behind the header.
    private let start: Int

    /// Whether more changes of the same transaction follow.
    let isContinued: Bool

    /// The position after the whole frame.
    var next: LogPosition { position.following(wholeHeader) }

    init(
        header: FrameHeader, of wholeHeader: FrameHeader? = nil, position: LogPosition,
        payload: UnsafeRawBufferPointer, from start: Int = 0, isContinued: Bool = false
    ) {
        self.header = header
        self.wholeHeader = wholeHeader ?? header
        self.position = position
        self.payload = payload
        self.start = start
        self.isContinued = isContinued
    }

    /// Where in the file a byte of the payload is.
    func offset(of place: Int) -> Int64 { position.offset + Int64(FrameHeader.size + start + place) }

    /// Runs a body that reads the payload, and says where in the file it was faulty.
    func reading<R>(_ body: (inout ByteReader) throws -> R) throws -> R {
        var reader = ByteReader(payload)
        do {
            return try body(&reader)
        } catch let fault as PayloadFault {
            throw LogFault.malformed(
                part: .frame, offset: offset(of: fault.offset), what: fault.what)
        }
    }

    /// The frame itself, or the parts of a migration: schemas and changes, as they follow one another.
    /// - Throws: `LogFault.malformed`.
    func parts() throws -> [ScannedFrame] {
        guard header.kind == .migration else { return [self] }
        return try reading { reader in
            var parts: [ScannedFrame] = []
            func add(_ kind: FrameKind, _ bytes: UnsafeRawBufferPointer, endingAt end: Int, isLast: Bool) {
                var part = header
                part.kind = kind
                part.transaction = kind == .schema ? position.transaction : header.transaction
                parts.append(
                    ScannedFrame(
                        header: part, of: header, position: position, payload: bytes, from: end - bytes.count,
                        isContinued: kind != .schema && !isLast))
            }
            for _ in 0..<(try reader.count(of: 2)) {
                // Whether its values name files was said by the kind of the whole frame.
                let kind = FrameKind(rawValue: try reader.byte())
                guard kind == .schema || kind == .transactionWithFiles else {
                    throw reader.fault("has a part of kind \(kind.rawValue)")
                }
                let bytes = try reader.raw()
                guard bytes.last == payloadEnd else { throw reader.fault("has a part without its last byte") }
                add(kind, bytes, endingAt: reader.offset, isLast: false)
            }
            let rest = try reader.bytes(reader.rest)
            guard !rest.isEmpty else { throw reader.fault("ends too early") }
            add(.transactionWithFiles, rest, endingAt: reader.offset, isLast: true)
            return parts
        }
    }
}

extension ScannedFrame {
    /// The payload of a migration's last schema; nil for other frames.
    func lastSchema() throws -> [UInt8]? {
        guard header.kind == .migration else { return nil }
        return try parts().last { $0.header.kind == .schema }.map { Array($0.payload) }
    }
}

extension FrameReader {
    /// Passes each frame from a position on, verified, to the body, up to the first position without a frame. Skips frames
    /// of unknown kind that are marked skippable, and passes the parts of a migration one by one.
    /// - Parameters:
    ///   - start: the position of the first frame.
    ///   - base: transactions up to this number may be missing.
    ///   - includesUnknown: whether the body gets skippable frames of unknown kind too.
    ///   - keepsWhole: whether the body gets migrations as they are.
    ///   - body: gets each frame, whose payload is valid only inside. Returns false to stop after the frame.
    /// - Returns: the position after the last frame; why the frames end there (nil if the body stopped); the position
    ///   from which on no frame is known to be synced.
    /// - Throws: `LogFault`; what the body throws.
    func scan(
        from start: LogPosition, allowingGapsTo base: UInt64 = 0, includingUnknown includesUnknown: Bool = false,
        keepingWhole keepsWhole: Bool = false, _ body: (ScannedFrame) throws -> Bool
    ) throws -> (position: LogPosition, end: LogEnd?, unsynced: LogPosition) {
        var position = start
        var unsynced: [LogPosition] = []
        // Where they begin in the array: taken from its front one by one, they would each be moved each time.
        var firstUnsynced = 0
        while true {
            let offset = position.offset
            guard let header = try header(at: offset), hasWhole(header, at: offset) else { break }
            let isKnown = header.kind.isKnown
            let goesOn = try withPayload(of: header, at: offset) { payload -> Bool in
                guard header.sequence == position.sequence else {
                    throw LogFault.outOfOrder(offset: offset, expected: position.sequence, found: header.sequence)
                }
                try checkTransaction(header, after: position.transaction, base, at: offset)
                guard isKnown || header.isSkippable else {
                    throw LogFault.unknownKind(offset: offset, kind: header.kind.rawValue)
                }
                if !isKnown, !includesUnknown { return true }
                let frame = ScannedFrame(header: header, position: position, payload: payload)
                if keepsWhole || header.kind != .migration { return try body(frame) }
                return try frame.parts().allSatisfy(body)
            }
            guard let goesOn else { break }
            while firstUnsynced < unsynced.count, unsynced[firstUnsynced].sequence <= header.synced {
                firstUnsynced += 1
            }
            if firstUnsynced > unsynced.count / 2 {
                unsynced.removeFirst(firstUnsynced)
                firstUnsynced = 0
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
            if header.kind == .schema || header.kind == .migration {
                let found = try withPayload(of: header, at: position.offset) { payload in
                    try ScannedFrame(header: header, position: position, payload: payload).parts()
                        .filter { $0.header.kind == .schema }.map { part in try part.reading { try $0.schema() } }
                }
                guard let found else { break }
                found.forEach(body)
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
