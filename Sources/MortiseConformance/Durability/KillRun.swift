import Dispatch
import Foundation
import MortiseCore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Durability as only processes can show it: a child saves to a storage in a folder and is killed, at random or at a
/// chosen point; then the storage is opened, and has to hold every save that was acknowledged, and each whole.
///
/// The program that runs this is its own child: `ConformanceProgram` starts it again with special arguments.
public struct KillRun: Sendable {
    /// When a child is killed.
    enum Point: Hashable, Sendable {
        /// So long after it was started.
        case after(microseconds: UInt32)
        /// When it has announced save number N.
        case beginning(Int)
        /// When it has acknowledged save number N.
        case acknowledged(Int)

        static func random(_ numbers: inout RandomNumbers) -> Point {
            switch numbers.below(4) {
            case 0: .beginning(1 + numbers.below(8))
            case 1: .acknowledged(1 + numbers.below(8))
            default: .after(microseconds: UInt32(5_000 + numbers.below(150_000)))
            }
        }
    }

    /// What a run of kills found.
    public struct Result: Codable, Sendable {
        /// The name of the store that was killed.
        public let subject: String
        /// How often a process was killed.
        public let kills: Int
        /// How many saves were acknowledged by the children before they died.
        public let saves: Int
        /// What was wrong, in words.
        public let faults: [String]
    }

    /// How many processes are killed by default, for a store that claims durability.
    public static let usual = 20

    let subject: ConformanceSubject
    let program: String
    let kills: Int
    let seed: UInt64

    static let childArgument = "--save-until-killed"
    /// How many seconds a child may take to the point at which it is killed.
    private static let patience = 60.0

    /// What the child does; it ends only by being killed, or by an error.
    static func child(_ subject: ConformanceSubject, folder: URL) throws {
        let container = try open(subject, folder)
        try SaveLoop(container: container).run { line in
            let bytes = Array((line + "\n").utf8)
            _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
        }
    }

    private static func open(_ subject: ConformanceSubject, _ folder: URL) throws -> ModelContainer {
        guard let configuration = subject.inFolder else {
            throw KillFault(text: "\(subject) has no folder; make the subject with folder:")
        }
        return try ModelContainer(for: ConformanceModels.schema, configurations: [configuration(folder)])
    }

    #if os(Linux) || os(macOS)
    /// Kills children, one after the other, all of which save to the same storage.
    func run() throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "conformance-kills-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var numbers = RandomNumbers(seed: seed)
        var faults: [String] = []
        var acknowledged = 0
        for kill in 1...max(1, kills) {
            // The first one waits for a save, however slow the machine is, so that something is tried.
            let point = kill == 1 ? .acknowledged(1) : Point.random(&numbers)
            let (lines, ending) = try runChild(folder, point)
            let begun = lines.last { $0.hasPrefix("begin ") }.flatMap { Int($0.dropFirst(6)) } ?? acknowledged
            acknowledged = max(acknowledged, lines.last { $0.hasPrefix("done ") }.flatMap { Int($0.dropFirst(5)) } ?? 0)
            if let line = lines.first(where: { !$0.hasPrefix("begin ") && !$0.hasPrefix("done ") }) {
                faults.append("kill \(kill): the child ended by itself: \(line)")
                break
            }
            if let ending { faults.append("kill \(kill), \(point): \(ending)") }
            do {
                let container = try Self.open(subject, folder)
                let found = try SaveLoop.last(in: container)
                try container.close()
                if found < acknowledged {
                    faults.append(
                        "kill \(kill), \(point): save \(acknowledged) was acknowledged, but the last found is \(found)")
                }
                if found > max(begun, acknowledged) {
                    faults.append(
                        "kill \(kill), \(point): found save \(found), but the last one that began is \(begun)")
                }
                acknowledged = found
            } catch {
                faults.append("kill \(kill), \(point): \(error)")
                break
            }
        }
        return Result(subject: subject.name, kills: kills, saves: acknowledged, faults: faults)
    }

    /// - Returns: the lines that the child wrote before it died, and how it died if not by being killed at that point.
    private func runChild(_ folder: URL, _ point: Point) throws -> (lines: [String], ending: String?) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [Self.childArgument, subject.name, folder.path(percentEncoded: false)]
        process.standardOutput = output
        process.standardError = FileHandle.standardError
        try process.run()
        var text = Data()
        let handle = output.fileHandleForReading
        func count(_ word: String) -> Int {
            String(decoding: text, as: UTF8.self).components(separatedBy: word).count - 1
        }
        // A child that hangs would keep this waiting for ever.
        let isLate = Atomic(false)
        let watch = DispatchWorkItem { [identifier = process.processIdentifier] in
            isLate.store(true, ordering: .relaxed)
            kill(identifier, SIGKILL)
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: watch)
        switch point {
        case .after(let microseconds): usleep(microseconds)
        case .beginning(let wanted):
            while count("begin ") < wanted, case let data = handle.availableData, !data.isEmpty { text += data }
        case .acknowledged(let wanted):
            while count("done ") < wanted, case let data = handle.availableData, !data.isEmpty { text += data }
        }
        watch.cancel()
        kill(process.processIdentifier, SIGKILL)
        text += handle.readDataToEndOfFile()
        process.waitUntilExit()
        // A last line without its end was cut off by the kill.
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
        if isLate.load(ordering: .relaxed) {
            return (lines, "the child did not reach that point within \(Int(Self.patience)) seconds")
        }
        let isKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        return (lines, isKilled ? nil : "the child died by itself, with \(ending(of: process))")
    }

    private func ending(of process: Process) -> String {
        process.terminationReason == .uncaughtSignal
            ? "signal \(process.terminationStatus)" : "status \(process.terminationStatus)"
    }
    #else
    /// - Throws: `KillFault`, since this system lets no program start another.
    func run() throws -> Result { throw KillFault(text: "this system cannot start processes") }
    #endif
}
