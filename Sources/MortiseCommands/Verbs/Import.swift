#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// How the records of a file are written.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable, Codable {
    /// One object of JSON in each line.
    case jsonl
    case csv

    /// The format of a file, by its name.
    static func of(_ path: String) -> ImportFormat {
        var name = path.lowercased()
        // Rejected lines are written as those of their file.
        while name.hasSuffix(".rejected") { name.removeLast(".rejected".count) }
        return name.hasSuffix(".csv") ? .csv : .jsonl
    }
}

/// `mortise import`
struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Adds the records of a file to a store: lines of JSON, or CSV.",
        discussion: """
            A line of JSON is an object, such as {"name":"Alps","price":"1240.50"}. "$entity" names the entity, unless --entity \
            does; "$id" is a number by which relationships in the same file name the record, whatever it becomes in the store. \
            "mortise export" writes such files. The first line of a CSV file names the properties; an empty field is nil, and "" \
            an empty text. Derived sides of relationships follow by themselves.

            Lines that are no records are named, and kept apart in FILE.rejected (see --rejected); all others are imported. What \
            leads to a record that the file does not have is left out, and named. The exit status is 78 then. After an interruption (Ctrl-C, a crash, a loss of power) --resume goes on, and imports no record twice.

            EXAMPLES
              mortise export log:library.log library.jsonl
              mortise import json:copy.json library.jsonl --schema log:library.log
              mortise import log:library.log genres.csv --entity Genre
            """)

    @OptionGroup var store: StoreOption

    @Argument(help: ArgumentHelp("The file to read; - for the standard input.", valueName: "file"))
    var file: String

    @Option(help: ArgumentHelp("The entity of lines that name none.", valueName: "name"))
    var entity: String?

    @Option(name: .customLong("format"), help: "How the file is written: jsonl or csv; by its name if not given.")
    var given: ImportFormat?

    @Option(
        help: ArgumentHelp(
            "The schema of a store that does not exist yet: a store, or a file of \"mortise schema json\".",
            valueName: "schema"))
    var schema: String?

    @Option(
        help: ArgumentHelp("Where to keep lines that are no records; the file must not exist.", valueName: "file"))
    var rejected: String?

    @Flag(help: "Continue an interrupted import.")
    var resume = false

    @Option(parsing: .unconditional, help: "How many records to save at once.")
    var batch = 10_000

    @Option(help: "When to show progress: auto (on a terminal), always or never.")
    var progress: ProgressChoice = .auto

    func validate() throws {
        if batch < 1 || batch > 1_000_000 { throw ValidationError("The batch must be 1 to 1000000 records.") }
        if resume, file == "-" { throw ValidationError("The standard input cannot be read again; give a file.") }
    }

    private var format: ImportFormat { given ?? ImportFormat.of(file) }
    private var stateFile: String? { file == "-" ? nil : file + ".import" }

    func run() throws {
        let argument = try store.argument()
        let lines = try FileLines(file)
        let target = try open(argument)
        let rejected: RejectedRecords
        let work: RecordImport
        do {
            (work, rejected) = try run(lines, target)
        } catch {
            try? target.close()
            throw error
        }
        try target.close()
        try ToolContext.current.output.line(
            "imported \(FigureText.plural(work.imported, "record")) into \(argument.name)")
        if rejected.count > 0 {
            throw ToolError.rejectedLines(
                count: rejected.count, of: work.imported + rejected.count, path: rejected.path.shown(limit: 300))
        }
        if work.leftOut > 0 { throw ToolError.leftOutReferences(count: work.leftOut) }
    }

    private func open(_ argument: StoreArgument) throws -> OpenStore {
        let configuration = try argument.selfDescribing()
        if let present = try configuration.storedSchema() {
            return try OpenStore(configuration, schema: present, name: argument.name)
        }
        guard let schema else {
            throw ToolError.usage(
                "there is no store at \(argument.name); check the path, or pass --schema to make a new one")
        }
        let target = try OpenStore(
            configuration, schema: try SchemaSource(schema).document.schema, name: argument.name)
        // From here on it exists, so that an interrupted import can go on in it.
        try target.store.erase()
        return target
    }

    private func run(_ lines: FileLines, _ target: OpenStore) throws -> (RecordImport, RejectedRecords) {
        if let entity, target.layouts[entity] == nil {
            throw UnknownEntity(name: entity, known: target.schema.entities.map(\.name))
        }
        if format == .csv, entity == nil { throw ToolError.usage("name the entity of a CSV file with --entity") }
        let size = lines.size
        let path = rejected ?? (file == "-" ? "import.rejected" : file + ".rejected")
        var state = ImportState(
            store: target.store.identifier, held: try target.count(), entity: entity, format: format, batch: batch,
            size: size, rejected: path)
        target.refresh()
        var goesOn = false
        var ownsRejected = false
        if let stateFile, let earlier = try ImportState.read(stateFile) {
            guard resume else { throw ToolError.unfinishedImport(path: stateFile.shown(limit: 300)) }
            guard earlier.store == state.store else {
                throw ToolError.notResumable(store: target.name, detail: "it began in another store")
            }
            guard earlier.size == size, earlier.entity == entity, earlier.format == format, earlier.batch == batch
            else {
                throw ToolError.notResumable(
                    store: target.name, detail: "the file or an option is not what it was; give the same ones")
            }
            goesOn = true
            ownsRejected = earlier.rejected ?? path == path
            state = earlier
            state.rejected = path
        } else if resume {
            throw ToolError.usage("no import of \(file.shown(limit: 300)) was interrupted; leave out --resume")
        }
        let reading = RecordReading(target.schema, target.layouts, entity: entity)
        let interruption = Interruption()
        var lines = lines
        lines.interruption = interruption
        var csv = CSVLines(lines)
        var json = lines
        var heading: [UInt8] = []
        var columns: [String] = []
        if format == .csv, let entity, let first = try csv.next() {
            heading = first.text + [0x0A]
            do {
                columns = try reading.columns(try first.fields.get().map(\.text), of: entity)
            } catch {
                throw (error as? BadLine).map { ToolError.usage("line 1: \($0.reason)") } ?? error
            }
        }
        let kept = try RejectedRecords(path, heading: heading, replaces: ownsRejected)
        if let stateFile { try state.write(stateFile) }
        let line = ProgressLine("read bytes:", of: Int(size), progress)
        var work = RecordImport(
            into: target, reading, state, at: stateFile, rejected: kept, interruption: interruption)
        if goesOn { try work.resume() }
        try target.store.saveInBulk { flush in
            try work.run(flush) {
                switch format {
                case .csv:
                    guard let (text, fields) = try csv.next() else { return nil }
                    line.update(csv.consumed)
                    let members = Result { () throws(BadLine) in try reading.members(try fields.get(), columns) }
                    return (csv.number, text, members)
                case .jsonl:
                    while let (bytes, isTooLong) = try json.next() {
                        line.update(json.consumed)
                        if isTooLong {
                            return (json.number, [], .failure(BadLine(reason: FileLines.tooLong)))
                        }
                        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
                        return (
                            json.number, Array(bytes),
                            Result { () throws(BadLine) in try JSONObjectLine.members(bytes) }
                        )
                    }
                    return nil
                }
            }
        }
        line.finish(Int(size))
        if let stateFile { try? FileManager.default.removeItem(atPath: stateFile) }
        return (work, kept)
    }
}
#endif
