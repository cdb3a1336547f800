import Foundation

/// The kit as a program:
/// ```swift
/// @main enum Conformance {
///     static func main() { exit(ConformanceProgram.main(subjects: [subject])) }
/// }
/// ```
public enum ConformanceProgram {
    /// Runs the cases that the arguments select, and reports.
    /// - Parameters:
    ///   - subjects: the stores to test.
    ///   - arguments: the program's arguments, without its name.
    ///   - stores: for `--store`: makes the subject of a store URL from what follows the scheme; by scheme.
    ///   - output: takes the report; standard output by default.
    /// - Returns: the exit status: 0 if every report is clean, 1 if one is not, 2 for invalid arguments.
    public static func main(
        subjects: [ConformanceSubject], arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        stores: [String: @Sendable (String) throws -> ConformanceSubject] = [:],
        output: (String) -> Void = { print($0, terminator: "") }
    ) -> Int32 {
        do {
            if arguments.first == KillRun.childArgument { return try child(arguments, subjects, stores) }
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
                let table = KillTable()
                output(table.markdown)
                return table.uncaught.isEmpty && table.unproved.isEmpty && table.falseAlarms.isEmpty ? 0 : 1
            }
            var status: Int32 = 0
            for subject in options.subjects { status = max(status, try run(subject, options, output)) }
            return status
        } catch let error as ConformanceOptions.UsageError {
            output("\(error)\n\(ConformanceOptions.usage(stores.keys.sorted()))")
            return 2
        } catch {
            output("\(error)\n")
            return 2
        }
    }

    private static func run(
        _ subject: ConformanceSubject, _ options: ConformanceOptions, _ output: (String) -> Void
    ) throws -> Int32 {
        let run =
            options.only.isEmpty
            ? ConformanceRun(subject, level: options.level) : ConformanceRun(subject, only: options.only)
        var kills: KillRun.Result?
        let count = try options.kills(of: subject)
        if count > 0 {
            kills = try KillRun(
                subject: subject, program: Bundle.main.executablePath ?? CommandLine.arguments[0],
                kills: count, seed: options.seed
            ).run()
        }
        let report = run.report().adding(kills)
        output(try report.rendered(as: options.format))
        return report.exitStatus
    }

    /// The program as its own child, which is going to be killed.
    private static func child(
        _ arguments: [String], _ subjects: [ConformanceSubject],
        _ stores: [String: @Sendable (String) throws -> ConformanceSubject]
    ) throws -> Int32 {
        guard arguments.count == 3 else { return 2 }
        let subject =
            try subjects.first { $0.name == arguments[1] }
            ?? ConformanceOptions.subject(of: arguments[1], stores: stores)
        do {
            try KillRun.child(subject, folder: URL(fileURLWithPath: arguments[2]))
        } catch {
            print("\(type(of: error)): \(error)")
        }
        return 1
    }

    private static func list(_ options: ConformanceOptions) -> String {
        let cases = options.only.isEmpty ? ConformanceCase.all(upTo: options.level) : options.only
        return cases.map { conformanceCase in
            let capability = conformanceCase.capability.map { " [\($0)]" } ?? ""
            return "\(conformanceCase.id)  \(conformanceCase.level)\(capability)\n    \(conformanceCase.requirement)\n"
        }.joined()
    }
}
