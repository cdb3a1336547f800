import Foundation

/// A string to be compared with many others, some of which are available as bytes only.
public struct TextToFind: Sendable {
    /// The text.
    public let string: String
    let bytes: [UInt8]
    let isASCII: Bool
    /// Whether a carriage return or a line feed is in it, two of which may be one character.
    let hasLineBreak: Bool

    /// Prepares a text for repeated comparisons.
    public init(_ string: String) {
        self.string = string
        bytes = Array(string.utf8)
        isASCII = bytes.allSatisfy { $0 < 0x80 }
        hasLineBreak = bytes.contains { $0 == 0x0A || $0 == 0x0D }
    }

    /// Whether the bytes are UTF-8 of a string that equals this one.
    public func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        if bytes.count == other.count, bytes.withUnsafeBytes({ Self.areSame($0, other) }) { return true }
        // Strings that are written otherwise can be equal all the same, unless both are plain ASCII.
        if isASCII, Self.isASCII(other) { return false }
        return String(decoding: other, as: UTF8.self) == string
    }

    /// - Precondition: both have the same length.
    static func areSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard let start = a.baseAddress, let other = b.baseAddress else { return true }
        return memcmp(start, other, a.count) == 0
    }

    static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        var found: UInt64 = 0
        while place + 8 <= bytes.count {
            found |= bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            place += 8
        }
        while place < bytes.count {
            found |= UInt64(bytes[place])
            place += 1
        }
        return found & 0x8080_8080_8080_8080 == 0
    }
}
