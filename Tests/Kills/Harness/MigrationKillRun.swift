public import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import PackageTestSupport

#if SQLite
import MortiseSQLite
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#endif

/// Kills a process that migrates a store, again and again, and looks whether the store is as it was or as it was to be, and whether
/// the next opening goes on.
public enum MigrationKillRun {
    /// What was found.
    public struct Result {
        /// What was wrong, in words.
        public var faults: [String] = []
        /// How many kills found the store at the version before and after, and how many openings were refused since the processes of
        /// earlier attempts had died.
        public var (before, after, refused) = (0, 0, 0)
    }

    private static let records = 1_500

    /// The kinds of stores that are killed.
    static var kinds: [String] {
        #if SQLite
        ["log", "json", "sqlite"]
        #else
        ["log", "json"]
        #endif
    }

    private static func configuration(
        _ kind: String, _ path: String, _ schema: Schema, allowsSave: Bool = true
    ) -> any MigratableConfiguration {
        #if SQLite
        if kind == "sqlite" { return SQLiteConfiguration("killed", schema: schema, path: path, allowsSave: allowsSave) }
        #endif
        return kind == "json"
            ? JSONFileConfiguration("killed", schema: schema, path: path, allowsSave: allowsSave)
            : AppendLogConfiguration("killed", schema: schema, path: path, allowsSave: allowsSave)
    }

    /// What the child does: opens the store with the plan, and ends.
    public static func migrate(_ kind: String, at path: String, seed: UInt64) throws {
        // Half of the children have what they change in a file.
        try EngineMigration.$mostKept.withValue(seed % 2 == 0 ? 0 : 16 << 20) {
            do {
                try open(kind, path).close()
            } catch MigrationError.attemptsDied {
                exit(2)
            }
        }
    }

    private static func open(_ kind: String, _ path: String) throws -> ModelContainer {
        let schema = Schema(versionedSchema: KilledAfter.self)
        return try ModelContainer(
            for: schema, migrationPlan: KilledPlan.self, configurations: [configuration(kind, path, schema)])
    }

    private static func make(_ kind: String, at path: String) throws {
        let schema = Schema(versionedSchema: KilledBefore.self)
        let container = try ModelContainer(for: schema, configurations: [configuration(kind, path, schema)])
        let context = ModelContext(container)
        for number in 0..<records { context.insert(KilledBefore.Entry(number: number, text: "text \(number)")) }
        try context.save()
        try container.close()
    }

    /// Has as many children as that migrate killed, each on what the one before has left until the store is at the version after.
    public static func run(program: String, kills: Int, seed: UInt64, in folder: URL) throws -> Result {
        var generator = SeededGenerator(seed: seed)
        var result = Result()
        var left = kills
        // How long a migration takes depends on the machine, and on what else runs there.
        var longest: [String: UInt64] = [:]
        while left > 0 {
            for kind in kinds where left > 0 {
                let place = folder.appending(path: "\(kind)-\(left)")
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
                let path = place.appending(path: "killed.store").path(percentEncoded: false)
                do {
                    try make(kind, at: path)
                    try killUntilDone(
                        program, kind, path, &left, &longest[kind, default: 1_000_000], &generator, &result)
                    try checkEnd(kind, path, place)
                    try FileManager.default.removeItem(at: place)
                } catch {
                    result.faults.append("\(place.lastPathComponent), \(kills - left) kills: \(error)")
                    return result
                }
            }
        }
        return result
    }

    private static func killUntilDone(
        _ program: String, _ kind: String, _ path: String, _ left: inout Int, _ longest: inout UInt64,
        _ generator: inout SeededGenerator, _ result: inout Result
    ) throws {
        for _ in 0..<6 where left > 0 {
            let moment = generator.next() % longest
            let status = try child([program, "--migrate", kind, path, String(generator.next())], for: moment)
            if status == 2 {
                result.refused += 1
                continue
            }
            guard status == nil || status == 0 else { throw Fault("a child ended with status \(status ?? 0)") }
            if status == nil {
                left -= 1
                longest += longest / 5
            } else {
                longest = min(longest, max(20_000, moment))
            }
            let schema = Schema(versionedSchema: KilledBefore.self)
            guard let stored = try configuration(kind, path, schema).storedSchema() else {
                throw Fault("no schema is stored")
            }
            if stored.version == KilledBefore.versionIdentifier {
                result.before += 1
                try checkBefore(kind, path)
            } else if stored.version == KilledAfter.versionIdentifier {
                result.after += 1
                return
            } else {
                throw Fault("version \(stored.version) is stored")
            }
        }
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private static func checkBefore(_ kind: String, _ path: String) throws {
        let schema = Schema(versionedSchema: KilledBefore.self)
        let container = try ModelContainer(
            for: schema, configurations: [configuration(kind, path, schema, allowsSave: false)])
        let found = try ModelContext(container).fetch(FetchDescriptor<KilledBefore.Entry>())
        guard found.map(\.number).sorted() == Array(0..<records), found.allSatisfy({ $0.text == "text \($0.number)" })
        else { throw Fault("the store of before has other records") }
        try container.close()
    }

    /// The next opening goes on, or refuses once, and leaves nothing behind.
    private static func checkEnd(_ kind: String, _ path: String, _ folder: URL) throws {
        var container: ModelContainer
        do {
            container = try open(kind, path)
        } catch MigrationError.attemptsDied {
            container = try open(kind, path)
        }
        let found = try ModelContext(container).fetch(FetchDescriptor<KilledAfter.Entry>())
        guard found.count == records, Set(found.map(\.number)) == Set((0..<records).map { "\($0)" }),
            found.allSatisfy({ $0.label == "label text \($0.number)" })
        else { throw Fault("the store of after has other records") }
        try container.close()
        let remains = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".mortise-tmp") || $0.hasSuffix(MigrationAdvice.suffix)
        }
        if !remains.isEmpty { throw Fault("left behind: \(remains.sorted())") }
    }

    /// - Returns: the status with which the child ended; nil if it was killed.
    private static func child(_ command: [String], for microseconds: UInt64) throws -> Int32? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let end = ContinuousClock.now + .microseconds(Int(microseconds))
        while process.isRunning, ContinuousClock.now < end { usleep(500) }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? nil : process.terminationStatus
    }
}
