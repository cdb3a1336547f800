import MortiseCore

/// A part of an index: the keys from one, included, to another, not included.
struct IndexRange: Hashable, Sendable {
    var lower: [UInt8]
    /// Nil for the index's end.
    var upper: [UInt8]?

    static let all = IndexRange(lower: [], upper: nil)

    /// The end of a range of values.
    struct Bound {
        var value: StoredValue
        var isIncluded: Bool
    }

    init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    /// The keys that begin with these bytes.
    init(beginningWith bytes: [UInt8]) {
        lower = bytes
        upper = Self.successor(of: bytes)
    }

    /// The least bytes after everything that begins with the given ones; nil if no bytes follow.
    static func successor(of bytes: [UInt8]) -> [UInt8]? {
        var bytes = bytes
        while bytes.last == 0xFF { bytes.removeLast() }
        if bytes.isEmpty { return nil }
        bytes[bytes.count - 1] += 1
        return bytes
    }

    func withLower<R>(isWide: Bool, _ body: (IndexProbe) throws -> R) rethrows -> R {
        try Self.probe(lower, isWide, body)
    }

    func withUpper<R>(isWide: Bool, _ body: (IndexProbe?) throws -> R) rethrows -> R {
        guard let upper else { return try body(nil) }
        return try Self.probe(upper, isWide, body)
    }

    private static func probe<R>(
        _ bytes: [UInt8], _ isWide: Bool, _ body: (IndexProbe) throws -> R
    ) rethrows -> R {
        let length = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
        return try bytes[..<length].withUnsafeBytes { try body(IndexProbe($0, row: 0, isWide: isWide)) }
    }
}
