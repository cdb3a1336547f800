extension ByteWriter {
    /// Appends frames as they follow one another from a position, beginning at its offset.
    /// - Returns: the position after the last.
    mutating func frames(
        _ frames: [(kind: FrameKind, payload: [UInt8])], from position: LogPosition, transaction: UInt64,
        synced: UInt64, seed: UInt32
    ) -> LogPosition {
        var position = position
        let start = position.offset
        for (kind, payload) in frames {
            zeros(Int(position.offset - start) - count)
            let number = kind.isTransaction ? transaction : position.transaction
            let header = FrameHeader(
                kind: kind, payload: payload, sequence: position.sequence, transaction: number, synced: synced,
                seed: seed)
            header.write(to: &self, seed: seed)
            payload.withUnsafeBytes { raw($0) }
            position = position.following(header)
        }
        return position
    }
}
