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

/// Reopening and durability as only processes can show them: a child saves to a storage in a folder and is killed, at
/// random or at a chosen point. Then the storage has to open and to hold whole saves alone, and of a store that claims
/// durability every save that was acknowledged.
///
/// The program that runs this is its own child: `ConformanceProgram` starts it again with special arguments.
public struct KillRun: Sendable {
    /// When a child is killed.
    enum Point: Hashable, Sendable, CustomStringConvertible {
        /// So long after it was started.
        case after(microseconds: UInt32)
        /// When it has announced save number N.
        case beginning(Int)
        /// When it has acknowledged save number N.
        case acknowledged(Int)

        var description: String {
            switch self {
            case .after(let microseconds): "\(Double(microseconds / 100) / 10) ms after its start"
            case .beginning(let number): "as it begins its save number \(number)"
            case .acknowledged(let number): "after its save number \(number)"
            }
        }

        static func random(_ numbers: inout RandomNumbers) -> Point {
            switch numbers.below(4) {
            case 0: .beginning(1 + numbers.below(8))
            case 1: .acknowledged(1 + numbers.below(8))
            default: .after(microseconds: UInt32(5_000 + numbers.below(150_000)))
            }
        }
    }

    /// What a run of kills found.
    public struct Result: Codable, Sendable, CustomStringConvertible {
        /// The name of the store that was killed.
        public let subject: String
        /// How many processes were to be killed.
        public let wanted: Int
        /// How many processes were killed, or died by themselves. Less than `wanted` if the storage was unusable then.
        public let kills: Int
        /// How many saves were acknowledged by the children before they died.
        public let saves: Int
        /// What was wrong.
        public let faults: [ConformanceFailure]

        /// What was done and found, in one line.
        public var description: String {
            let done =
                kills < wanted
                ? "\(kills) of \(wanted) processes killed" : "\(KillRun.count(kills, "process", "processes")) killed"
            let found =
                faults.isEmpty
                ? "everything that has to be there is there, and whole" : KillRun.count(faults.count, "fault")
            return "\(done), \(KillRun.count(saves, "save")) acknowledged: \(found)"
        }
    }

    fileprivate static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }

    /// How many processes are killed by default, for a store that claims reopening.
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
        let isDurable = subject.capabilities.contains(.durability)
        var numbers = RandomNumbers(seed: seed)
        var faults: [ConformanceFailure] = []
        // The last save that has to be there, and how many were acknowledged in all.
        var last = 0
        var saves = 0
        var done = 0
        for kill in 1...max(1, kills) {
            // The first one waits for a save, however slow the machine is, so that something is tried.
            let point = kill == 1 ? .acknowledged(1) : Point.random(&numbers)
            let (lines, ending) = try runChild(folder, point)
            done = kill
            let steps = ["kill process \(kill) \(point)", "open the storage"]
            func note(_ kind: Kind, expected: String, found: String) {
                faults.append(kind.failure(expected: expected, found: found, steps))
            }
            let begun = lines.last { $0.hasPrefix("begin ") }.flatMap { Int($0.dropFirst(6)) } ?? last
            let told = lines.last { $0.hasPrefix("done ") }.flatMap { Int($0.dropFirst(5)) } ?? last
            saves += max(0, told - last)
            let wanted = isDurable ? max(last, told) : last
            if let line = lines.first(where: { !$0.hasPrefix("begin ") && !$0.hasPrefix("done ") }) {
                note(.opens, expected: "a process that saves until it is killed", found: line)
                break
            }
            if let ending { note(.opens, expected: "a process that saves until it is killed", found: ending) }
            do {
                let container = try Self.open(subject, folder)
                let found = try SaveLoop.last(in: container)
                try container.close()
                if found < wanted {
                    note(
                        .keeps,
                        expected: "save \(wanted), which was \(isDurable ? "acknowledged" : "there before")",
                        found: "\(found == 0 ? "no save" : "save \(found)") as the last one")
                }
                if found > max(begun, told) {
                    note(
                        .keeps, expected: "save \(max(begun, told)) at most, the last one that began",
                        found: "save \(found)")
                }
                last = found
            } catch let half as KillFault {
                note(.whole, expected: "whole saves alone", found: half.text)
                break
            } catch {
                note(.opens, expected: "a storage that opens", found: "\(type(of: error)): \(error)")
                break
            }
        }
        return Result(subject: subject.name, wanted: max(1, kills), kills: done, saves: saves, faults: faults)
    }

    /// What killed processes show.
    private enum Kind: String {
        case opens, whole, keeps

        func failure(expected: String, found: String, _ steps: [String]) -> ConformanceFailure {
            let (requirement, hint) =
                switch self {
                case .opens:
                    (
                        "A storage whose process was killed opens, and can be saved to.",
                        "A file that was begun is taken for a whole one, or a lock is not released with its process. Write "
                            + "beside, rename at the end, and pass over what was left."
                    )
                case .whole:
                    (
                        "A save is there whole or not at all.",
                        "A save is written in several steps, each of which counts at once. Let one last step make all count."
                    )
                case .keeps:
                    (
                        "What was acknowledged is there after the process was killed.",
                        "The store acknowledges a save before it has handed it to the system."
                    )
                }
            return ConformanceFailure(
                caseID: "kills.\(rawValue)", requirement: requirement, expected: expected, found: found,
                operations: steps, hint: hint)
        }
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
            return (lines, "a process that has not come so far within \(Int(Self.patience)) seconds")
        }
        let isKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        return (lines, isKilled ? nil : ProcessEnding.text(process))
    }
    #else
    /// - Throws: `KillFault`, since this system lets no program start another.
    func run() throws -> Result { throw KillFault(text: "this system cannot start processes") }
    #endif
}
