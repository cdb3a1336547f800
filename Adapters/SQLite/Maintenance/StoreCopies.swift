#if SQLite
import Foundation
import MortiseEngine
import MortiseSQL

/// The files that changes of a store leave beside it: copies of it as it was, and what an interrupted change has not removed.
struct StoreCopies {
    /// What a copy is of, by what follows the name of the store.
    enum Kind: String, CaseIterable {
        /// Of the store before it came to another version.
        case migration = ".before-migration-"
        /// Of the store before a program of the same version opened it that knows less.
        case opening = ".before-opening-"
    }

    /// Greater numbers are not of this library, and leave no room for a next one.
    private static let greatestNumber = 1 << 31
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

    private func copies(_ kind: Kind) -> [(number: Int, path: String)] {
        let start = name + kind.rawValue
        return names.compactMap { found in
            guard found.hasPrefix(start), let number = Int(found.dropFirst(start.count)),
                (0...Self.greatestNumber).contains(number)
            else { return nil }
            return (number, folder.appending(path: found).path(percentEncoded: false))
        }.sorted { $0.number < $1.number }
    }

    /// The newest copy that a migration has made; nil without a copy.
    var newest: String? { copies(.migration).last?.path }

    /// Copies the store as a connection reads it.
    /// - Returns: the path of the copy, whose number is greater than those of all others of the kind.
    func keep(_ connection: SQLiteConnection, as kind: Kind = .migration) throws -> String {
        var number = copies(kind).last?.number ?? 0
        while true {
            number += 1
            let copy = path + kind.rawValue + "\(number)"
            do {
                try DatabaseCopy.write(connection, to: copy)
                return copy
            } catch let error as SQLiteError where error.fault == .exists {
                continue
            }
        }
    }

    /// Copies the store as it is for everybody while another connection changes it.
    static func keep(
        of configuration: SQLiteConfiguration, asWrittenAt path: String, as kind: Kind = .migration
    ) throws -> String {
        let connection = try SQLiteConnection(path, .readOnly, busyTimeout: configuration.busyTimeout)
        defer { connection.close() }
        return try StoreCopies(of: path).keep(connection, as: kind)
    }

    /// Removes copies, but the newest ones. Those that somebody has open for writing stay, and those that cannot be removed.
    func remove(_ kind: Kind = .migration, exceptNewest most: Int) {
        for copy in copies(kind).dropLast(max(most, 0)) {
            guard let lock = try? OpeningLock(copy.path, isExclusive: true) else { continue }
            Self.remove(copy.path)
            lock.release()
        }
    }

    // MARK: What is left

    /// What a process has left that died while it changed or copied the store.
    private var remains: [String] {
        names.filter { found in
            if TemporaryName.matches(found, of: name) { return true }
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
        if let kind = Kind.allCases.first(where: { rest.hasPrefix($0.rawValue) }) {
            rest = rest.dropFirst(kind.rawValue.count).drop(while: \.isNumber)
        }
        for suffix in Self.companions where rest.hasSuffix(suffix) { rest = rest.dropLast(suffix.count) }
        guard rest.first == ".", rest.hasSuffix(Self.new) else { return false }
        return UUID(uuidString: String(rest.dropFirst().dropLast(Self.new.count))) != nil
    }

    /// Whether there is anything that `sweep()` would remove.
    var haveRemains: Bool { !remains.isEmpty }

    /// Removes what a process has left that died while it changed or copied the store. The caller holds the store's lock alone, so
    /// nobody else changes it now. What says which process migrated the store stays where `keepingNotice` asks for it.
    func sweep(keepingNotice: Bool = false) {
        for path in remains where !(keepingNotice && path.hasSuffix(MigrationAdvice.suffix)) { unlink(path) }
    }
}
#endif
