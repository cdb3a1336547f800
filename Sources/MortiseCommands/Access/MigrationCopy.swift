#if Tool
import Foundation
import MortiseCore

/// A copy of a store as it was before a migration, or before an opening that dropped something, as it lies beside the store.
struct MigrationCopy {
    let path: String
    /// The version of its schema; nil for a copy that cannot be read.
    let version: Schema.Version?
    let bytes: Int64
    let date: Date

    /// The copies of a store, newest first. Where the store itself is gone they are there all the same, to be put into its place.
    /// - Throws: `ToolError.unsupported` for a store that is no file, `.missing` where neither it nor a copy is there.
    static func all(of argument: StoreArgument) throws -> [MigrationCopy] {
        _ = try argument.capable(of: .restore, "be restored")
        // Some stores keep copies beside the path that they are opened by, others beside the file that it leads to.
        let file = URL(fileURLWithPath: try argument.selfDescribing().location)
        let target = file.resolvingSymlinksInPath()
        var copies = try copies(of: file, argument)
        if target.path != file.path {
            let known = Set(copies.map { URL(fileURLWithPath: $0.path).resolvingSymlinksInPath().path })
            copies += try Self.copies(of: target, argument).filter {
                !known.contains(URL(fileURLWithPath: $0.path).resolvingSymlinksInPath().path)
            }
        }
        if copies.isEmpty { try argument.checkPresence() }
        return copies.sorted { $0.date == $1.date ? $0.path < $1.path : $0.date > $1.date }
    }

    private static func copies(of file: URL, _ argument: StoreArgument) throws -> [MigrationCopy] {
        let (folder, name) = (file.deletingLastPathComponent(), file.lastPathComponent)
        guard FileManager.default.fileExists(atPath: folder.path(percentEncoded: false)) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
        return try names.filter { isCopy($0, of: name) }.compactMap { found -> MigrationCopy? in
            let path = folder.appending(path: found).path(percentEncoded: false)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { return nil }
            return MigrationCopy(
                path: path, version: version(at: path, argument),
                bytes: (attributes[.size] as? NSNumber)?.int64Value ?? 0,
                date: attributes[.modificationDate] as? Date ?? .distantPast)
        }
    }

    /// Whether a file has the name of a copy: `NAME.schema-VERSION-` and 16 digits, or `NAME.before-` with the occasion and a number. Of a
    /// store whose name is too long for that, copies have a part of it, and are not found.
    static func isCopy(_ file: String, of name: String) -> Bool {
        guard file.hasPrefix(name) else { return false }
        let rest = file.dropFirst(name.count)
        return rest.wholeMatch(of: /\.schema-[^\/]+-[0-9a-f]{16}/) != nil
            || rest.wholeMatch(of: /\.before-(migration|opening)-[0-9]+/) != nil
    }

    private static func version(at path: String, _ argument: StoreArgument) -> Schema.Version? {
        guard let url = try? StoreURL("\(argument.url.scheme):\(path)"),
            let configuration = try? ToolContext.current.registry.configuration(for: url)
        else { return nil }
        return try? (configuration as? any SelfDescribingConfiguration)?.storedSchema()?.version
    }
}
#endif
