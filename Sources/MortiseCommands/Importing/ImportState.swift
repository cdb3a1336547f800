#if Tool
import Foundation
import MortiseCore

/// What an import writes beside its file, so that it can go on after an interruption. It is removed when the import is complete.
struct ImportState: Codable {
    /// How the store was called by itself.
    let store: String
    /// How many records it held before.
    let held: Int
    let entity: String?
    let format: ImportFormat
    let batch: Int
    /// The size of the file in bytes.
    let size: Int64
    /// Where the rejected lines are; nil in a state that an earlier version wrote.
    var rejected: String?
    /// Why the store refused the records of these lines.
    var refused: [Int: String] = [:]

    /// - Returns: nil without a file at the path.
    /// - Throws: `ToolError.unreadableFile`.
    static func read(_ path: String) throws -> ImportState? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        do {
            return try JSONDecoder().decode(ImportState.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
        } catch {
            throw ToolError.unreadableFile(
                path: path.shown(limit: 300),
                reason: "it is not what an interrupted import leaves; remove it to begin anew")
        }
    }

    /// - Throws: `ToolError.unwritableFile`.
    func write(_ path: String) throws {
        do {
            try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw ToolError.unwritableFile(path: path.shown(limit: 300), reason: error.localizedDescription)
        }
    }
}

/// The records that an import did not take, kept apart as they were, in a file of their own.
final class RejectedRecords {
    let path: String
    private(set) var count = 0
    private var file: FileHandle?
    private let heading: [UInt8]
    private let replaces: Bool
    /// How many are told one by one.
    private static let told = 20

    /// The file is made with the first record. `replaces` says whether it may be there, left by the interrupted import that goes on.
    /// - Throws: `ToolError.rejectedFileExists`.
    init(_ path: String, heading: [UInt8], replaces: Bool) throws {
        self.path = path
        self.heading = heading
        self.replaces = replaces
        if !replaces, (try? FileManager.default.attributesOfItem(atPath: path)) != nil {
            throw ToolError.rejectedFileExists(path: path.shown(limit: 300))
        }
    }

    /// Names a line on the standard error, and keeps its text.
    /// - Throws: `ToolError.unwritableFile`, `.output`.
    func add(_ line: Int, _ text: [UInt8], _ reason: String) throws {
        count += 1
        let errors = ToolContext.current.errors
        if count <= Self.told {
            try errors.line("mortise: line \(line): \(reason.shown(limit: 500))")
        } else if count == Self.told + 1 {
            try errors.line("mortise: more lines are rejected, and not named here")
        }
        try errors.flush()
        do {
            let file = try open()
            try file.write(contentsOf: Data(text + [0x0A]))
        } catch let error as ToolError { throw error } catch {
            throw ToolError.unwritableFile(path: path.shown(limit: 300), reason: error.localizedDescription)
        }
    }

    private func open() throws -> FileHandle {
        if let file { return file }
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | (replaces ? O_TRUNC : O_EXCL), 0o666)
        guard descriptor >= 0 else {
            if errno == EEXIST { throw ToolError.rejectedFileExists(path: path.shown(limit: 300)) }
            throw ToolError.unwritableFile(path: path.shown(limit: 300), reason: String(cString: strerror(errno)))
        }
        let opened = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try opened.write(contentsOf: Data(heading))
        file = opened
        return opened
    }
}
#endif
