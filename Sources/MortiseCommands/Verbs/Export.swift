#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise export`
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes records to a file: lines of JSON, or CSV.",
        discussion: """
            Records come in the order of insertion, one at a time, however many there are. A line of JSON has the entity and the \
            number of a record as "$entity" and "$id", its attributes, and the relationships that are stored with it. Numbers keep \
            their digits; decimals, dates, UUIDs and data are texts. "mortise import" reads such files back. A CSV file holds the \
            records of one entity with its subentities.

            EXAMPLES
              mortise export log:library.log library.jsonl
              mortise export log:library.log yesterday.jsonl --as-of 2026-05-01
              mortise export log:library.log --entity Track --where 'unitPrice > 1' --format csv > tracks.csv
            """)

    @OptionGroup var store: StoreOption

    @Argument(
        help: ArgumentHelp(
            "The file to write, which must not exist; the standard output if not given.", valueName: "file"))
    var file: String?

    @Option(
        help: ArgumentHelp("Only this entity's records, and those of its subentities.", valueName: "name"),
        completion: .custom(SchemaCompletion.entities))
    var entity: String?

    @Option(
        name: [.customLong("where")],
        help: ArgumentHelp("Only records for which the predicate holds; needs --entity.", valueName: "predicate"))
    var condition: String?

    @Option(
        help: ArgumentHelp(
            "Write the records as they were after this transaction, or at this time.",
            discussion: "See mortise history. Stores with a history can, such as json: and log:.",
            valueName: "number or time"))
    var asOf: String?

    @Option(name: .customLong("format"), help: "How to write: jsonl or csv; by the file's name if not given.")
    var given: ImportFormat?

    @Option(help: "When to show progress: auto (on a terminal, after a second), always or never.")
    var progress: ProgressChoice = .auto

    func validate() throws {
        if condition != nil, entity == nil { throw ValidationError("Name the entity of the condition with --entity.") }
    }

    func run() throws {
        let format = given ?? file.map(ImportFormat.of) ?? .jsonl
        guard format == .jsonl || entity != nil else {
            throw ToolError.usage("a CSV file holds the records of one entity; name it with --entity")
        }
        let point = try asOf.map(PastPoint.init)
        let store = try OpenStore.reading(try self.store.argument())
        if let point { try store.goBack(to: point) }
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        if let entity { try text.check(entity) }
        var found: StoreQueryRun?
        if let entity, let condition {
            let query = StoreQuery(
                entity, purpose: .rows, conjuncts: try text.conditions(condition, entity: entity), order: [],
                offset: 0, limit: nil)
            found = try StoreQueryRun(query, in: store)
        }
        let output = try file.map(Self.newFile) ?? ToolContext.current.output
        var count = 0
        do {
            let version = try found?.version ?? store.past ?? store.walkedVersion()
            let family = entity.map { store.schema.family(of: $0) }
            let total =
                found?.records.count
                ?? store.schema.entities.filter { family?.contains($0.name) ?? true }
                .reduce(0) { $0 + (version.rows(ofEntity: $1.name)?.count ?? 0) }
            // Not between the records on one terminal.
            let isMixed = file == nil && output.isTerminal && progress == .auto
            let line = ProgressLine("exported", of: total, isMixed ? .never : progress, after: .seconds(1))
            let writer = RecordWriter(store, entity: entity, format, output)
            try writer.writeHeading()
            let interruption = Interruption()
            func write(_ entity: String, _ row: Int, _ rows: RowSource) throws {
                try writer.write(entity, row, rows)
                try version.check()
                count += 1
                if count % 256 == 0 { line.update(count) }
                if count % 1_000 == 0, interruption.isRequested {
                    line.interrupt()
                    throw ToolError.interrupted("interrupted after \(FigureText.plural(count, "record"))")
                }
            }
            if let found {
                for record in found.records {
                    let table = found.reader.tables[record.table]
                    try write(table.entityName, record.row, table.rows)
                }
            } else {
                for element in IdentityWalk(version, store.schema, isInOrder: store.past == nil) {
                    let name = store.schema.entities[element.entity].name
                    guard family?.contains(name) ?? true, let rows = version.rows(ofEntity: name) else { continue }
                    try write(name, element.row, rows)
                }
            }
            try version.check()
            try output.flush()
            line.finish(count)
        } catch {
            // Half a file could be taken for a whole one.
            if let file { unlink(file) }
            throw error
        }
        if let file {
            try ToolContext.current.output.line(
                "exported \(FigureText.plural(count, "record")) to \(file.shown(limit: 300))")
        }
        try store.close()
    }

    private static func newFile(_ path: String) throws -> Output {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o666)
        if descriptor >= 0 { return Output(descriptor) }
        if errno == EEXIST { throw ToolError.alreadyThere(path: path.shown(limit: 300)) }
        throw ToolError.unwritableFile(path: path.shown(limit: 300), reason: String(cString: strerror(errno)))
    }
}

/// Writes records so that `mortise import` reads the same ones.
private struct RecordWriter {
    private let layouts: [String: RecordLayout]
    private let columns: [String]
    private let format: ImportFormat
    private let output: Output
    private let hasSubentities: Bool

    init(_ store: OpenStore, entity: String?, _ format: ImportFormat, _ output: Output) {
        layouts = store.layouts
        self.format = format
        self.output = output
        let family = entity.map { name in
            store.schema.entities.map(\.name).filter(store.schema.family(of: name).contains)
        }
        hasSubentities = (family?.count ?? 0) > 1
        var columns: [String] = []
        for slot in (family ?? []).flatMap({ store.layouts[$0]?.slots ?? [] })
        where Self.isWritten(slot) && !columns.contains(slot.name) { columns.append(slot.name) }
        self.columns = columns
    }

    private static func isWritten(_ slot: RecordLayout.Slot) -> Bool {
        slot.role != .toManyDerived && slot.property.attribute?.options.contains(.ephemeral) != true
    }

    func writeHeading() throws {
        guard format == .csv else { return }
        let names = (hasSubentities ? ["$entity"] : []) + ["$id"] + columns
        try output.line(csv: names.map { ValueText.csv($0) })
    }

    func write(_ entity: String, _ row: Int, _ rows: RowSource) throws {
        guard let layout = layouts[entity] else { return }
        let record = rows.identifier(ofRow: row)
        switch format {
        case .jsonl:
            var line = "{\"$entity\":\(ValueText.quoted(entity)),\"$id\":\(ValueText.json(record))"
            for (place, slot) in layout.slots.enumerated() where Self.isWritten(slot) {
                let value = rows.value(row: row, slot: place)
                if value.isNull || (slot.role.isToMany && value.isEmptyList) { continue }
                line += ",\(ValueText.quoted(slot.name)):\(ValueText.json(value))"
            }
            try output.line(line + "}")
        case .csv:
            let values = columns.map { name -> StoredValue in
                layout.slot(named: name).map { rows.value(row: row, slot: $0) } ?? .null
            }
            let first = (hasSubentities ? [ValueText.csv(entity)] : []) + [ValueText.key(record)]
            try output.line(csv: first + values.map(ValueText.csv))
        }
    }
}

extension StoredValue {
    fileprivate var isEmptyList: Bool {
        if case .identifiers(let identifiers) = self { identifiers.isEmpty } else { false }
    }
}

extension StoredSchema {
    /// An entity and all that inherit from it.
    func family(of name: String) -> Set<String> {
        var family: Set = [name]
        var grows = true
        while grows {
            let more = entities.filter { $0.superentity.map(family.contains) ?? false }.map(\.name)
            grows = !family.isSuperset(of: more)
            family.formUnion(more)
        }
        return family
    }
}
#endif
