#if SQLite
import Foundation
import MortiseEngine
import MortiseSQL

/// The files that changes of a store leave beside it: copies of it as it was, and what an interrupted change has not removed.
struct StoreCopies {
    private static let mark = ".before-migration-"
    private static let migrating = ".migrating"
    private static let new = ".new"
    private static let companions = ["-wal", "-shm", "-journal", OpeningLock.suffix]

    private let path: String
    private let folder: URL
    private let name: String

    /// The files beside the store at a path.
    init(of path: String) {
        self.path = path
        let file = URL(fileURLWithPath: path)
        folder = file.deletingLastPathComponent()
        name = file.lastPathComponent
    }

    /// Where a migration makes the store that replaces the one at the path.
    var sibling: String { path + Self.migrating }

    /// A name for a file that gets another one once it is whole.
    static func temporary(for path: String) -> String { "\(path).\(UUID().uuidString)\(new)" }

    /// Removes a file, and those that SQLite and openings have made beside it.
    static func remove(_ path: String) {
        for suffix in [""] + companions { unlink(path + suffix) }
    }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
    }

    private var copies: [(number: Int, path: String)] {
        names.compactMap { found in
            guard found.hasPrefix(name + Self.mark), let number = Int(found.dropFirst(name.count + Self.mark.count))
            else { return nil }
            return (number, folder.appending(path: found).path(percentEncoded: false))
        }.sorted { $0.number < $1.number }
    }

    /// The newest copy; nil if there is none.
    var newest: String? { copies.last?.path }

    /// Copies the store as a connection reads it.
    /// - Returns: the path of the copy, whose number is greater than those of all others.
    func keep(_ connection: SQLiteConnection) throws -> String {
        var number = copies.last?.number ?? 0
        while true {
            number += 1
            let copy = path + Self.mark + "\(number)"
            do {
                try DatabaseCopy.write(connection, to: copy)
                return copy
            } catch let error as SQLiteError where error.fault == .exists {
                continue
            }
        }
    }

    /// Copies the store as it is for everybody while another connection changes it.
    static func keep(of configuration: SQLiteConfiguration, asWrittenAt path: String) throws -> String {
        let connection = try SQLiteConnection(path, .readOnly, busyTimeout: configuration.busyTimeout)
        defer { connection.close() }
        return try StoreCopies(of: path).keep(connection)
    }

    /// Removes copies, but the newest ones.
    func remove(exceptNewest most: Int) {
        for copy in copies.dropLast(max(most, 0)) { Self.remove(copy.path) }
    }

    // MARK: What is left

    /// What a process has left that died while it changed or copied the store.
    private var remains: [String] {
        names.filter { found in
            guard found.hasPrefix(name) else { return false }
            let rest = found.dropFirst(name.count)
            if rest == MigrationAdvice.suffix { return true }
            if ([""] + Self.companions).contains(where: { rest == Self.migrating + $0 }) { return true }
            return isTemporary(rest)
        }.map { folder.appending(path: $0).path(percentEncoded: false) }
    }

    /// Whether a name has, after that of the store or of one of its copies, a unique part and the ending of temporary files.
    private func isTemporary(_ rest: Substring) -> Bool {
        var rest = rest
        if rest.hasPrefix(Self.mark) { rest = rest.dropFirst(Self.mark.count).drop(while: \.isNumber) }
        for suffix in Self.companions where rest.hasSuffix(suffix) { rest = rest.dropLast(suffix.count) }
        guard rest.first == ".", rest.hasSuffix(Self.new) else { return false }
        return UUID(uuidString: String(rest.dropFirst().dropLast(Self.new.count))) != nil
    }

    /// Whether there is anything that `sweep()` would remove.
    var haveRemains: Bool { !remains.isEmpty }

    /// Removes what a process has left that died while it changed or copied the store. The caller holds the store's lock alone, so
    /// nobody else changes it now.
    func sweep() { for path in remains { unlink(path) } }
}
#endif
