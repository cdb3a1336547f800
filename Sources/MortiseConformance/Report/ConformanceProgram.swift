public import Foundation

/// The kit as a program:
/// ```swift
/// @main enum Conformance {
///     static func main() { exit(ConformanceProgram.main(subjects: [subject])) }
/// }
/// ```
public enum ConformanceProgram {
    /// Runs the cases that the arguments select, each store's in a process of its own, and reports. A store that traps or
    /// hangs fails the case that it was in; the rest goes on in another process.
    ///
    /// The text form is printed as the cases end, failures in full after them. The others are printed at the end, and each
    /// result goes to standard error as its case ends.
    /// - Parameters:
    ///   - subjects: the stores to test.
    ///   - arguments: the program's arguments, without its name.
    ///   - stores: for `--store`: makes the subject of a store URL from what follows the scheme; by scheme.
    ///   - program: the program that calls this with its arguments, which starts itself for other processes. The default is
    ///     the running one if `arguments` are its own. Nil runs everything in this process: then a store that traps ends it,
    ///     and cases that need other processes are not tried.
    ///   - output: takes the report; standard output by default.
    /// - Returns: the exit status: 0 if every report is clean, 1 if one is not, 2 for invalid arguments.
    public static func main(
        subjects: [ConformanceSubject], arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        stores: [String: @Sendable (String) throws -> ConformanceSubject] = [:], program: URL? = nil,
        output: (String) -> Void = ConformanceProgram.print
    ) -> Int32 {
        let isOwn = arguments.elementsEqual(CommandLine.arguments.dropFirst())
        let program = program ?? (isOwn ? Bundle.main.executableURL : nil)
        do {
            if let status = try child(arguments, subjects, stores, program) { return status }
            let options = try ConformanceOptions(arguments, subjects: subjects, stores: stores)
            if options.isHelp {
                output(ConformanceOptions.usage(stores.keys.sorted()))
                return 0
            }
            if options.isList {
                output(list(options))
                return 0
            }
            if options.isKillTable {
                let table = KillTable(
                    cases: options.only.isEmpty ? ConformanceCase.all : options.only, program: program
                ) { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
                output(table.markdown)
                return table.uncaught.isEmpty && table.unproved.isEmpty && table.falseAlarms.isEmpty ? 0 : 1
            }
            var status: Int32 = 0
            for subject in options.subjects { status = max(status, try run(subject, options, program, output)) }
            return status
        } catch let error as ConformanceOptions.UsageError {
            output("\(error)\n\(ConformanceOptions.usage(stores.keys.sorted()))")
            return 2
        } catch {
            output("\(error)\n")
            return 2
        }
    }

    /// The program of that name beside the running one, where the package manager puts the programs and the tests of a package;
    /// nil if it is not there. For tests of a store, whose cases of several processes need such a program:
    /// `subject.startingProcesses(of:)`.
    public static func beside(_ name: String) -> URL? {
        // On macOS a program of Xcode runs the tests, and their bundle lies beside the program.
        let running = [Bundle.main.executableURL, CommandLine.arguments.first.map { URL(fileURLWithPath: $0) }]
        return (running.compactMap(\.self) + Bundle.allBundles.map(\.bundleURL))
            .map { $0.deletingLastPathComponent().appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Prints at once, so that what was found is not lost with the process.
    public static func print(_ text: String) {
        Swift.print(text, terminator: "")
        fflush(nil)
    }

    private static func run(
        _ subject: ConformanceSubject, _ options: ConformanceOptions, _ program: URL?, _ output: (String) -> Void
    ) throws -> Int32 {
        var subject = subject.startingProcesses(of: program)
        if let program { subject = CaseChildren.askingClaims(of: subject, program) }
        let kills = try options.kills(of: subject, program: program)
        var run =
            options.only.isEmpty
            ? ConformanceRun(subject, level: options.level) : ConformanceRun(subject, only: options.only)
        run.program = program
        run.endsAtFailure = options.isUntilFailure
        let streams = options.format == .text
        func show(_ text: String) {
            if streams { output(text) } else { FileHandle.standardError.write(Data(text.utf8)) }
        }
        show(run.heading)
        var report = run.report { show(ConformanceReport.line($0)) }
        if !(options.isUntilFailure && report.failed > 0) {
            let found = program.flatMap { program in
                kills.count == 0
                    ? nil
                    : KillRun(subject: subject, program: program.path, kills: kills.count, seed: options.seed).result()
            }
            report = report.adding(found, untried: kills.untried)
        }
        output(streams ? report.closing : try report.rendered(as: options.format))
        return report.exitStatus
    }

    /// The program as its own child.
    /// - Returns: nil where the arguments are not those of a child.
    private static func child(
        _ arguments: [String], _ subjects: [ConformanceSubject],
        _ stores: [String: @Sendable (String) throws -> ConformanceSubject], _ program: URL?
    ) throws -> Int32? {
        guard let verb = arguments.first,
            [
                KillRun.childArgument, KillRun.lookingArgument, CaseChildren.childArgument, OtherProcess.childArgument,
                OtherTimeZone.childArgument,
                OtherProcess.roundsArgument,
            ].contains(verb)
        else { return nil }
        guard arguments.count >= 3 else { return 2 }
        let own = subjects + ConformanceSubject.references + StoreFault.all.filter { $0.kind == .folder }.map(\.subject)
        let subject =
            try own.first { $0.name == arguments[1] } ?? ConformanceOptions.subject(of: arguments[1], stores: stores)
        switch verb {
        case KillRun.childArgument:
            KillRun.child(subject, folder: URL(fileURLWithPath: arguments[2]))
            return 1
        case KillRun.lookingArgument:
            KillRun.look(subject, folder: URL(fileURLWithPath: arguments[2]))
            return 0
        case CaseChildren.childArgument:
            return CaseChildren.child(subject.startingProcesses(of: program), Array(arguments[2...]))
        case OtherTimeZone.childArgument: return OtherTimeZone.child(subject, Array(arguments[2...]))
        case OtherProcess.roundsArgument: return OtherProcess.roundsChild(subject, Array(arguments[2...]))
        default: return OtherProcess.child(subject, Array(arguments[2...]))
        }
    }

    private static func list(_ options: ConformanceOptions) -> String {
        let cases = options.only.isEmpty ? ConformanceCase.all(upTo: options.level) : options.only
        return cases.map { conformanceCase in
            let capability = conformanceCase.capability.map { " [\($0)]" } ?? ""
            return "\(conformanceCase.id)  \(conformanceCase.level)\(capability)\n    \(conformanceCase.requirement)\n"
        }.joined()
    }
}
