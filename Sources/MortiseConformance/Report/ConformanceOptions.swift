import Foundation

/// What the kit's program is asked to do.
struct ConformanceOptions {
    var subjects: [ConformanceSubject]
    var level = ConformanceCase.Level.full
    var only: [ConformanceCase] = []
    var format = ConformanceReport.Format.text
    /// Nil by default: then the usual number, if a whole level is run on a store that claims reopening.
    var kills: Int?
    var seed: UInt64 = 1
    var timeLimit: Duration?
    /// Whether the first failure of a subject ends its run.
    var isUntilFailure = false
    /// Whether the subjects were named.
    private var isChosen = false
    var isList = false
    var isKillTable = false
    var isHelp = false

    /// How many processes to kill while they save to a subject's storage, and the reason where kills are wanted and impossible.
    /// - Throws: `UsageError` where kills are asked of a subject by name that they cannot be tried on.
    func kills(of subject: ConformanceSubject, program: URL?) throws -> (count: Int, untried: String?) {
        if let kills, kills > 0, isChosen, subject.inFolder == nil {
            throw UsageError(text: "--kills: \(subject) has no folder that another process could open.")
        }
        let isUsual = only.isEmpty && level > .firstHour && subject.capabilities.contains(.reopening)
        let wanted = kills ?? (isUsual ? KillRun.usual : 0)
        if wanted == 0 { return (0, nil) }
        if subject.inFolder == nil { return (0, "the subject has no folder that another process could open") }
        return program == nil ? (0, "there is no program for another process") : (wanted, nil)
    }

    static func usage(_ schemes: [String]) -> String {
        let store =
            schemes.isEmpty
            ? ""
            : """
              --store URL      test only this store, such as \(schemes.map { "\($0):" }.joined(separator: ", ")); may be repeated.
                               After the colon, name the folder in which to make storages; default: a temporary folder.

            """
        return """
            usage: [--subject NAME]... \(schemes.isEmpty ? "" : "[--store URL]... ")[--level first-hour|core|full] [--case ID]...
                   [--format text|json|markdown] [--kills N] [--seed S]
                   [--time-limit SECONDS] [--until-failure] [--list] [--kill-table] [--help]

              --subject NAME   test only this subject; may be repeated
            \(store)  --level LEVEL    run the cases up to this level; default: full
              --case ID        run this case, whatever its level; may be repeated
              --format FORMAT  the form of the report; default: text
              --kills N        kill N processes that save, for subjects whose storage is a folder; default:
                               \(KillRun.usual) if the subject claims reopening and no case is chosen
              --seed S         the seed of the random kills; default: 1
              --time-limit S   the seconds after which a case counts as hanging; default: 120
              --until-failure  end the run of a store at its first failure; kill no processes after it
              --list           list the cases and run none
              --kill-table     run the cases, or those chosen, on the kit's own faulty stores and print which catch which

            """
    }

    struct UsageError: Error, CustomStringConvertible {
        let text: String
        var description: String { text }
    }

    typealias Stores = [String: @Sendable (String) throws -> ConformanceSubject]

    /// The subject for a store URL.
    static func subject(of url: String, stores: Stores) throws -> ConformanceSubject {
        guard let colon = url.firstIndex(of: ":"), let make = stores[String(url[..<colon])] else {
            let known = stores.keys.sorted().map { "\($0):" }.joined(separator: ", ")
            throw UsageError(text: "Unknown kind of store \"\(url)\". Known: \(known).")
        }
        return try make(String(url[url.index(after: colon)...]))
    }

    init(_ arguments: [String], subjects: [ConformanceSubject], stores: Stores) throws {
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
                    throw UsageError(text: "Unknown subject \"\(name)\". Known: \(names).")
                }
                chosen.append(subject)
            case "--store": chosen.append(try Self.subject(of: try value(of: option), stores: stores))
            case "--level":
                let name = try value(of: option)
                guard let level = ConformanceCase.Level(name: name) else {
                    throw UsageError(text: "Unknown level \"\(name)\". Levels: first-hour, core, full.")
                }
                self.level = level
            case "--case":
                let id = try value(of: option)
                guard let conformanceCase = ConformanceCase.named(id) else {
                    throw UsageError(text: "Unknown case \"\(id)\". --list shows all.")
                }
                only.append(conformanceCase)
            case "--format":
                let name = try value(of: option)
                guard let format = ConformanceReport.Format(rawValue: name) else {
                    throw UsageError(text: "Unknown format \"\(name)\". Formats: text, json, markdown.")
                }
                self.format = format
            case "--kills":
                let text = try value(of: option)
                guard let number = Int(text), number >= 0 else {
                    throw UsageError(text: "--kills takes a number, not \"\(text)\".")
                }
                kills = number
            case "--seed":
                let text = try value(of: option)
                guard let number = UInt64(text) else {
                    throw UsageError(text: "--seed takes a number, not \"\(text)\".")
                }
                seed = number
            case "--time-limit":
                let text = try value(of: option)
                guard let number = Double(text), number > 0, number < 1e9 else {
                    throw UsageError(text: "--time-limit takes a number of seconds, not \"\(text)\".")
                }
                timeLimit = .seconds(number)
            case "--until-failure": isUntilFailure = true
            case "--list": isList = true
            case "--kill-table": isKillTable = true
            case "--help", "-h": isHelp = true
            default: throw UsageError(text: "Unknown option \"\(option)\". See --help.")
            }
        }
        if !chosen.isEmpty { (self.subjects, isChosen) = (chosen, true) }
        if let timeLimit { self.subjects = self.subjects.map { $0.limitingCases(to: timeLimit) } }
    }
}
