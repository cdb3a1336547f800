#if canImport(Darwin)
import Foundation
#else
// The standard library's own composition, so that keys agree with `==` on strings to the last character: Foundation's
// leaves a composed syllable followed by a trailing consonant apart, and misorders some Tibetan vowel signs.
@_spi(_Unicode) import Swift
#endif

/// The canonically composed form of strings (NFC), in which canonically equivalent strings are the same.
package enum CanonicalText {
    /// Whether UTF-8 is certainly composed: every scalar is below the first combining mark, U+0300.
    @inlinable
    package static func isComposed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = 0
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= raw.count {
            if raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { break }
            index += 8
        }
        while index < bytes.count {
            if bytes[index] >= 0xCC { return false }
            index += 1
        }
        return true
    }

    package static func composed(_ string: String) -> String {
        #if canImport(Darwin)
        return string.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
        #else
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: string._nfc)
        return String(scalars)
        #endif
    }

    /// The order of keys: that of the composed forms, scalar by scalar.
    ///
    /// It is Swift's order of strings wherever that is an order. Swift's `<` compares bytes where one string continues
    /// after the other ends, although a combining mark may then move forward, and finds neither "e\u{301}" nor
    /// "\u{e9}a" less than the other; an index cannot follow it there.
    package static func precedes(_ a: String, _ b: String) -> Bool {
        var (x, y) = (a, b)
        if x.withUTF8(isComposed), y.withUTF8(isComposed) { return x < y }
        return composed(x).utf8.lexicographicallyPrecedes(composed(y).utf8)
    }
}
