#if canImport(Darwin)
import Foundation
#else
// The standard library's own composition, so that keys agree with `==` on strings to the last character: Foundation's
// leaves a composed syllable followed by a trailing consonant apart, and misorders some Tibetan vowel signs.
@_spi(_Unicode) import Swift
#endif

/// The form of strings by which a store that compares bytes agrees with Swift: canonically composed (NFC), in which canonically
/// equivalent strings are the same.
///
/// Use it for keys: of an index, of a unique constraint, of groups, of a column beside the one that holds the text itself.
/// The composition of a platform's Foundation or of a database need not be that of Swift, of which predicates are made.
public enum CanonicalText {
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

    /// The composed form of a string.
    ///
    /// Two strings are equal in a predicate, in a unique constraint and in a grouping if, and only if, their composed forms
    /// have the same bytes. These bytes, as UTF-8, are in the order of `precedes(_:_:)`.
    ///
    /// It does not answer conditions on parts of text, which go by characters: "q" is no beginning of "q\u{307}" and no part
    /// of it, though its bytes are. The bytes lead to a superset of what begins with a text, and to no more.
    public static func composed(_ string: String) -> String {
        #if canImport(Darwin)
        return string.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
        #else
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: string._nfc)
        return String(scalars)
        #endif
    }

    /// Whether a string comes before another in a sorted fetch: by their composed forms, scalar by scalar, which is also the
    /// order of these forms' bytes.
    ///
    /// It is Swift's order of strings wherever that is an order. Swift's `<` compares bytes where one string continues
    /// after the other ends, although a combining mark may then move forward, and finds neither "e\u{301}" nor
    /// "\u{e9}a" less than the other; an index cannot follow it there.
    public static func precedes(_ a: String, _ b: String) -> Bool {
        var (x, y) = (a, b)
        if x.withUTF8(isComposed), y.withUTF8(isComposed) { return x < y }
        return composed(x).utf8.lexicographicallyPrecedes(composed(y).utf8)
    }
}
