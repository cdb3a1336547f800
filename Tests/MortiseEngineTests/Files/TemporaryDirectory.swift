import Foundation
import MortiseEngine

/// Runs `body` with a directory of its own, given by its path without symbolic links, and removes it afterwards.
func withTemporaryDirectory<Value>(_ body: (String) throws -> Value) throws -> Value {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appendingPathComponent("mortise-files-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(url.path)
}

extension FileSystem {
    /// The content of a file, or `nil` if there is none.
    func bytes(at path: String) throws -> [UInt8]? {
        do {
            return try readWhole(path, limit: 1 << 24).bytes
        } catch let error where error.reason == .notFound {
            return nil
        }
    }

    /// Writes a file without any care for durability.
    func put(_ bytes: [UInt8], at path: String, permissions: UInt32 = 0o600) throws {
        let file = try open(path, mode: .create(permissions: permissions))
        try file.truncate(to: 0)
        try file.writeAll(bytes, at: 0)
        try file.setPermissions(permissions)
        try file.close()
    }

    /// The names of temporaries in a directory.
    func temporaries(in directory: String) throws -> [String] {
        try list(directory).filter { $0.hasSuffix(".mortise-tmp") }
    }
}

/// What `body` throws, if it throws a `FileError`.
func fileError(_ body: () throws -> Void) -> FileError? {
    do {
        try body()
        return nil
    } catch {
        return error as? FileError
    }
}

/// Bytes that differ at every place and from every other `version`.
func pattern(_ version: UInt8, count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) ^ version &* 37 }
}
