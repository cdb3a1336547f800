/// One line of a `.gitignore` file, with the meaning that gitignore(5) gives it.
///
/// Names are compared byte for byte, and `?` is one byte, as in Git. A match takes time in proportion to the lengths of the
/// pattern and of the path, whatever the pattern holds.
struct IgnorePattern {
    /// Whether the line begins with `!`: what it matches is taken in again.
    let takesIn: Bool
    /// Whether the line ends with `/`.
    private let isForFolders: Bool
    /// Whether a slash within the line ties it to the folder of its file; otherwise it is about names, at any depth.
    private let isAboutPaths: Bool
    /// Nil if the line can match nothing: a set without its end, or a backslash at the end.
    private let tokens: [Token]?

    private enum Token {
        case byte(UInt8)
        /// `?`
        case anyByte
        case set(ByteSet)
        /// `*`, or `**` where it may cross slashes.
        case star(crossesSlashes: Bool)
        /// Before the `**` and the slash of `**/`, which may both be missing.
        case nextTwoOrNothing
    }

    /// The pattern of a line, which has no line end; nil for blank lines and comments.
    init?(line: some Sequence<UInt8>) {
        var line = Self.withoutTrailingSpaces(Array(line))[...]
        guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
        takesIn = first == UInt8(ascii: "!")
        if takesIn { line.removeFirst() }
        isForFolders = line.last == UInt8(ascii: "/")
        if isForFolders { line.removeLast() }
        isAboutPaths = line.contains(UInt8(ascii: "/"))
        if line.first == UInt8(ascii: "/") { line.removeFirst() }
        tokens = line.isEmpty ? nil : Self.tokens(of: line)
    }

    /// Whether the pattern is about the entry at `path`, which is relative to the folder of the pattern's file.
    func matches(_ path: ArraySlice<UInt8>, isFolder: Bool) -> Bool {
        guard let tokens, isFolder || !isForFolders else { return false }
        if isAboutPaths { return Self.matches(path, tokens) }
        let nameStart = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? path.startIndex
        return Self.matches(path[nameStart...], tokens)
    }

    /// All ways through the pattern at once: going back from a star that took too much could take exponential time.
    private static func matches(_ text: ArraySlice<UInt8>, _ tokens: [Token]) -> Bool {
        var reached = [Bool](repeating: false, count: tokens.count + 1)
        reached[0] = true
        skipWhatMayBeEmpty(&reached, tokens)
        for byte in text {
            var next = [Bool](repeating: false, count: tokens.count + 1)
            for (place, token) in tokens.enumerated() where reached[place] {
                switch token {
                case .byte(let wanted): if byte == wanted { next[place + 1] = true }
                case .anyByte: if byte != UInt8(ascii: "/") { next[place + 1] = true }
                case .set(let set): if byte != UInt8(ascii: "/") && set.contains(byte) { next[place + 1] = true }
                case .star(let crosses): if crosses || byte != UInt8(ascii: "/") { next[place] = true }
                case .nextTwoOrNothing: break
                }
            }
            reached = next
            skipWhatMayBeEmpty(&reached, tokens)
        }
        return reached[tokens.count]
    }

    private static func skipWhatMayBeEmpty(_ reached: inout [Bool], _ tokens: [Token]) {
        for (place, token) in tokens.enumerated() where reached[place] {
            switch token {
            case .star: reached[place + 1] = true
            case .nextTwoOrNothing: (reached[place + 1], reached[place + 3]) = (true, true)
            case .byte, .anyByte, .set: break
            }
        }
    }

    private static func tokens(of pattern: ArraySlice<UInt8>) -> [Token]? {
        var tokens: [Token] = []
        var rest = pattern
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                tokens.append(.byte(escaped))
            case UInt8(ascii: "?"):
                tokens.append(.anyByte)
            case UInt8(ascii: "["):
                guard let set = ByteSet(&rest) else { return nil }
                tokens.append(.set(set))
            case UInt8(ascii: "*"):
                let start = rest.startIndex - 1
                rest = rest.drop { $0 == UInt8(ascii: "*") }
                let beginsName = start == pattern.startIndex || pattern[start - 1] == UInt8(ascii: "/")
                let endsName = rest.isEmpty || rest.first == UInt8(ascii: "/")
                let crossesSlashes = rest.startIndex - start > 1 && beginsName && endsName
                if crossesSlashes && !rest.isEmpty { tokens.append(.nextTwoOrNothing) }
                tokens.append(.star(crossesSlashes: crossesSlashes))
            default:
                tokens.append(.byte(byte))
            }
        }
        return tokens
    }

    private static func withoutTrailingSpaces(_ line: [UInt8]) -> [UInt8] {
        var end = 0
        var index = 0
        while index < line.count {
            if line[index] == UInt8(ascii: "\\") {
                index += 1
            } else if line[index] == UInt8(ascii: " ") {
                index += 1
                continue
            }
            index += 1
            end = min(index, line.count)
        }
        return Array(line[..<end])
    }
}
