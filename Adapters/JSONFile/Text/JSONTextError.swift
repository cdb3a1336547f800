/// A text that is not JSON as RFC 8259 defines it, or goes beyond what Mortise reads.
public struct JSONTextError: Error, Hashable, Sendable {
    /// What is wrong.
    public enum Reason: Hashable, Sendable {
        /// The text begins with a byte-order mark.
        case byteOrderMark
        /// The text ends within a value.
        case unexpectedEnd(expected: String)
        /// Something else was expected at this byte.
        case unexpectedByte(UInt8, expected: String)
        /// A comma with nothing after it.
        case trailingComma
        /// Something follows the value.
        case trailingBytes
        /// The bytes are not well-formed UTF-8: overlong, a surrogate, beyond U+10FFFF, or cut short.
        case invalidUTF8
        /// `\uD800`…`\uDFFF` without its other half.
        case loneSurrogate
        /// A backslash before something that cannot be escaped so.
        case invalidEscape
        /// A character below U+0020 within a string.
        case controlCharacter(UInt8)
        /// A number begins with a zero that it does not need.
        case leadingZero
        /// The number's text is longer than the limit in bytes.
        case numberTooLong(limit: Int)
        /// No 64-bit integer or double can hold the number.
        case numberOutOfRange
        /// Arrays and objects are nested deeper than the limit.
        case nestingTooDeep(limit: Int)
        /// An object has the key twice, perhaps in other spelling (escaped, or canonically equivalent).
        case duplicateKey(String)
        /// A value would take more memory than is allowed for its length.
        case valueTooLarge
    }

    /// What is wrong.
    public let reason: Reason
    /// Where it is in the text.
    public let position: TextPosition
    /// The path of the innermost value at the position, such as `$.records.Trip[3].name`.
    public let path: String

    package init(reason: Reason, position: TextPosition, path: String) {
        self.reason = reason
        self.position = position
        self.path = path
    }
}

extension JSONTextError: CustomStringConvertible {
    /// Position, path, reason and way out, in one line.
    public var description: String { "\(position) (\(path)): \(reason)" }
}

extension JSONTextError.Reason: CustomStringConvertible {
    /// The reason and the way out.
    public var description: String {
        switch self {
        case .byteOrderMark: "The text begins with a byte-order mark. Save it as UTF-8 without one."
        case .unexpectedEnd(let expected): "Expected \(expected), found the end of the text. Restore the missing part."
        case .unexpectedByte(let byte, let expected): "Expected \(expected), found \(Self.name(of: byte))."
        case .trailingComma: "A comma precedes a closing bracket. Remove it."
        case .trailingBytes: "There is text after the end of the value. Remove it."
        case .invalidUTF8: "The bytes are not well-formed UTF-8. Save the text as UTF-8."
        case .loneSurrogate: "A \\u escape holds half of a surrogate pair. Write both halves, or the character itself."
        case .invalidEscape:
            "Unknown escape. Use \\\", \\\\, \\/, \\b, \\f, \\n, \\r, \\t, or \\u with four hexadecimal digits."
        case .controlCharacter(let byte): "A string contains \(Self.name(of: byte)). Write it as an escape."
        case .leadingZero: "A number begins with a redundant zero. Remove it."
        case .numberTooLong(let limit): "The number has more than \(limit) bytes. Shorten it."
        case .numberOutOfRange: "The number fits neither a 64-bit integer nor a double. Write it as text."
        case .nestingTooDeep(let limit):
            "Arrays and objects are nested more than \(limit) levels deep. Flatten the value."
        case .duplicateKey(let key):
            "The key \(JSONWriter.quoted(key)) appears twice in one object. Remove one of the two."
        case .valueTooLarge: "The value has too many parts to be read safely. Split it, or store it as data."
        }
    }

    private static func name(of byte: UInt8) -> String {
        switch byte {
        case 0x21...0x7E: "'\(Unicode.Scalar(byte))'"
        default: "The byte 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))"
        }
    }
}

/// An error on its way out of the reader: the position is worked out once, where it leaves.
package struct JSONFault: Error {
    package let reason: JSONTextError.Reason
    package let offset: Int

    package func located(in bytes: UnsafeRawBufferPointer) -> JSONTextError {
        let (position, path) = TextLocator.locate(offset, in: bytes)
        return JSONTextError(reason: reason, position: position, path: path)
    }
}
