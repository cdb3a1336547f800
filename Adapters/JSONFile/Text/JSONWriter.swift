/// Writes JSON tokens to a sink, through a buffer.
///
/// The writer knows tokens, not structure: brackets, commas and line ends are `punctuation` that the caller places. The
/// same calls give the same bytes. Nothing reaches the sink later than `flush`; what the sink throws is passed on, and
/// the writer must not be used again after that.
package struct JSONWriter: ~Copyable {
    /// Takes the bytes; they are only valid during the call.
    package typealias Sink = (UnsafeRawBufferPointer) throws -> Void

    static let bufferSize = 1 << 16
    /// Room for any one number.
    static let numberRoom = 32

    private let sink: Sink
    private let buffer: UnsafeMutableRawBufferPointer
    private var fill = 0
    private var flushed = 0

    package init(sink: @escaping Sink) {
        self.sink = sink
        buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// The number of bytes written so far, those in the buffer included.
    package var written: Int { flushed &+ fill }

    /// Hands everything in the buffer to the sink.
    package mutating func flush() throws {
        guard fill > 0 else { return }
        let count = fill
        fill = 0
        flushed &+= count
        try sink(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    /// Makes room for `count` bytes, at most `bufferSize`.
    @inline(__always) mutating func reserve(_ count: Int) throws {
        if count > Self.bufferSize &- fill { try flush() }
    }

    /// Appends a byte for which room has been made.
    @inline(__always) mutating func put(_ byte: UInt8) {
        buffer.storeBytes(of: byte, toByteOffset: fill, as: UInt8.self)
        fill &+= 1
    }

    /// Hands the free part of the buffer to `body`, which returns how much of it it used.
    @inline(__always) mutating func fillBuffer(_ body: (UnsafeMutableRawBufferPointer) -> Int) {
        fill &+= body(UnsafeMutableRawBufferPointer(rebasing: buffer[fill...]))
    }

    /// Appends raw bytes.
    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while rest.count > Self.bufferSize &- fill {
            let room = Self.bufferSize &- fill
            copy(UnsafeRawBufferPointer(rebasing: rest[..<room]))
            try flush()
            rest = UnsafeRawBufferPointer(rebasing: rest[room...])
        }
        copy(rest)
    }

    /// Appends bytes that are followed, where they are, by `shortRoom` bytes that may be read.
    @inline(__always) mutating func append(short bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count <= Self.shortRoom, let source = bytes.baseAddress else { return try append(bytes) }
        try reserve(Self.shortRoom)
        // A copy of fixed length takes two instructions; what it copies too much is written over.
        buffer.storeBytes(
            of: source.loadUnaligned(as: SIMD32<UInt8>.self), toByteOffset: fill, as: SIMD32<UInt8>.self)
        fill &+= bytes.count
    }

    static let shortRoom = 32

    @inline(__always) private mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, let target = buffer.baseAddress else { return }
        (target + fill).copyMemory(from: source, byteCount: bytes.count)
        fill &+= bytes.count
    }

    /// Appends text as it is: brackets, separators, literals, indentation.
    @inline(__always) package mutating func punctuation(_ text: StaticString) throws {
        try append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends `true` or `false`.
    package mutating func bool(_ value: Bool) throws {
        if value { try punctuation("true") } else { try punctuation("false") }
    }
}

// MARK: - Strings

extension JSONWriter {
    /// Appends a string with its quotes. Only `"`, `\` and characters below U+0020 are escaped.
    package mutating func string(_ value: String) throws {
        var value = value
        try value.withUTF8 { try string(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Appends a string, given as UTF-8, with its quotes.
    mutating func string(utf8 text: UnsafeRawBufferPointer) throws {
        let end = Self.verbatimEnd(of: text, from: 0)
        if end == text.count, end < Self.bufferSize / 4 {
            try reserve(end &+ 2)
            put(UInt8(ascii: "\""))
            copy(text)
            return put(UInt8(ascii: "\""))
        }
        try reserve(1)
        put(UInt8(ascii: "\""))
        try escaped(text)
        try reserve(1)
        put(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ text: UnsafeRawBufferPointer) throws {
        var start = 0
        while start < text.count {
            let end = Self.verbatimEnd(of: text, from: start)
            try append(UnsafeRawBufferPointer(rebasing: text[start..<end]))
            guard end < text.count else { return }
            try escape(text[end])
            start = end &+ 1
        }
    }

    private mutating func escape(_ byte: UInt8) throws {
        try reserve(6)
        put(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: put(UInt8(ascii: "b"))
        case 0x09: put(UInt8(ascii: "t"))
        case 0x0A: put(UInt8(ascii: "n"))
        case 0x0C: put(UInt8(ascii: "f"))
        case 0x0D: put(UInt8(ascii: "r"))
        case 0..<0x20:
            try punctuation("u00")
            put(0x30 &+ byte >> 4)
            let low = byte & 15
            put(low < 10 ? 0x30 &+ low : 0x57 &+ low)
        default: put(byte)
        }
    }

    /// The offset of the first byte from `start` that has to be escaped.
    @inline(__always) private static func verbatimEnd(of text: UnsafeRawBufferPointer, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        var index = start
        while index &+ 8 <= text.count {
            let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quotes = (word ^ (ones &* 0x22)) &- ones
            let backslashes = (word ^ (ones &* 0x5C)) &- ones
            let controls = word &- ones &* 0x20
            // A hit that a borrow makes up only costs the closer look below.
            if (quotes | backslashes | controls) & ~word & highs != 0 { break }
            index &+= 8
        }
        while index < text.count {
            let byte = text[index]
            if byte == 0x22 || byte == 0x5C || byte < 0x20 { break }
            index &+= 1
        }
        return index
    }

    /// A string in quotes, as the writer writes it; for messages and for keys that are written often.
    static func quoted(_ value: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in value.utf8 {
            switch byte {
            case 0x08: bytes += [0x5C, UInt8(ascii: "b")]
            case 0x09: bytes += [0x5C, UInt8(ascii: "t")]
            case 0x0A: bytes += [0x5C, UInt8(ascii: "n")]
            case 0x0C: bytes += [0x5C, UInt8(ascii: "f")]
            case 0x0D: bytes += [0x5C, UInt8(ascii: "r")]
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes += Array("\\u00\(digits.utf8.count < 2 ? "0" : "")\(digits)".utf8)
            case 0x22, 0x5C: bytes += [0x5C, byte]
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
