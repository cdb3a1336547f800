import Foundation
import FaultWorkload
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport

/// A process that uses a store and says what happened, to be killed, starved and misled by tests.
///
/// `save PATH LAST [checkpoint|compact|background|headerLast|nothing [MISTAKE]]` goes on from the state that the file holds to state LAST. It prints
/// `trying N` before a save, `acknowledged N` after it, `refused N CASE` when it failed; a refused save is tried once more.
/// An append log, whose name ends in `.log`, is then maintained as asked: with `background` by itself, which is waited for.
/// Where a mistake is named the store has it.
/// `pictures PATH LAST` does so with external data, and compacts after each save.
/// `share PATH N [SAVES]` opens a log together with others, and inserts, updates and deletes parcels until it is killed or
/// has done so many saves (see `SharedWork`). `watch PATH` only reads it, again and again, until standard input ends.
/// `count PATH N` makes the weight of one parcel greater by one so many times, together with others; with 0 it makes that parcel, and without
/// a number it prints how far it was counted (see `CountingWork`).
/// `hold PATH` opens the file for writing and keeps it until standard input ends.
/// `fill PATH N` makes a log with N parcels in one save and without a checkpoint; `replay PATH` reads it and prints by how
/// many bytes the memory that the process had at its peak is more than before.
/// `verify PATH` and `salvage PATH NEW` do that with a log and print what they found and then, as `replay`, what it took;
/// `checkpoint PATH` writes a checkpoint of such a log.
/// `measure PATH` opens a log or a JSON file for reading, under the schema that it names itself, and prints `read` or
/// `refused` with the error, and then as `replay` what that took. `read PATH` does so for the reader of a JSON file alone,
/// `parse PATH` for Foundation's.
/// `state PATH` prints the state that the file holds, read only. Any error in opening is printed as `error …`, status 1.
@main struct FaultHelper {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count >= 3 else { return finish("usage: fault-helper save|hold|state PATH [LAST]", 64) }
        let path = arguments[2]
        do {
            switch arguments[1] {
            case "save":
                try save(
                    path, upTo: arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1,
                    maintaining: arguments.count > 4 ? arguments[4] : nil,
                    mistake: arguments.count > 5 ? BrokenFileSystem.Mistake(rawValue: arguments[5]) : nil)
            case "pictures": try pictures(path, upTo: arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1)
            case "share":
                try SharedWork(path: path, process: arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0)
                    .run(
                        saves: arguments.count > 4 ? Int(arguments[4]) ?? .max : .max,
                        seed: arguments.count > 5 ? UInt64(arguments[5]) ?? 0 : 0)
            case "count":
                let work = CountingWork(path: path)
                guard arguments.count > 3, let times = Int(arguments[3]) else { return try work.tell() }
                try times == 0 ? work.begin() : work.run(times: times)
            case "watch": try SharedWork(path: path, process: 0).watch()
            case "measure": measure { try open(path) }
            case "read": measure { try read(path) }
            case "parse":
                measure {
                    _ = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
                }
            case "hold": try hold(path)
            case "fill": try fill(path, arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0)
            case "replay": try replay(path)
            case "verify":
                try measured {
                    let found = try AppendLogStore.verify(path)
                    return "problems \(found.problems.count) records \(found.records)"
                }
            case "salvage":
                try measured {
                    let found = try AppendLogStore.salvage(path, to: arguments[3])
                    return "lost \(found.lost.count) records \(found.records)"
                }
            case "checkpoint": try checkpoint(path)
            case "state": try state(path)
            default: finish("unknown command", 64)
            }
        } catch {
            finish("error \(error)", 1)
        }
    }

    static func save(
        _ path: String, upTo last: Int, maintaining what: String?, mistake: BrokenFileSystem.Mistake?
    ) throws {
        let container =
            switch what {
            case "background": try Workload.openCompactingItself(path: path, mistake: mistake)
            case "headerLast": try Workload.openWritingHeadersLast(path: path, mistake: mistake)
            default: try Workload.open(path: path, mistake: mistake)
            }
        container.store(AppendLogStore.self)?.waitForBackgroundWork()
        guard let first = Workload.state(of: container) else {
            return finish("error no state of the workload", 1)
        }
        say("opened \(first)")
        let context = ModelContext(container)
        for state in stride(from: first + 1, through: last, by: 1) {
            try Workload.change(context, to: state)
            guard save(context, state) || save(context, state) else { break }
            if let what, let store = container.store(AppendLogStore.self) { maintain(store, what) }
        }
        try container.close()
        say("closed")
    }

    static func pictures(_ path: String, upTo last: Int) throws {
        let container = try PictureStore.log.open(POSIXFileSystem(), path: path)
        guard let first = try Pictures.state(of: container) else {
            return finish("error no state of the pictures", 1)
        }
        say("opened \(first)")
        for state in stride(from: first + 1, through: last, by: 1) {
            say("trying \(state)")
            try container.advancePictures(to: state)
            say("acknowledged \(state)")
            if let store = container.store(AppendLogStore.self) { maintain(store, "compact") }
        }
        try container.close()
        say("closed")
    }

    private static func maintain(_ store: AppendLogStore, _ what: String) {
        do {
            switch what {
            case "checkpoint": try store.checkpoint()
            case "compact": try store.compact()
            case "background": store.waitForBackgroundWork()
            default: break
            }
            say("done \(what)")
        } catch {
            say("refused \(what) \(error)")
        }
    }

    private static func save(_ context: ModelContext, _ state: Int) -> Bool {
        say("trying \(state)")
        do {
            try context.save()
            say("acknowledged \(state)")
            return true
        } catch {
            var isLatched = false
            if case EngineError.latched = error { isLatched = true }
            say("refused \(state) \(isLatched ? "latched" : "dirty:\(context.hasChanges)") \(error)")
            return false
        }
    }

    static func hold(_ path: String) throws {
        let container = try Workload.open(path: path)
        say("opened")
        while let data = try FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
        try container.close()
    }

    static func fill(_ path: String, _ count: Int) throws {
        let container = try ModelContainer(
            for: Schema([Parcel.self, Courier.self]),
            configurations: [AppendLogConfiguration(path: path, checkpoints: .onCall)])
        let context = ModelContext(container)
        for number in 0..<count {
            let label = "parcel \(number), to be left with the neighbours if nobody is there"
            context.insert(Parcel(number: number, label: label, weight: Double(number)))
        }
        try context.save()
        try container.close()
        say("filled \(count)")
    }

    static func replay(_ path: String) throws {
        let before = memory("VmRSS:")
        let container = try ModelContainer(
            for: Schema([Parcel.self, Courier.self]),
            configurations: [AppendLogConfiguration(path: path, allowsSave: false, checkpoints: .onCall)])
        let peak = memory("VmHWM:")
        say("found \(try ModelContext(container).fetchCount(FetchDescriptor<Parcel>()))")
        say("grown \(peak - before)")
    }

    /// Says what a body says, and what it took.
    static func measured(_ body: () throws -> String) throws {
        let before = memory("VmRSS:")
        let text = try body()
        let peak = memory("VmHWM:")
        say(text)
        say("grown \(peak - before)")
    }

    static func checkpoint(_ path: String) throws {
        var configuration = AppendLogConfiguration(path: path, checkpoints: .onCall)
        configuration.schema = Schema([Parcel.self, Courier.self])
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        try store.checkpoint()
        try store.close()
        say("checkpoint")
    }

    static func measure(_ body: () throws -> Void) {
        // What a program takes for its own code and tables is not counted.
        for name in ["/warm.log", "/warm.json"] {
            let disk = SimulatedFileSystem(seed: 1)
            let configuration: any DataStoreConfiguration =
                name.hasSuffix(".log")
                ? AppendLogConfiguration(path: name, in: disk) : JSONFileConfiguration(path: name, in: disk)
            let container = try? Workload.open(configuration)
            try? container?.advance(to: 1)
            try? container?.close()
        }
        let before = memory("VmRSS:")
        do {
            try body()
            say("read")
        } catch {
            say("refused \(String(describing: error).prefix(300))")
        }
        say("grown \(memory("VmHWM:") - before)")
    }

    private static func open(_ path: String) throws {
        if path.hasSuffix(".log") {
            var configuration = AppendLogConfiguration(path: path, allowsSave: false)
            configuration.readRetries = 0
            configuration.schema = try configuration.storedSchema().map { Schema(stored: $0) }
            _ = try AppendLogStore(configuration, migrationPlan: nil)
        } else {
            var configuration = JSONFileConfiguration(path: path, allowsSave: false, integrity: .acceptEdits)
            configuration.schema = try configuration.storedSchema().map { Schema(stored: $0) }
            _ = try JSONFileStore(configuration, migrationPlan: nil)
        }
    }

    private static func read(_ path: String) throws {
        let bytes = try POSIXFileSystem().readWhole(path, limit: 1 << 32).bytes
        try bytes.withUnsafeBytes { buffer in
            _ = try StoreDocumentReader(buffer, integrity: .acceptEdits).read { _, _, _ in }
        }
    }

    /// What the system says of this process's memory, in bytes; 0 where it says nothing.
    private static func memory(_ name: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1_024
    }

    static func state(_ path: String) throws {
        let container = try Workload.open(path: path, allowsSave: false)
        say(Workload.state(of: container).map { "state \($0)" } ?? "error no state of the workload")
    }

    /// One unbuffered line: a process that is killed afterwards has said it.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    static func finish(_ line: String, _ status: Int32) {
        say(line)
        exit(status)
    }
}
