#if Tool
import Foundation

/// The lines that were entered in a shell, kept in a file that only the user can read: the one that `MORTISE_HISTORY` names, else
/// `mortise/history` in `XDG_STATE_HOME` or `~/.local/state`. With an empty `MORTISE_HISTORY` none is kept.
///
/// What cannot be read or written is passed over: the lines are a convenience.
struct LineHistory {
    private(set) var lines: [String] = []
    private let path: String?
    private static let most = 1_000
    private static let longestFile = 1 << 20

    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
        // What is there and is no such file, or a long one, is somebody else's.
        path = Self.path(environment).flatMap { path in
            let isOthers =
                FileManager.default.fileExists(atPath: path) && ((try? Self.size(path)) ?? .max) > Self.longestFile
            return isOthers ? nil : path
        }
        guard let path, let file = FileHandle(forReadingAtPath: path),
            let bytes = try? file.read(upToCount: Self.longestFile)
        else { return }
        lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").suffix(Self.most).map(String.init)
    }

    /// Whether lines are kept in a file.
    static var isKept: Bool { LineHistory().path != nil }

    private static func path(_ environment: [String: String]) -> String? {
        if let given = environment["MORTISE_HISTORY"] { return given.isEmpty ? nil : given }
        let state =
            environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            ?? environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.local/state" : nil }
        return state.map { $0 + "/mortise/history" }
    }

    private static func size(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        // A pipe or a device would never end.
        guard attributes[.type] as? FileAttributeType == .typeRegular else { return .max }
        return (attributes[.size] as? NSNumber)?.intValue ?? .max
    }

    /// Adds a line, unless it is empty or the last one again.
    mutating func add(_ line: String) {
        let line = line.trimmingCharacters(in: .whitespaces)
        guard !line.isEmpty, line != lines.last, !line.contains(where: \.isNewline) else { return }
        lines.append(line)
        if lines.count > Self.most { lines.removeFirst(lines.count - Self.most) }
    }

    /// Writes the lines, replacing the file as a whole.
    func save() {
        guard let path else { return }
        let url = URL(fileURLWithPath: path)
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let new = path + ".new.\(ProcessInfo.processInfo.processIdentifier)"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
            try file.close()
            if rename(new, path) != 0 { unlink(new) }
        } catch { unlink(new) }
    }
}
#endif
