import Foundation
import MortiseCore

/// What another process in another time zone does with a storage: the kit's program as a child.
enum OtherTimeZone {
    static let childArgument = "--in-another-time-zone"

    /// What a process says.
    struct Answer {
        /// Its distance from Greenwich in seconds, in January and in July of 2026; nil if it did not come so far.
        var offsets: String?
        /// The names of the dates that it saved.
        var saved: [String] = []
        /// What it found otherwise than the names say.
        var misread: [String] = []
        /// Why it went no further.
        var error: String?
    }

    /// The entry of a date, which its name tells: `seconds` since 2001.
    static func entry(_ seconds: Double) -> Entry { Entry("\(seconds)", group: "date", score: seconds) }

    /// How an entry's date differs from what its name tells; nil where it does not, and for an entry of no date.
    static func difference(_ entry: Entry) -> String? {
        guard entry.group == "date", let seconds = Double(entry.name) else { return nil }
        let found = entry.stamp.timeIntervalSinceReferenceDate
        return found == seconds ? nil : "\(entry.name) s since 2001 is \(found) s"
    }

    // MARK: The child

    /// Does what the arguments say: the folder; the dates to save, as seconds since 2001. Before that the process looks at
    /// the dates that are there, as they are read and as they are found.
    static func child(_ subject: ConformanceSubject, _ arguments: [String]) -> Int32 {
        guard let folder = arguments.first, let configuration = subject.inFolder else { return 2 }
        let winter = Date(timeIntervalSinceReferenceDate: 789_000_000)
        let zone = TimeZone.current
        ChildOutput.tell(
            "offsets \(zone.secondsFromGMT(for: winter)) \(zone.secondsFromGMT(for: winter + 15_552_000))")
        do {
            let container = try OtherProcess.open(configuration(URL(fileURLWithPath: folder)))
            let context = ModelContext(container)
            for entry in try context.fetch(FetchDescriptor<Entry>()) {
                if let difference = difference(entry) { ChildOutput.tell("misread \(difference)") }
                let (name, date) = (entry.name, Date(timeIntervalSinceReferenceDate: entry.score))
                let (before, after) = (date.addingTimeInterval(-1), date.addingTimeInterval(1))
                let asked: [(String, Predicate<Entry>)] = [
                    ("==", #Predicate { $0.stamp == date && $0.name == name }),
                    ("between", #Predicate { $0.stamp > before && $0.stamp < after && $0.name == name }),
                ]
                for (text, predicate) in asked
                where try context.fetchCount(FetchDescriptor(predicate: predicate)) != 1 {
                    ChildOutput.tell("misread \(name) s since 2001 is not found by \(text)")
                }
            }
            let dates = arguments.dropFirst().compactMap(Double.init)
            for seconds in dates { context.insert(entry(seconds)) }
            try context.save()
            for seconds in dates { ChildOutput.tell("saved \(seconds)") }
            try container.close()
            return 0
        } catch {
            ChildOutput.tell(error)
            return 1
        }
    }

    // MARK: The parent

    /// Has a process whose time zone is `zone` open the storage of a case, look at the dates in it, save more of them and
    /// close it.
    /// - Throws: `Untried` where that cannot be done; `ConformanceFailure` where the process dies.
    static func save(_ dates: [Double], in zone: String, _ context: CaseContext) throws -> Answer {
        #if os(Linux) || os(macOS)
        guard let program = context.subject.program else {
            throw Untried(
                reason: "no program for another process; use startingProcesses(of:), or the kit's own program")
        }
        guard context.subject.inFolder != nil else {
            throw Untried(reason: "the subject has no folder that another process could open")
        }
        let folder = try context.folder()
        context.note("in another process, in \(zone): open, look at the dates, save \(dates.count) more, close")
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments = [childArgument, context.subject.name, folder.path] + dates.map { "\($0)" }
        process.environment = ProcessInfo.processInfo.environment.merging(["TZ": zone]) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.standardError
        try process.run()
        let lines = ChildOutput.messages(in: output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        var answer = Answer()
        for line in lines {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard parts.count == 2 else { continue }
            let rest = String(parts[1])
            switch parts[0] {
            case "offsets": answer.offsets = rest
            case "saved": answer.saved.append(rest)
            case "misread": answer.misread.append(rest)
            case "error": answer.error = rest
            default: break
            }
        }
        if process.terminationStatus != 0 || process.terminationReason != .exit, answer.error == nil {
            throw context.failure(
                expected: "another process that saves or refuses with an error", found: ProcessEnding.text(process))
        }
        return answer
        #else
        throw Untried(reason: "this system lets no program start another")
        #endif
    }
}
