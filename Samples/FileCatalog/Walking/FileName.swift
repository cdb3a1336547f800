/// The text form of names that the system keeps as bytes.
///
/// A name that is valid UTF-8 is its own text. In any other name each byte outside ASCII is written `\xE9` and each
/// backslash `\\`; a valid name that contains `\x` has its backslashes doubled too, so that no two names ever share a
/// text and every text leads back to its bytes.
enum FileName {
    /// The text of the NUL-terminated `name`.
    static func text(of name: [CChar]) -> String {
        name.withUnsafeBytes { name in
            let bytes = UnsafeRawBufferPointer(rebasing: name.dropLast())
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.utf8.elementsEqual(bytes) else { return bytes.map(escaped).joined() }
            let hasEscape = bytes.contains(UInt8(ascii: "\\")) && text.contains("\\x")
            return hasEscape ? text.replacing("\\", with: "\\\\") : text
        }
    }

    /// The NUL-terminated bytes of the path `relative`, a path of such texts, below `folder`, which is taken as it is.
    static func bytes(of relative: ExactPath, below folder: String) -> [CChar] {
        (Array(folder.utf8) + [UInt8(ascii: "/")] + bytes(of: relative)).map(CChar.init(bitPattern:)) + [0]
    }

    /// The bytes of the path `relative`, a path of such texts.
    static func bytes(of relative: ExactPath) -> [UInt8] {
        let names = relative.text.split(separator: "/")
            .map { $0.contains("\\x") ? unescaped(Array($0.utf8)) : Array($0.utf8) }
        return Array(names.joined(separator: [UInt8(ascii: "/")]))
    }

    private static func escaped(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "\\"): "\\\\"
        case 0x80...: "\\x" + String(byte, radix: 16, uppercase: true)
        default: String(UnicodeScalar(byte))
        }
    }

    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "\\") {
                result.append(byte)
            } else if rest.first == UInt8(ascii: "x"),
                let value = UInt8(String(decoding: rest.dropFirst().prefix(2), as: UTF8.self), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(3)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}
