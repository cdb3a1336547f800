import Dispatch
import Foundation
import MortiseCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Several processes that work on storages at the same time, round after round.
extension OtherProcess {
    /// What each process does in every round.
    enum Work: String {
        /// Opens the storage, again while it is locked, saves an entry and closes it.
        case inTurn
        /// The same, and rests after each round; the parent stops it now and then, wherever it is.
        case haltingly
        /// The same in a new folder for each round, all processes at the same moment.
        case anew
        /// Opens the storage and saves entries with files of limited size, until a save is refused; then the limit goes, and
        /// one more is saved by the same opening.
        case withoutRoom
        /// Opens the storage, saves an entry and closes it, and tells what the process uses after the tenth round and the last.
        case openings
        /// Opens the storage, reads its entries and closes it, and tells the same.
        case readings
    }

    /// What one of the processes has told.
    struct Told {
        /// The names of the entries whose saves were acknowledged.
        var saved: [String] = []
        /// The names that it fetched after a save was refused; nil if none was.
        var seen: [String]?
        /// How many files the process had open and how many bytes of memory it used, each time that it looked.
        var used: [(files: Int, bytes: Int)] = []
        /// An error of another kind than that the storage is locked, or how the process ended.
        var error: String?
    }

    static let roundsArgument = "--rounds-in-another-process"
    /// For how many seconds a process tries to open a storage that is locked.
    private static let patience = 40.0
    private static let schema = Schema([Entry.self])
    /// Nanoseconds from one round to the next.
    private static let interval: UInt64 = 40_000_000

    // MARK: The child

    /// Does what the arguments say: the folder, the work, the name of the process, and how many rounds, or the greatest size of
    /// a file. The result is the exit status.
    static func roundsChild(_ subject: ConformanceSubject, _ arguments: [String]) -> Int32 {
        guard arguments.count == 4, let work = Work(rawValue: arguments[1]), let number = Int(arguments[3]),
            let inFolder = subject.inFolder
        else { return 2 }
        let (folder, name) = (URL(fileURLWithPath: arguments[0]), arguments[2])
        do {
            switch work {
            case .inTurn, .haltingly:
                for round in 1...number {
                    try saveInTurn("\(name).\(round)", inFolder, folder)
                    // So that the storage is free for a while.
                    if work == .haltingly { usleep(1_000) }
                }
            case .anew:
                ChildOutput.tell("ready")
                guard let start = readLine().flatMap({ UInt64($0) }) else { return 2 }
                for round in 1...number {
                    wait(until: start + UInt64(round) * interval)
                    try saveInTurn("\(name).\(round)", inFolder, folder.appending(path: "\(round)"))
                }
            case .withoutRoom: try saveWithoutRoom(name, inFolder, folder, limit: number)
            case .openings, .readings:
                for round in 1...number {
                    if work == .openings {
                        try saveInTurn("\(name).\(round)", inFolder, folder)
                    } else {
                        try read(inFolder, folder)
                    }
                    guard round == 10 || round == number, let used = ProcessResources.used() else { continue }
                    ChildOutput.tell("used \(used.files) \(used.bytes)")
                }
            }
            ChildOutput.tell("closed")
            return 0
        } catch {
            ChildOutput.tell(error)
            return 1
        }
    }

    private static func read(
        _ inFolder: (URL) throws -> any DataStoreConfiguration, _ folder: URL
    ) throws {
        let container = try open(inFolder(folder), for: schema)
        do {
            let context = ModelContext(container)
            _ = try context.fetch(FetchDescriptor<Entry>()).map(\.name)
            _ = try context.fetchCount(FetchDescriptor<Entry>(predicate: #Predicate { $0.rank != nil }))
        } catch {
            try? container.close()
            throw error
        }
        try container.close()
    }

    private static func saveInTurn(
        _ name: String, _ inFolder: (URL) throws -> any DataStoreConfiguration, _ folder: URL
    ) throws {
        let start = ContinuousClock.now
        while true {
            do {
                let container = try open(inFolder(folder), for: schema)
                do {
                    let context = ModelContext(container)
                    context.insert(Entry(name))
                    try context.save()
                } catch {
                    try? container.close()
                    throw error
                }
                ChildOutput.tell("saved \(name)")
                return try container.close()
            } catch  where isLocked(error) && start.duration(to: .now) < .seconds(patience) {
                // As others are about to do.
                usleep(200)
            }
        }
    }

    private static func isLocked(_ error: any Error) -> Bool {
        StoreErrorClass.isInUse(error) || error is VersionSuperseded
    }

    private static func saveWithoutRoom(
        _ name: String, _ inFolder: (URL) throws -> any DataStoreConfiguration, _ folder: URL, limit: Int
    ) throws {
        func limitFiles(to bytes: Int?) {
            signal(SIGXFSZ, SIG_IGN)
            var limits = rlimit()
            #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            #else
            let resource = RLIMIT_FSIZE
            #endif
            getrlimit(resource, &limits)
            limits.rlim_cur = bytes.map { rlim_t($0) } ?? limits.rlim_max
            setrlimit(resource, &limits)
        }
        func names(_ container: ModelContainer) throws -> [String] {
            try ModelContext(container).fetch(FetchDescriptor<Entry>()).map(\.name)
        }
        func save(_ name: String, _ container: ModelContainer) throws {
            let context = ModelContext(container)
            context.insert(Entry(name, group: "other", note: String(repeating: name, count: 300)))
            try context.save()
            ChildOutput.tell("saved \(name)")
        }
        let container = try open(inFolder(folder))
        limitFiles(to: limit)
        var isRefused = false
        for number in 1...24 where !isRefused {
            do { try save("\(name) \(number)", container) } catch { isRefused = true }
        }
        limitFiles(to: nil)
        if isRefused {
            ChildOutput.tell("refused")
            for name in try names(container) { ChildOutput.tell("seen \(name)") }
            // A store may ask to be opened again.
            try? save("\(name) later", container)
        }
        try container.close()
    }

    private static func open<C: DataStoreConfiguration>(
        _ configuration: C, for schema: Schema
    ) throws -> ModelContainer { try ModelContainer(for: schema, configurations: [configuration]) }

    private static func wait(until time: UInt64) {
        while true {
            let now = DispatchTime.now().uptimeNanoseconds
            if now >= time { return }
            usleep(UInt32(min(time - now, 1_000_000) / 1_000))
        }
    }

    // MARK: The parent

    /// Starts processes that work at the same time, and waits for their end.
    /// - Parameters:
    ///   - work: what each does.
    ///   - count: how many processes there are.
    ///   - number: how many rounds each does, or the greatest size in bytes of a file.
    ///   - context: the case's.
    ///   - folder: the folder in which they work; nil is that of the case's storage.
    ///   - started: called once all processes have been started.
    /// - Returns: what each told.
    /// - Throws: `Untried` where no process can be started.
    static func work(
        _ work: Work, processes count: Int, _ number: Int, in context: CaseContext, folder: URL? = nil,
        started: () throws -> Void = {}
    ) throws -> [Told] {
        #if os(Linux) || os(macOS)
        guard let program = context.subject.program else {
            throw Untried(
                reason: "no program for another process; use startingProcesses(of:), or the kit's own program")
        }
        guard context.subject.inFolder != nil else {
            throw Untried(reason: "the subject has no folder that another process could open")
        }
        let folder = try folder ?? context.folder()
        var children: [Child] = []
        defer { for child in children { child.end() } }
        for place in 0..<count {
            children.append(
                try Child(
                    program,
                    [roundsArgument, context.subject.name, folder.path, work.rawValue, "p\(place)", "\(number)"]
                ))
        }
        switch work {
        case .inTurn, .haltingly:
            try started()
            if work == .haltingly { stopNowAndThen(children) }
        case .anew:
            for child in children { child.waitForWord() }
            let start = "\(DispatchTime.now().uptimeNanoseconds)\n"
            for child in children { child.input.fileHandleForWriting.write(Data(start.utf8)) }
        case .withoutRoom, .openings, .readings: break
        }
        return children.map { $0.told() }
        #else
        throw Untried(reason: "this system lets no program start another")
        #endif
    }

    #if os(Linux) || os(macOS)
    /// Stops one process after the other for as long as the others take for some rounds.
    private static func stopNowAndThen(_ children: [Child]) {
        var numbers = RandomNumbers(seed: 7)
        let start = ContinuousClock.now
        while start.duration(to: .now) < .milliseconds(2_500), children.filter(\.process.isRunning).count > 1 {
            let child = children[numbers.below(children.count)]
            guard child.process.isRunning else { continue }
            usleep(UInt32(numbers.below(1_500)))
            kill(child.process.processIdentifier, SIGSTOP)
            usleep(8_000)
            kill(child.process.processIdentifier, SIGCONT)
        }
    }

    private final class Child {
        let process = Process()
        let input = Pipe()
        private let output = Pipe()
        /// What it has written so far.
        private var text = Data()

        init(_ program: URL, _ arguments: [String]) throws {
            process.executableURL = program
            process.arguments = arguments
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.standardError
            try process.run()
        }

        /// Waits for the first thing that the process tells.
        func waitForWord() {
            while case let data = output.fileHandleForReading.availableData, !data.isEmpty {
                text += data
                if let word = text.firstIndex(of: ChildOutput.mark), text[word...].contains(UInt8(ascii: "\n")) {
                    return
                }
            }
        }

        func told() -> Told {
            var told = Told()
            text += output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            var isClosed = false
            for line in ChildOutput.messages(in: text) {
                let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
                switch (parts.first, parts.count > 1 ? parts[1] : "") {
                case ("saved", let name): told.saved.append(name)
                case ("refused", _): told.seen = told.seen ?? []
                case ("seen", let name): told.seen = (told.seen ?? []) + [name]
                case ("used", let text):
                    let numbers = text.split(separator: " ").compactMap { Int($0) }
                    if numbers.count == 2 { told.used.append((numbers[0], numbers[1])) }
                case ("error", let text): told.error = text
                case ("closed", _): isClosed = true
                default: break
                }
            }
            if !isClosed, told.error == nil { told.error = ProcessEnding.text(process) }
            return told
        }

        func end() {
            guard process.isRunning else { return }
            kill(process.processIdentifier, SIGCONT)
            kill(process.processIdentifier, SIGKILL)
        }
    }
    #endif
}
