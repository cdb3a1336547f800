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
    static let lookingArgument = "--find-last-save"
    /// How many seconds a child may take to the point at which it is killed, and another one to look at what is left.
    private static let patience = 60.0

    /// What the child does; it ends only by being killed, or by an error, which it tells.
    static func child(_ subject: ConformanceSubject, folder: URL) {
        do { try saveUntilKilled(subject, folder) } catch { ChildOutput.tell(error) }
    }

    private static func saveUntilKilled(_ subject: ConformanceSubject, _ folder: URL) throws {
        let container = try open(subject, folder)
        try SaveLoop(container: container).run(ChildOutput.tell)
    }

    /// What the child does that looks at what a killed one has left: it says what it found in a line of its own.
    static func look(_ subject: ConformanceSubject, folder: URL) {
        func tell(_ found: Found) {
            ChildOutput.tell((try? JSONEncoder().encode(found)).map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
        do {
            let container = try open(subject, folder)
            let last = try SaveLoop.last(in: container)
            try container.close()
            tell(.whole(last))
        } catch let half as KillFault {
            tell(.half(half.text))
        } catch {
            tell(.unusable("\(type(of: error)): \(error)"))
        }
    }

    /// What was found in a storage whose process was killed.
    private enum Found: Codable {
        /// Whole saves, the last of them with this number.
        case whole(Int)
        /// What no sequence of whole saves leaves.
        case half(String)
        /// Nothing: the storage was not opened or read.
        case unusable(String)
    }

    private static func open(_ subject: ConformanceSubject, _ folder: URL) throws -> ModelContainer {
        guard let configuration = subject.inFolder else {
            throw KillFault(text: "\(subject) has no folder; make the subject with folder:")
        }
        return try ModelContainer(for: ConformanceModels.schema, configurations: [configuration(folder)])
    }

    /// Kills children, one after the other. What keeps the kit from that is a fault too: the results of the cases must not be
    /// lost with it.
    func result() -> Result {
        do {
            return try run()
        } catch {
            let failure = ConformanceFailure(
                caseID: "kills.tried", requirement: "Processes can be started that save, and be killed.",
                expected: "processes that save until they are killed", found: "\(type(of: error)): \(error)",
                operations: ["start \(program)"],
                hint: "The program or the folder for temporary files cannot be used. Nothing is said of the store.")
            return Result(subject: subject.name, wanted: max(1, kills), kills: 0, saves: 0, faults: [failure])
        }
    }

    #if os(Linux) || os(macOS)
    /// Kills children, one after the other, all of which save to the same storage.
    private func run() throws -> Result {
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
        kills: for kill in 1...max(1, kills) {
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
            if let error = lines.first(where: { $0.hasPrefix("error ") }) {
                note(.opens, expected: "a process that saves until it is killed", found: String(error.dropFirst(6)))
                break
            }
            if let ending { note(.opens, expected: "a process that saves until it is killed", found: ending) }
            switch try look(folder) {
            case .whole(let found):
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
                continue
            case .half(let text): note(.whole, expected: "whole saves alone", found: text)
            case .unusable(let text): note(.opens, expected: "a storage that opens", found: text)
            }
            // What comes after would be said of the same fault.
            break kills
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

    /// - Returns: what the child told before it died, and how it died if not by being killed at that point.
    private func runChild(_ folder: URL, _ point: Point) throws -> (lines: [String], ending: String?) {
        let child = try Child(program, [Self.childArgument, subject.name, folder.path(percentEncoded: false)])
        var text = Data()
        func count(_ word: String) -> Int {
            text.split(separator: ChildOutput.mark, omittingEmptySubsequences: false).dropFirst()
                .count { $0.starts(with: word.utf8) }
        }
        switch point {
        case .after(let microseconds): usleep(microseconds)
        case .beginning(let wanted):
            while count("begin ") < wanted, case let data = child.output.availableData, !data.isEmpty { text += data }
        case .acknowledged(let wanted):
            while count("done ") < wanted, case let data = child.output.availableData, !data.isEmpty { text += data }
        }
        text += child.end()
        let ending = child.ending()
        let lines = ChildOutput.messages(in: text)
        let isKilled =
            child.process.terminationReason == .uncaughtSignal && child.process.terminationStatus == SIGKILL
        return (lines, isKilled && !child.isLate ? nil : ending)
    }

    /// Has a process of its own look at a storage: one that the store traps in, or that hangs, must not end the report.
    private func look(_ folder: URL) throws -> Found {
        let child = try Child(program, [Self.lookingArgument, subject.name, folder.path(percentEncoded: false)])
        let said = ChildOutput.messages(in: child.output.readDataToEndOfFile()).last
        let ending = child.ending()
        return said.flatMap { try? JSONDecoder().decode(Found.self, from: Data($0.utf8)) } ?? .unusable(ending)
    }

    /// A child that is killed if it takes too long, since one that hangs would keep its parent waiting for ever.
    private struct Child {
        /// What its parent and the clock share.
        private final class Lateness: Sendable {
            let isLate = Atomic(false)
        }

        let process = Process()
        let output: FileHandle
        private let lateness = Lateness()
        private let watch: DispatchWorkItem

        init(_ program: String, _ arguments: [String]) throws {
            let pipe = Pipe()
            output = pipe.fileHandleForReading
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.standardOutput = pipe
            process.standardError = FileHandle.standardError
            try process.run()
            watch = DispatchWorkItem { [identifier = process.processIdentifier, lateness] in
                lateness.isLate.store(true, ordering: .relaxed)
                kill(identifier, SIGKILL)
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + KillRun.patience, execute: watch)
        }

        /// Whether it was killed because it took too long.
        var isLate: Bool { lateness.isLate.load(ordering: .relaxed) }

        /// Kills it if it is still running, and reads what it has still to say.
        func end() -> Data {
            // From here on its number may become another process's.
            watch.cancel()
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
            return output.readDataToEndOfFile()
        }

        /// Waits for its end, after its output has ended.
        /// - Returns: how it ended.
        func ending() -> String {
            process.waitUntilExit()
            watch.cancel()
            if isLate { return "a process that has not come so far within \(Int(KillRun.patience)) seconds" }
            return ProcessEnding.text(process)
        }
    }
    #else
    /// - Throws: `KillFault`, since this system lets no program start another.
    private func run() throws -> Result { throw KillFault(text: "this system cannot start processes") }
    #endif
}
