#if Mutants
import Foundation
import Synchronization

// Generated mutants of the sample stores: the kit has to catch every one. `mortise-mutants --help` says how.

let usage = """
    usage: mortise-mutants [--store csv|sqlite] [--mutant N[-M]] [--list] [--at-once N]

      --store NAME   only the mutants of this store
      --mutant N     only the mutant of that number, whose whole run is shown; needs --store
      --mutant N-M   only the mutants of these numbers; needs --store
      --list         list the mutants, build and run nothing
      --at-once N    how many runs there are at a time; default: 2

    """

struct Options {
    var stores = SampleStore.all
    var mutants: ClosedRange<Int>?
    var isList = false
    var atOnce = 2

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            func value() throws -> String {
                guard let value = rest.popFirst() else { throw MutantError(description: "\(option) needs a value.") }
                return value
            }
            func number() throws -> Int {
                guard let number = Int(try value()), number > 0 else {
                    throw MutantError(description: "\(option) takes a number from 1.")
                }
                return number
            }
            switch option {
            case "--store":
                let name = try value()
                stores = SampleStore.all.filter { $0.name == name }
                if stores.isEmpty { throw MutantError(description: "Unknown store \"\(name)\". Known: csv, sqlite.") }
            case "--mutant":
                let ends = try value().split(separator: "-").compactMap { Int($0) }
                guard let first = ends.first, let last = ends.last, first <= last, ends.count <= 2 else {
                    throw MutantError(description: "--mutant takes a number, or two as in 10-20.")
                }
                mutants = first...last
            case "--at-once": atOnce = try number()
            case "--list": isList = true
            case "--help", "-h":
                print(usage)
                exit(0)
            default: throw MutantError(description: "Unknown option \"\(option)\".")
            }
        }
        if mutants != nil, stores.count > 1 { throw MutantError(description: "--mutant needs --store.") }
    }
}

/// Counts over all stores.
struct Counts {
    var caught = 0
    var equivalent = 0
    /// What only a loss of power shows.
    var skipped = 0
    var failed = 0
}

func say(_ text: String) {
    print(text)
    fflush(nil)
}

func run(_ store: SampleStore, of package: MutantPackage, _ options: Options, _ counts: inout Counts) throws {
    let list = package.root.appending(path: "Tests/Mutants/equivalents.txt")
    let equivalents = try Equivalent.list(try String(contentsOf: list, encoding: .utf8))
    let files = Set(try package.rewrite(store, leavingOut: []).map(\.file))
    say("\(store.name): building")
    let (mutants, leftOut, program) = try package.build(store)
    for mutant in leftOut { say("  does not compile: \(mutant.text)") }
    say("\(store.name): \(mutants.count) mutants, \(leftOut.count) that do not compile")
    let folder = package.root.appending(path: ".build/mutants/\(store.name)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var run = MutantRun(program: program, folder: folder)
    if let number = options.mutants?.first, options.mutants?.count == 1 {
        guard let mutant = mutants.first(where: { $0.number == number }) else {
            throw MutantError(description: "\(store.name) has no mutant \(number).")
        }
        say(mutant.text)
        let (status, text) = try run.output(number, arguments: [])
        say(text)
        if status == 0 { counts.failed += 1 } else { counts.caught += 1 }
        return
    }
    let (status, text) = try run.output(nil, arguments: [])
    say("\(store.name): without a mutant: \(text.split(separator: "\n").last ?? "")")
    if status != 0 {
        // They fail the whole; what the other cases catch is still worth knowing.
        run.alarms = Set(text.split(separator: "\n").filter { $0.hasPrefix("  ✗ ") }.map { String($0.dropFirst(4)) })
        for name in run.alarms.sorted() { say("failed: \(name) fails without a mutant") }
        counts.failed += max(run.alarms.count, 1)
    }
    let (unobservable, observable) = (
        mutants.filter { mutant in equivalents.contains { $0.matches(mutant) } },
        mutants.filter { mutant in !equivalents.contains { $0.matches(mutant) } }
            .filter { options.mutants?.contains($0.number) != false }
    )
    for entry in equivalents where files.contains(entry.file) && !mutants.contains(where: entry.matches) {
        say("failed: equivalents.txt: no mutant is \(entry.text)")
        counts.failed += 1
    }
    let powerless = unobservable.filter { mutant in
        equivalents.contains { !$0.seen.isEmpty && $0.matches(mutant) }
    }
    for mutant in powerless { say("skipped: seen only by loss of power: \(mutant.text)") }
    let found = Mutex<[(Mutant, MutantRun.Outcome)]>([])
    try run.run(observable, atOnce: options.atOnce) { mutant, outcome in
        found.withLock { $0.append((mutant, outcome)) }
        switch outcome {
        case .caught(let name): say("  caught \(mutant.text) by \(name)")
        case .survived: say("  SURVIVED \(mutant.text)")
        case .endless: say("  ENDLESS \(mutant.text)")
        }
    }
    let outcomes = found.withLock { $0 }.sorted { $0.0.number < $1.0.number }
    let survivors = outcomes.filter { if case .caught = $0.1 { false } else { true } }.map(\.0)
    for mutant in survivors { say("failed: not caught: \(mutant.text)\n    \(mutant.context)") }
    say(
        "\(store.name): \(outcomes.count - survivors.count) caught, "
            + "\(unobservable.count - powerless.count) equivalent, \(powerless.count) seen only by loss of power, "
            + "\(survivors.count) not caught")
    counts.caught += outcomes.count - survivors.count
    counts.equivalent += unobservable.count - powerless.count
    counts.skipped += powerless.count
    counts.failed += survivors.count
}

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    let package = MutantPackage(root: URL(fileURLWithPath: FileManager.default.currentDirectoryPath))
    try package.copyKit()
    var counts = Counts()
    for store in options.stores {
        if options.isList {
            for mutant in try package.rewrite(store, leavingOut: []) { say("\(store.name) \(mutant.text)") }
        } else {
            try run(store, of: package, options, &counts)
        }
    }
    if !options.isList {
        say(
            "\(counts.caught + counts.equivalent) passed, \(counts.failed) failed, \(counts.skipped) skipped")
    }
    exit(counts.failed == 0 ? 0 : 1)
} catch let error as MutantError {
    say("\(error)\n\(usage)")
    exit(2)
} catch {
    say("\(error)")
    exit(2)
}
#else
import MissingTrait

endForMissingTrait("Mutants", program: "mortise-mutants")
#endif
