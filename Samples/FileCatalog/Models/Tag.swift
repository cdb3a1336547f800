import Mortise

/// A label shared by any number of files: the group of their kind, or something that stands out about them.
@Model
final class Tag {
    @Attribute(.unique) var name: String
    var files: [File] = []

    init(name: String) {
        self.name = name
    }
}

extension Tag {
    /// Files of at least this many bytes are tagged `large`.
    static let largeSize = 100_000_000

    /// The names of the tags that a file with this name and size carries.
    static func names(forFileNamed name: String, kind: FileKind, size: Int) -> Set<String> {
        var names: Set<String> = []
        if kind != .other { names.insert(kind.rawValue) }
        if size >= largeSize { names.insert("large") }
        if size == 0 { names.insert("empty") }
        if name.hasPrefix(".") { names.insert("hidden") }
        return names
    }
}
