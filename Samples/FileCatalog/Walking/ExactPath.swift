import Foundation

/// A path compared byte for byte.
///
/// Swift's `String` calls two strings equal when they differ only in Unicode composition. A file system may hold both,
/// as two files, so wherever paths are identities they are wrapped in this type.
struct ExactPath: Hashable, Sendable {
    /// The path as text, in the form that ``FileName`` gives it.
    let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The path of the scanned folder itself.
    static let root = ExactPath(".")

    static func == (left: ExactPath, right: ExactPath) -> Bool {
        var (left, right) = (left.text, right.text)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress else {
                    return left.count == right.count
                }
                return memcmp(start, other, left.count) == 0
            }
        }
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The path of the entry called `name` in the folder with this path.
    func appending(_ name: String) -> ExactPath {
        self == .root ? ExactPath(name) : ExactPath(text + "/" + name)
    }

    /// Whether this path or one of the folders on the way to it is in `paths`.
    func lies(underAnyOf paths: Set<ExactPath>) -> Bool {
        if paths.isEmpty { return false }
        if paths.contains(.root) || paths.contains(self) { return true }
        return text.utf8.indices.contains { index in
            text.utf8[index] == UInt8(ascii: "/") && paths.contains(ExactPath(String(text[..<index])))
        }
    }
}
