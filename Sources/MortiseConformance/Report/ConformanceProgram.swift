import Foundation

/// The kit as a program:
/// ```swift
/// @main enum Conformance {
///     static func main() { exit(ConformanceProgram.main(subjects: [subject])) }
/// }
/// ```
public enum ConformanceProgram {
    static let usage = """
        usage: [--subject NAME]... [--level first-hour|core|full] [--only ID]... [--format text|json|markdown]
               [--list] [--help]

          --subject NAME   test this subject only; may be repeated
          --level LEVEL    run the cases up to that level; full where nothing is said
          --only ID        run this case, whatever its level; may be repeated
          --format FORMAT  how to report; text where nothing is said
          --list           list the cases and run none

        """

    /// Runs the cases as the arguments say and reports.
    /// - Parameters:
    ///   - arguments: without the program's name.
    ///   - output: takes the report; standard output where nothing is said.
    /// - Returns: the exit status: 0 if every report is clean, 1 if one is not, 2 for arguments that make no sense.
    public static func main(
        subjects: [ConformanceSubject], arguments: [String] = Array(CommandLine.arguments.dropFirst()),
        output: (String) -> Void = { print($0, terminator: "") }
    ) -> Int32 {
        do {
            let options = try Options(arguments, subjects: subjects)
            if options.isHelp {
                output(usage)
                return 0
            }
            if options.isList {
                output(list(options))
                return 0
            }
            var status: Int32 = 0
            for subject in options.subjects {
                let run =
                    options.only.isEmpty
                    ? ConformanceRun(subject, level: options.level) : ConformanceRun(subject, only: options.only)
                let report = run.report()
                output(try report.rendered(as: options.format))
                status = max(status, report.exitStatus)
            }
            return status
        } catch {
            output("\(error)\n\(usage)")
            return 2
        }
    }

    private static func list(_ options: Options) -> String {
        let cases = options.only.isEmpty ? ConformanceCase.all(upTo: options.level) : options.only
        return cases.map { conformanceCase in
            let capability = conformanceCase.capability.map { " [\($0)]" } ?? ""
            return "\(conformanceCase.id)  \(conformanceCase.level)\(capability)\n    \(conformanceCase.requirement)\n"
        }.joined()
    }

    private struct Options {
        var subjects: [ConformanceSubject]
        var level = ConformanceCase.Level.full
        var only: [ConformanceCase] = []
        var format = ConformanceReport.Format.text
        var isList = false
        var isHelp = false

        init(_ arguments: [String], subjects: [ConformanceSubject]) throws {
            var chosen: [ConformanceSubject] = []
            var rest = arguments[...]
            func value(of option: String) throws -> String {
                guard let value = rest.popFirst() else { throw UsageError(text: "\(option) needs a value.") }
                return value
            }
            self.subjects = subjects
            while let option = rest.popFirst() {
                switch option {
                case "--subject":
                    let name = try value(of: option)
                    guard let subject = subjects.first(where: { $0.name == name }) else {
                        let names = subjects.map(\.name).joined(separator: ", ")
                        throw UsageError(text: "There is no subject \"\(name)\"; there are: \(names).")
                    }
                    chosen.append(subject)
                case "--level":
                    let name = try value(of: option)
                    guard let level = ConformanceCase.Level(name: name) else {
                        throw UsageError(text: "There is no level \"\(name)\".")
                    }
                    self.level = level
                case "--only":
                    let id = try value(of: option)
                    guard let conformanceCase = ConformanceCase.named(id) else {
                        throw UsageError(text: "There is no case \"\(id)\"; --list shows them.")
                    }
                    only.append(conformanceCase)
                case "--format":
                    let name = try value(of: option)
                    guard let format = ConformanceReport.Format(rawValue: name) else {
                        throw UsageError(text: "There is no format \"\(name)\".")
                    }
                    self.format = format
                case "--list": isList = true
                case "--help", "-h": isHelp = true
                default: throw UsageError(text: "\"\(option)\" is no option.")
                }
            }
            if !chosen.isEmpty { self.subjects = chosen }
        }
    }

    private struct UsageError: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }
}
