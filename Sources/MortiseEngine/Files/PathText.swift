/// Splitting and joining of paths, by their text alone.
package enum PathText {
    /// The directory part, to be used as a path itself: `"."` for a bare name, `"/"` for a name in the root.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// What follows the last slash; empty for a path that ends in one.
    package static func name(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return String(path[path.utf8.index(after: slash)...])
    }

    /// `name` inside `directory`; `name` itself if it is absolute.
    package static func join(_ directory: String, _ name: String) -> String {
        if name.utf8.first == UInt8(ascii: "/") { return name }
        return directory.utf8.last == UInt8(ascii: "/") ? directory + name : directory + "/" + name
    }
}
