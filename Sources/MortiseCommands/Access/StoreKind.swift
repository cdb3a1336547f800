#if Tool
import Foundation
import MortiseCore

/// Finds the kind of a store from its file, where the command line gives a path alone.
enum StoreKind {
    /// How much of a file tells its kind.
    private static let looked = 512

    /// The URL of what the command line names: the text itself where it has a known scheme or there is no such file.
    /// - Throws: `ToolError.usage` for a file that is no store of a known kind; `.unreadableFile`.
    static func url(of text: String, in registry: StoreRegistry) throws -> String {
        let schemes = registry.knownSchemes
        if let colon = text.firstIndex(of: ":") {
            let scheme = text[..<colon].lowercased()
            if schemes.contains(where: { $0.name == scheme }) { return text }
        }
        let path = String(text.prefix { $0 != "?" })
        guard !path.isEmpty, !path.utf8.contains(0), let beginning = try beginning(of: path) else { return text }
        if let scheme = schemes.first(where: { recognizes(beginning, $0, path, registry) }) {
            return scheme.name + ":" + text
        }
        throw unknown(path, beginning.isEmpty ? "it is empty" : "it begins as no store that this tool knows", schemes)
    }

    private static func recognizes(
        _ beginning: [UInt8], _ scheme: StoreScheme, _ path: String, _ registry: StoreRegistry
    ) -> Bool {
        guard let configuration = try? registry.configuration(for: scheme.name + ":" + path),
            let type = type(of: configuration) as? any RecognizableConfiguration.Type
        else { return false }
        return type.recognizes(beginning)
    }

    /// The first bytes of a file; nil where no file is.
    private static func beginning(of path: String) throws -> [UInt8]? {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG { return nil }
            throw unreadable(path)
        }
        let sort = status.st_mode & S_IFMT
        guard sort == S_IFREG else {
            throw ToolError.usage(
                "\(path.shown(limit: 300)) is \(sort == S_IFDIR ? "a folder" : "no regular file"); give the file of a store"
            )
        }
        // What became a pipe since would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: looked)
        var count = 0
        while count < looked {
            let more = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, looked - count) }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw unreadable(path) }
            if more == 0 { break }
            count += more
        }
        return Array(bytes.prefix(count))
    }

    private static func unreadable(_ path: String) -> ToolError {
        ToolError.unreadableFile(path: path.shown(limit: 300), reason: String(cString: strerror(errno)))
    }

    private static func unknown(_ path: String, _ why: String, _ schemes: [StoreScheme]) -> ToolError {
        let kinds = schemes.filter { if case .path = $0.location { true } else { false } }.map { $0.name + ":" }
        let ending = path.split(separator: ".").last?.lowercased() ?? ""
        let way =
            ["csv", "jsonl", "ndjson"].contains(ending)
            ? "to take its records into a store use \"mortise import\""
            : kinds.isEmpty
                ? "this tool knows no stores in files"
                : "if it is one, say of which kind: "
                    + kinds.joined(separator: ", ") + " before the path"
        return ToolError.usage("cannot tell what kind of store \(path.shown(limit: 300)) is: \(why); \(way)")
    }
}
#endif
