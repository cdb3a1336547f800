#if Tool
import Foundation
import MortiseCore

/// A schema as the command line names it: a store's, a file's, one of a commit in git, or that of the models in the tool.
struct SchemaSource {
    /// How messages call it.
    let name: String
    let document: SchemaDocument
    /// The store that has it; nil if it is no store's.
    let store: StoreArgument?

    /// What the argument of a verb may be.
    static let help = """
        A schema is the URL of a store (json:library.json), a file that "mortise schema json" wrote, such a file in a commit \
        (git:HEAD~1:schema/library.json), or models: for the models that are linked into the tool.
        """

    /// The longest file that is read.
    private static let limit = 16 << 20

    /// - Throws: `ToolError`; what an adapter throws.
    init(_ text: String) throws {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let known = ToolContext.current.registry.knownSchemes.map(\.name)
        name = text.shown(limit: 300)
        if text == "models:" {
            guard let schema = ToolContext.current.models else {
                throw ToolError.usage("no models are linked into this tool; give a store or a file")
            }
            (document, store) = (SchemaDocument(schema), nil)
        } else if scheme == "git", scheme.count < text.count, !known.contains("git") {
            (document, store) = (try Self.read(try GitFile(text).bytes(limit: Self.limit), name), nil)
        } else if text.hasPrefix("@") || (scheme.count < text.count && known.contains(scheme)) {
            let argument = try StoreArgument(text)
            guard let schema = try argument.selfDescribing().storedSchema() else {
                throw ToolError.missing(store: argument.name)
            }
            (document, store) = (SchemaDocument(schema), argument)
        } else {
            (document, store) = (try Self.read(try Self.bytes(ofFile: text, name), name), nil)
        }
        if let stale = document.staleStorage {
            let errors = ToolContext.current.errors
            try errors.line(
                "mortise: note: \(name) says that its storage is \(stale), and it is \(document.storageDigest); "
                    + "\"mortise schema json\" writes the right one")
            try errors.flush()
        }
    }

    private init(_ name: String, _ document: SchemaDocument, _ store: StoreArgument?) {
        (self.name, self.document, self.store) = (name, document, store)
    }

    /// The same schema with another version.
    func numbered(_ version: Schema.Version) -> SchemaSource {
        var document = document
        document.schema.version = version
        return SchemaSource(name, document, store)
    }

    /// The bytes of a file, or of a file in a commit.
    static func bytes(of text: String) throws -> [UInt8] {
        let known = ToolContext.current.registry.knownSchemes.map(\.name)
        let scheme = text.prefix { $0 != ":" }.lowercased()
        if scheme == "git", scheme.count < text.count, !known.contains("git") {
            return try GitFile(text).bytes(limit: limit)
        }
        if text.hasPrefix("@") || text == "models:" || (scheme.count < text.count && known.contains(scheme)) {
            throw ToolError.usage("expected a file, found \(text.shown(limit: 300))")
        }
        return try bytes(ofFile: text, text.shown(limit: 300))
    }

    private static func read(_ bytes: [UInt8], _ name: String) throws -> SchemaDocument {
        do {
            return try SchemaDocument(reading: bytes)
        } catch let error as SchemaDocumentError {
            throw ToolError.notASchema(source: name, detail: "\(error)".shown(limit: 600))
        }
    }

    private static func bytes(ofFile path: String, _ name: String) throws -> [UInt8] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ToolError.missingSchema(source: name, detail: "there is no file at \(name)")
        }
        if isFolder.boolValue { throw ToolError.usage("\(name) is a folder; give a file") }
        let data = try SchemaFile.read(path, limit: limit)
        if data.count > limit { throw ToolError.notASchema(source: name, detail: "more than \(limit) bytes") }
        return data
    }
}

/// Reads files whole, as long as they are short.
enum SchemaFile {
    /// At most one byte more than the limit.
    static func read(_ path: String, limit: Int) throws -> [UInt8] {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        return try read(file, limit: limit)
    }

    static func read(_ file: FileHandle, limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= limit, let more = try file.read(upToCount: min(1 << 16, limit + 1 - bytes.count)) {
            if more.isEmpty { break }
            bytes += more
        }
        return bytes
    }
}

/// A file of a commit: `git:REV:PATH`, where the path begins at the top of the repository, or with `./`.
private struct GitFile {
    private let text: String
    private let object: String

    init(_ text: String) throws {
        let rest = text.dropFirst("git:".count)
        let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, !rest.hasPrefix("-") else {
            throw ToolError.usage(
                "expected git:REVISION:PATH, as in git:HEAD~1:schema.json, found \(text.shown(limit: 300))")
        }
        self.text = text.shown(limit: 300)
        object = String(rest)
    }

    func bytes(limit: Int) throws -> [UInt8] {
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["git", "cat-file", "blob", object]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // Its messages are short, and come where it prints nothing else.
        let bytes = try SchemaFile.read(output.fileHandleForReading, limit: limit)
        if bytes.count > limit { process.terminate() }
        let message = try SchemaFile.read(errors.fileHandleForReading, limit: 4_096)
        process.waitUntilExit()
        if bytes.count > limit { throw ToolError.notASchema(source: text, detail: "more than \(limit) bytes") }
        guard process.terminationStatus == 0, process.terminationReason == .exit else {
            let line = String(decoding: message, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
            throw ToolError.missingSchema(source: text, detail: "git cannot read it: \(line.shown(limit: 300))")
        }
        return bytes
    }
}
#endif
