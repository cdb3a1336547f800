#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise copy`
struct Copy: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies all records of a store into another one, of any kind.",
        discussion: """
            Records keep their order, values and relationships; their numbers may change. A missing target is created. A \
            target that holds records is not changed without --resume or --replace. After an interruption (Ctrl-C, a \
            crash, a loss of power) --resume continues the copy; it first checks that the target holds the beginning of \
            the source. At the end the target is opened again, and content and order of both stores are compared.

            EXAMPLES
              mortise copy json:library.json log:library.log
              mortise copy json:library.json log:library.log --resume
            """)

    @Argument(help: "The URL of the store to copy.")
    var source: String

    @Argument(help: "The URL of the store to copy into.")
    var target: String

    @Flag(help: "Continue an interrupted copy.")
    var resume = false

    @Flag(help: "First remove the records that the target holds.")
    var replace = false

    @Option(parsing: .unconditional, help: "How many records to save at once.")
    var batch = 10_000

    @Flag(inversion: .prefixedNo, help: "Compare both stores at the end.")
    var check = true

    @Option(help: "When to show progress: auto (on a terminal), always or never.")
    var progress: ProgressChoice = .auto

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func validate() throws {
        if batch < 1 || batch > 1_000_000 { throw ValidationError("The batch must be 1 to 1000000 records.") }
        if resume, replace { throw ValidationError("Pass --resume or --replace, not both.") }
    }

    func run() throws {
        let (from, to) = (try StoreArgument(source), try StoreArgument(target))
        if let a = from.location, let b = to.location, Self.resolved(a) == Self.resolved(b) {
            throw ToolError.sameStore(to.name)
        }
        _ = try to.selfDescribing()
        let source = try OpenStore.reading(from)
        let interruption = Interruption()
        let total = try source.count()
        try fill(to, from: source, total, interruption)
        if check { try compare(source, to, total, interruption) }
        try source.close()
        try report(total, from.name, to.name)
    }

    private func report(_ records: Int, _ source: String, _ target: String) throws {
        let output = ToolContext.current.output
        switch format {
        case .text:
            let result = check ? "copied and compared" : "copied"
            let names = check ? "\(source) and \(target) are equal in content and order" : "\(source) into \(target)"
            try output.line("\(result) \(FigureText.plural(records, "record")): \(names)")
        case .json:
            try output.line(
                JSONText.object([
                    ("result", .text("copied")), ("source", .text(source)), ("target", .text(target)),
                    ("records", .number(records)), ("isCompared", .bool(check)),
                ]).description)
        }
    }

    /// In a separate function, so that the target's memory is released before it is read again.
    private func fill(
        _ argument: StoreArgument, from source: OpenStore, _ total: Int, _ interruption: Interruption
    ) throws {
        let configuration = try argument.selfDescribing()
        if let present = try configuration.storedSchema(), present != source.schema {
            throw ToolError.otherSchema(
                store: argument.name, other: source.name, differences: SchemaDifferences.between(present, source.schema)
            )
        }
        let target = try OpenStore(configuration, schema: source.schema, name: argument.name)
        let held = try target.count()
        do {
            if held > 0, !resume {
                guard replace else { throw ToolError.holdsRecords(store: argument.name, count: held) }
                // What cannot be read takes the place of nothing.
                try source.readThrough()
                target.refresh()
                try target.store.erase()
            }
            // No state of the target is kept while it is written.
            if !resume || held == 0 { target.refresh() }
            let line = ProgressLine("copied", of: total, from: resume ? held : 0, progress)
            var limits = StoreCopy.Limits()
            limits.records = batch
            var copy = try StoreCopy(
                from: source, to: target, limits: limits, interruption: interruption, progress: line)
            try copy.run(isResuming: resume && held > 0)
        } catch {
            try? target.close()
            throw error
        }
        try target.close()
    }

    private func compare(
        _ source: OpenStore, _ argument: StoreArgument, _ total: Int, _ interruption: Interruption
    ) throws {
        let target = try OpenStore.reading(argument)
        let line = ProgressLine("compared", of: total, progress)
        let found = try ContentComparison(
            try source.walkedVersion(), try target.walkedVersion(), source.schema, source.layouts, progress: line.update
        )
        line.finish(found.compared)
        try target.close()
        guard found.isEqual else {
            throw ToolError.unequalCopy(detail: found.differences.joined(separator: "; "))
        }
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path(percentEncoded: false)
    }
}

/// What tells two schemas apart, in words.
enum SchemaDifferences {
    static func between(_ a: StoredSchema, _ b: StoredSchema) -> [String] {
        var found: [String] = []
        if a.version != b.version { found.append("version \(a.version) and \(b.version)") }
        for entity in a.entities where b.entity(named: entity.name) == nil {
            found.append("\(entity.name) exists only in the target")
        }
        for entity in b.entities {
            guard let other = a.entity(named: entity.name) else {
                found.append("\(entity.name) is missing")
                continue
            }
            if other == entity { continue }
            let names = entity.properties.map(\.name) + other.properties.map(\.name)
            let differing = names.filter { name in
                entity.properties.first { $0.name == name } != other.properties.first { $0.name == name }
            }
            var seen: Set<String> = []
            let unique = differing.filter { seen.insert($0).inserted }
            found.append(
                unique.isEmpty
                    ? "\(entity.name) differs in its constraints, indexes or superentity"
                    : "\(entity.name) differs in \(unique.joined(separator: ", "))")
        }
        return found
    }
}
#endif
