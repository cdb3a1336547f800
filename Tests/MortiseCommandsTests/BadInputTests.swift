#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// What the tool cannot do it says in one line, with the right exit status, and changes nothing.
@Suite struct BadInputTests {
    private func expect(
        _ arguments: [String], status: Int32, saying words: String..., in folder: ToolFolder,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try folder.contents()
        let run = try ToolRun(arguments)
        #expect(run.status == status, "\(arguments): \(run.errors)", sourceLocation: location)
        #expect(run.errorLines.count == 1, "\(arguments): \(run.errors)", sourceLocation: location)
        #expect(run.errors.hasPrefix("mortise: error: "), sourceLocation: location)
        for word in words { #expect(run.errors.contains(word), "\(run.errors)", sourceLocation: location) }
        #expect(try folder.contents() == before, "\(arguments) changed something", sourceLocation: location)
    }

    @Test func theHelpNamesEveryExitStatus() throws {
        let help = try ToolRun("--help").output
        let words = Set(help.split { !$0.isNumber }.map(String.init))
        for status in [
            ToolExitStatus.success, ToolExitStatus.different, ToolExitStatus.usage, ToolExitStatus.damaged,
            ToolExitStatus.missing, ToolExitStatus.unsupported, ToolExitStatus.internalError,
            ToolExitStatus.alreadyExists, ToolExitStatus.failedInputOutput, ToolExitStatus.locked,
            ToolExitStatus.denied,
            ToolExitStatus.conflict, ToolExitStatus.interrupted,
        ] { #expect(words.contains("\(status)"), "\(status)") }
    }

    /// Every verb with the arguments that it needs behind the store.
    static let verbs: [[String]] = [
        ["info"], ["fetch", "Trip"], ["explain", "Trip"], ["copy", "json:TARGET"], ["compare", "json:OTHER"],
        ["verify"],
        ["compact"], ["salvage", "NEW"], ["reseal"], ["backup", "NEW"], ["watch", "--seconds", "5"],
    ]

    private func call(_ verb: [String], _ store: String, _ folder: ToolFolder) -> [String] {
        [verb[0], store]
            + verb.dropFirst().map {
                $0.replacingOccurrences(of: "TARGET", with: folder.path("target.json"))
                    .replacingOccurrences(of: "OTHER", with: folder.path("other.json"))
                    .replacingOccurrences(of: "NEW", with: folder.path("new"))
            }
    }

    @Test(arguments: verbs) func aMissingStoreIsMissing(_ verb: [String]) throws {
        let folder = try ToolFolder()
        _ = try folder.trips("other.json", 2)
        let scheme = verb[0] == "reseal" ? "json:" : "log:"
        try expect(
            call(verb, scheme + folder.path("nothing"), folder), status: ToolExitStatus.missing, saying: "nothing",
            in: folder)
    }

    @Test(arguments: verbs) func aWrongURLIsExplained(_ verb: [String]) throws {
        let folder = try ToolFolder()
        for (url, words) in [
            ("trips.json", "no scheme"), ("floppy:a", "json:, log:, memory:"),
            ("json:", "it has no path after the colon"),
            ("json:a?colour=red", "allowsSave, dropping, integrity"), ("log:a?durability=ful", "full, batched or none"),
            ("log:a?interval=5ms", "requires durability=batched"),
            ("log:a?durability=batched&interval=5", "50ms or 2s"),
            ("log:a?durability=full&durability=none", "twice"), ("log:a?x", "name=value"),
            ("@lib", "no store named \"lib\" is configured"),
        ] {
            try expect(call(verb, url, folder), status: ToolExitStatus.usage, saying: words, in: folder)
        }
    }

    @Test func memoryIsRefusedByName() throws {
        let folder = try ToolFolder()
        for verb in Self.verbs {
            try expect(call(verb, "memory:", folder), status: ToolExitStatus.unsupported, saying: "memory:", in: folder)
        }
    }

    @Test(arguments: ["trips.json", "trips.log"]) func damageIsNamedWithItsPlace(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 10)
        var bytes = try Data(contentsOf: folder.url.appending(path: name))
        bytes[bytes.count / 2] ^= 0x20
        try bytes.write(to: folder.url.appending(path: name))
        _ = try folder.trips("other.json", 2)
        for verb in Self.verbs {
            if name == "trips.log", verb[0] == "reseal" || verb[0] == "salvage" { continue }
            if name == "trips.json", verb[0] == "compact" || verb[0] == "salvage" || verb[0] == "reseal" { continue }
            try expect(call(verb, store, folder), status: ToolExitStatus.damaged, saying: name, in: folder)
        }
    }

    /// The verbs that a kind of store has not: they say so, and do not look at the file first.
    @Test func whatAKindCannotDoItCannotDoToADamagedStoreEither() throws {
        let folder = try ToolFolder()
        let (json, log) = (try folder.trips("trips.json", 10), try folder.trips("trips.log", 10))
        for name in ["trips.json", "trips.log"] {
            let url = folder.url.appending(path: name)
            var bytes = try Data(contentsOf: url)
            bytes[bytes.count / 2] ^= 0x20
            try bytes.write(to: url)
        }
        let unsupported = ToolExitStatus.unsupported
        try expect(["compact", json], status: ToolExitStatus.damaged, saying: "trips.json", in: folder)
        try expect(
            ["salvage", json, folder.path("new")], status: unsupported, saying: "cannot be salvaged", in: folder)
        try expect(["reseal", log], status: unsupported, saying: "cannot be resealed", in: folder)
    }

    /// A file that was cut has no end, and no seal can make it one.
    @Test func aTextThatIsCutIsNotResealed() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 10)
        let url = folder.url.appending(path: "trips.json")
        let whole = try Data(contentsOf: url)
        for length in [0, 1, whole.count / 3, whole.count / 2, whole.count - 40] {
            try whole.prefix(length).write(to: url)
            try expect(["reseal", store], status: ToolExitStatus.damaged, saying: "trips.json", in: folder)
        }
    }

    /// What is written is the new store alone; the damaged one stays as it is, and a status says that something was lost.
    @Test func salvagingADamagedLogLeavesItAlone() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 10)
        let url = folder.url.appending(path: "trips.log")
        var bytes = try Data(contentsOf: url)
        bytes[((bytes.lastIndex { $0 != 0 } ?? 0) + 1) / 2] ^= 0x20
        try bytes.write(to: url)
        let before = try folder.contents()
        let run = try ToolRun("salvage", store, folder.path("new.log"))
        #expect(run.status == ToolExitStatus.damaged, "\(run.errors)")
        #expect(run.errorLines.count == 1 && run.errors.hasPrefix("mortise: error: "), "\(run.errors)")
        let after = try folder.contents()
        for (name, content) in before { #expect(after[name] == content, "\(name)") }
        #expect(after.keys.filter { before[$0] == nil }.allSatisfy { $0.hasPrefix("new.log") }, "\(after.keys)")
        #expect(after["new.log"] != nil)

        // Of what is no log at all nothing can be saved, and nothing is written.
        try Data("hello\n".utf8).write(to: url)
        try expect(
            ["salvage", store, folder.path("other.log")], status: ToolExitStatus.damaged, saying: "trips.log",
            in: folder)
    }

    /// Salvaging reads, and needs no lock; while somebody writes, what is saved is some state of the store.
    @Test func aLockedStoreCanBeSalvaged() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.log", 10)
        let json = try folder.trips("trips.json", 10)
        let writers = [try TripStore.open(folder.path("trips.log")), try TripStore.open(folder.path("trips.json"))]
        let before = try folder.contents()
        let run = try ToolRun("salvage", store, folder.path("new.log"))
        #expect(run.status == 0, "\(run.errors)")
        #expect(try ToolRun("compare", store, folder.storeURL("new.log")).status == 0)
        for (name, content) in before { #expect(try folder.contents()[name] == content, "\(name)") }
        try expect(
            ["salvage", json, folder.path("other")], status: ToolExitStatus.unsupported, saying: "cannot be salvaged",
            in: folder)
        withExtendedLifetime(writers) {}
    }

    @Test func whatIsNoStoreIsNone() throws {
        let folder = try ToolFolder()
        try Data("hello\n".utf8).write(to: folder.url.appending(path: "text"))
        try Data().write(to: folder.url.appending(path: "empty"))
        for name in ["text", "empty"] {
            for scheme in ["json:", "log:"] {
                for verb in ["info", "verify"] {
                    try expect(
                        [verb, scheme + folder.path(name)], status: ToolExitStatus.damaged, saying: name, in: folder)
                }
            }
        }
        try expect(["info", "json:" + folder.url.path], status: ToolExitStatus.usage, saying: "directory", in: folder)
    }

    @Test(arguments: ["trips.json", "trips.log"]) func aLockedStoreNamesItsHolder(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 10)
        let source = try folder.trips("source.json", 2)
        let writer = try TripStore.open(folder.path(name))
        let holder = "process \(ProcessInfo.processInfo.processIdentifier)"
        let verbs = [["copy", source, store, "--replace"], [name == "trips.json" ? "reseal" : "compact", store]]
        for verb in verbs { try expect(verb, status: ToolExitStatus.locked, saying: name, holder, in: folder) }
        withExtendedLifetime(writer) {}
    }

    /// A store that somebody writes is locked for writers alone.
    @Test(arguments: ["trips.json", "trips.log"]) func aLockedStoreCanBeRead(_ name: String) throws {
        let folder = try ToolFolder()
        let store = try folder.trips(name, 10)
        _ = try folder.trips("other.json", 10)
        let writer = try TripStore.open(folder.path(name))
        let before = try folder.contents()
        for verb in [["info"], ["fetch", "Trip"], ["explain", "Trip"], ["compare", "json:OTHER"], ["verify"]] {
            let run = try ToolRun(call(verb, store, folder))
            #expect(run.status == 0, "\(verb): \(run.errors)")
            #expect(try folder.contents() == before, "\(verb) changed something")
        }
        for (verb, target) in [("backup", folder.path("copy")), ("copy", folder.storeURL("copied.json"))] {
            let run = try ToolRun(verb, store, target)
            #expect(run.status == 0, "\(verb): \(run.errors)")
        }
        withExtendedLifetime(writer) {}
    }

    @Test func theSecondStoreIsLookedAtLikeTheFirst() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 3)
        try Data("hello\n".utf8).write(to: folder.url.appending(path: "text"))
        let (missing, usage) = (ToolExitStatus.missing, ToolExitStatus.usage)
        try expect(["compare", store, "log:" + folder.path("nothing")], status: missing, saying: "nothing", in: folder)
        try expect(["compare", store, "floppy:a"], status: usage, saying: "json:, log:, memory:", in: folder)
        try expect(["copy", store, "floppy:a"], status: usage, saying: "json:, log:, memory:", in: folder)
        try expect(["copy", store, "log:a?x"], status: usage, saying: "name=value", in: folder)
        try expect(
            ["compare", store, "log:" + folder.path("text")], status: ToolExitStatus.damaged, saying: "text", in: folder
        )
        try expect(
            ["compare", store, store, "--query", "Trp"], status: usage, saying: "did you mean \"Trip\"", in: folder)
    }

    @Test func wrongNamesAndPredicatesAreToldByColumn() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 3)
        let usage = ToolExitStatus.usage
        for verb in ["fetch", "explain"] {
            try expect([verb, store, "Trp"], status: usage, saying: "did you mean \"Trip\"", in: folder)
            try expect(
                [verb, store, "Trip", "--where", "isPublic && prise > 3"], status: usage, saying: "column 13",
                "\"price\"",
                in: folder)
            try expect([verb, store, "Trip", "--sort", "-prise"], status: usage, saying: "column 2", in: folder)
            try expect([verb, store, "Trip", "--limit=-1"], status: usage, saying: "negative", in: folder)
        }
        try expect(["fetch", store, "Trip", "--select", "name,,"], status: usage, saying: "column 1", in: folder)
        try expect(["fetch", store, "Trip", "--format", "xml"], status: usage, saying: "xml", in: folder)
        try expect(
            ["compare", store, store, "--query", "Trip where prise > 3"], status: usage, saying: "column 12", in: folder
        )
        try expect(
            ["compare", store, store, "--query", "Trip limit 3 where seats > 1"], status: usage,
            saying: "in this order",
            in: folder)
        try expect(["frobnicate"], status: usage, saying: "frobnicate", in: folder)
        try expect(["copy", store], status: usage, saying: "target", in: folder)
    }

    @Test func bytesThatAreNoTextAreAnError() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 3)
        let (status, errors) = try shell(
            "'\(try ToolRun.executable().path)' fetch '\(store)' Trip --where \"$(printf 'name == \\377\\376')\"")
        #expect(status == ToolExitStatus.usage)
        #expect(errors.contains("column 9"), "\(errors)")
    }

    /// Runs a shell, for what Foundation cannot do.
    private func shell(_ script: String) throws -> (status: Int32, errors: String) {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test func whatAKindOfStoreCannotDoIsSaid() throws {
        let folder = try ToolFolder()
        let (json, log) = (try folder.trips("trips.json", 3), try folder.trips("trips.log", 3))
        let unsupported = ToolExitStatus.unsupported
        try expect(["compact", "memory:"], status: unsupported, saying: "cannot be compacted", in: folder)
        try expect(["salvage", json, folder.path("x")], status: unsupported, saying: "cannot be salvaged", in: folder)
        try expect(["reseal", log], status: unsupported, saying: "cannot be resealed", in: folder)
    }

    @Test func whatIsThereAlreadyStays() throws {
        let folder = try ToolFolder()
        let (json, log) = (try folder.trips("trips.json", 3), try folder.trips("trips.log", 5))
        let exists = ToolExitStatus.alreadyExists
        try expect(["copy", json, log], status: exists, saying: "--replace", "20 records", in: folder)
        try expect(["backup", json, folder.path("trips.log")], status: exists, saying: "already", in: folder)
        try expect(["salvage", log, folder.path("trips.json")], status: exists, saying: "already", in: folder)
        try expect(["copy", json, json], status: ToolExitStatus.usage, saying: "both source and target", in: folder)
        try expect(
            ["copy", json, "log:" + folder.url.path + "/../\(folder.url.lastPathComponent)/trips.json"],
            status: ToolExitStatus.usage, saying: "both", in: folder)
    }

    @Test func outputThatGoesNowhereIsAnError() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 3)
        let (status, text) = try shell("'\(try ToolRun.executable().path)' info '\(store)' > /dev/full")
        #expect(status == ToolExitStatus.failedInputOutput)
        #expect(text.contains("output cannot be written"))
    }
}
#endif
