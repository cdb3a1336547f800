import Foundation
import MortiseCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What another process does with a storage that this one may have open: the kit's program as a child.
enum OtherProcess {
    /// What came of it.
    enum Answer: Hashable, CustomStringConvertible {
        /// The entries of these names were saved, and the store was closed.
        case saved([String])
        /// It was refused. `saved` were acknowledged before.
        case refused(class: String?, error: String, saved: [String])

        var saved: [String] {
            switch self {
            case .saved(let names), .refused(_, _, let names): names
            }
        }

        var description: String {
            switch self {
            case .saved(let names): "saved \(names.joined(separator: ", "))"
            case .refused(let name, let error, let saved):
                "\(error) (class \(name ?? "unknown"))\(saved.isEmpty ? "" : " after \(saved.count) saves")"
            }
        }
    }

    static let childArgument = "--in-another-process"

    // MARK: The child

    /// Does what the arguments say: the folder; the greatest size in bytes of a file, 0 for any; the names of entries to
    /// save, one save for each. The result is the exit status.
    static func child(_ subject: ConformanceSubject, _ arguments: [String]) -> Int32 {
        guard arguments.count >= 2, let limit = UInt64(arguments[1]), let configuration = subject.inFolder else {
            return 2
        }
        do {
            if limit > 0 {
                signal(SIGXFSZ, SIG_IGN)
                var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
                #if canImport(Glibc)
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
                #else
                setrlimit(RLIMIT_FSIZE, &limits)
                #endif
            }
            let container = try open(configuration(URL(fileURLWithPath: arguments[0])))
            for name in arguments.dropFirst(2) {
                let context = ModelContext(container)
                context.insert(Entry(name, group: "other", note: String(repeating: name, count: 400)))
                try context.save()
                ChildOutput.tell("saved \(name)")
            }
            try container.close()
            ChildOutput.tell("closed")
            return 0
        } catch {
            ChildOutput.tell("class \(StoreErrorClass.name(of: error) ?? "")")
            ChildOutput.tell(error)
            return 1
        }
    }

    static func open<C: DataStoreConfiguration>(_ configuration: C) throws -> ModelContainer {
        try ModelContainer(for: ConformanceModels.schema, configurations: [configuration])
    }

    // MARK: The parent

    /// Has another process open the storage of a case, save entries, one save for each, and close it. `fileLimit` is the
    /// greatest size in bytes of a file that the process may write; nil for any. `path` is another path to the folder, and
    /// `environment` is what the process has otherwise than this one.
    /// - Throws: `Untried` where that cannot be done; `ConformanceFailure` where the process dies.
    static func save(
        _ names: [String], in context: CaseContext, fileLimit: Int? = nil, path: String? = nil,
        environment: [String: String] = [:]
    ) throws -> Answer {
        #if os(Linux) || os(macOS)
        guard let program = context.subject.program else {
            throw Untried(
                reason: "no program for another process; use startingProcesses(of:), or the kit's own program")
        }
        guard context.subject.inFolder != nil else {
            throw Untried(reason: "the subject has no folder that another process could open")
        }
        let folder = try context.folder()
        context.note(
            "in another process\(path.map { " at \($0)" } ?? ""): open, save \(names.joined(separator: ", ")), close")
        let process = Process()
        let output = Pipe()
        process.executableURL = program
        process.arguments =
            [childArgument, context.subject.name, path ?? folder.path, "\(fileLimit ?? 0)"] + names
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardError = FileHandle.standardError
        try process.run()
        let lines = ChildOutput.messages(in: output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        func all(_ word: String) -> [String] {
            lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
        }
        if lines.contains("closed") { return .saved(all("saved")) }
        guard let error = all("error").first else {
            throw context.failure(
                expected: "another process that saves or refuses with an error", found: ProcessEnding.text(process))
        }
        let name = all("class").first.flatMap { $0.isEmpty ? nil : $0 }
        return .refused(class: name, error: error, saved: all("saved"))
        #else
        throw Untried(reason: "this system lets no program start another")
        #endif
    }
}

extension StoreErrorClass {
    /// The class of an error by name; nil for an error that has none.
    static func name(of error: any Error) -> String? { (error as? any ClassifiedStoreError)?.errorClass.rawValue }

    /// Whether a store is in use, for as long as others have it open or for a moment.
    static func isInUse(_ error: any Error) -> Bool {
        [locked.rawValue, busy.rawValue].contains(name(of: error))
    }
}
