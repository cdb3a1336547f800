/// The set of bytes that a pattern writes in brackets: `[abc]`, `[a-z]`, `[!0-9]`, `[[:space:]]`.
struct ByteSet {
    private var ranges: [ClosedRange<UInt8>] = []
    private let isNegated: Bool

    /// The set whose opening bracket comes before `rest`, which then begins after its end; nil if it has no end, or names a
    /// class that does not exist.
    init?(_ rest: inout ArraySlice<UInt8>) {
        isNegated = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
        if isNegated { rest.removeFirst() }
        let start = rest.startIndex
        var lower: UInt8?
        while let byte = rest.popFirst() {
            // A bracket at the beginning is one of the bytes.
            if byte == UInt8(ascii: "]"), rest.startIndex - 1 != start { return }
            if byte == UInt8(ascii: "-"), let first = lower, let next = rest.first, next != UInt8(ascii: "]") {
                guard let last = Self.unescaped(rest.removeFirst(), &rest) else { return nil }
                if first <= last { ranges.append(first...last) }
                lower = nil
            } else if byte == UInt8(ascii: "["), let name = Self.className(&rest) {
                guard let named = Self.classes[name] else { return nil }
                ranges += named
                lower = nil
            } else {
                guard let single = Self.unescaped(byte, &rest) else { return nil }
                ranges.append(single...single)
                lower = single
            }
        }
        return nil
    }

    func contains(_ byte: UInt8) -> Bool {
        ranges.contains { $0.contains(byte) } != isNegated
    }

    private static func unescaped(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) -> UInt8? {
        byte == UInt8(ascii: "\\") ? rest.popFirst() : byte
    }

    /// The name in `:name:]`, which is then taken off `rest`.
    private static func className(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard rest.first == UInt8(ascii: ":"), let end = rest.firstIndex(of: UInt8(ascii: "]")),
            end - rest.startIndex >= 2, rest[end - 1] == UInt8(ascii: ":")
        else { return nil }
        defer { rest = rest[(end + 1)...] }
        return String(decoding: rest[(rest.startIndex + 1)..<(end - 1)], as: UTF8.self)
    }

    /// The classes of POSIX, for ASCII.
    private static let classes: [String: [ClosedRange<UInt8>]] = [
        "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A], "alpha": [0x41...0x5A, 0x61...0x7A],
        "blank": [0x09...0x09, 0x20...0x20],
        "cntrl": [0x00...0x1F, 0x7F...0x7F], "digit": [0x30...0x39], "graph": [0x21...0x7E], "lower": [0x61...0x7A],
        "print": [0x20...0x7E], "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E],
        "space": [0x09...0x0D, 0x20...0x20], "upper": [0x41...0x5A], "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66],
    ]
}
