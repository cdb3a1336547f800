#if Tool
import Foundation
import MortiseAppendLog
import MortiseCommands
import MortiseCore
import PackageTestSupport
import Testing

/// A log with one byte changed, added or removed: `info` fails where opening it fails, with the same words, and tells the
/// contents where opening succeeds.
@Suite struct InfoOneByteTests {
    private let folder: ToolFolder
    private let store: String
    private var log: URL { folder.url.appending(path: "a.log") }

    init() throws {
        folder = try ToolFolder()
        store = try folder.trips("a.log", 12)
    }

    private enum Opened: Equatable {
        case records(Int)
        case refused(String)
    }

    /// What a program gets that reads the store, under the schema that it was made with.
    private func opening() throws -> Opened {
        let configuration = AppendLogConfiguration(
            schema: Schema(stored: TripStore.schema), path: folder.path("a.log"), allowsSave: false)
        let store: AppendLogStore
        do {
            store = try AppendLogStore(configuration, migrationPlan: nil)
        } catch let error as AppendLogError {
            return .refused("\(error)")
        }
        defer { try? store.close() }
        let version = store.currentVersion
        return .records(TripStore.schema.entities.reduce(0) { $0 + (version.rows(ofEntity: $1.name)?.count ?? 0) })
    }

    private func check(_ options: [String], _ opened: Opened, _ what: String) throws {
        let run = try ToolRun(["info", store, "--format", "json", "--transactions", "0"] + options)
        let words = "\(what) \(options): \(opened), \(run.output)\(run.errors)"
        switch opened {
        case .refused(let error):
            #expect(run.status == ToolExitStatus.damaged, "\(words)")
            #expect(run.output.isEmpty && run.errors.contains(error), "\(words)")
        case .records(let count):
            #expect(run.status == ToolExitStatus.success && run.errors.isEmpty, "\(words)")
            let facts = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            #expect(facts?["records"] as? Int == count, "\(words)")
        }
    }

    @Test func infoSaysWhatOpeningSays() throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let sound = [UInt8](try Data(contentsOf: log))
        try check([], opening(), "unchanged")
        let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
        // In the file's header, in the first frame, which has the schema, at the end, and anywhere.
        let end = (sound.lastIndex { $0 != 0 } ?? 0) + 1
        var places = [0, 9, 40, 70, 120, end - 1, end - 2]
        places += (0..<(isFull ? 400 : 3)).map { _ in Int.random(in: 0..<end, using: &random) }
        var (refused, accepted) = (0, 0)
        for place in places {
            for kind in 0..<3 {
                var bytes = sound
                switch kind {
                case 0: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                case 1: bytes.remove(at: place)
                default: bytes.insert(.random(in: 0...255, using: &random), at: place)
                }
                try Data(bytes).write(to: log)
                let opened = try opening()
                if case .refused = opened { refused += 1 } else { accepted += 1 }
                let what = "seed \(seed): \(["changed", "removed", "inserted"][kind]) at \(place) of \(end)"
                try check([], opened, what)
                try check(["--check"], opened, what)
            }
        }
        #expect(refused > (isFull ? 10 : 5), "\(refused) refused, \(accepted) opened, seed \(seed)")
    }
}
#endif
