#if Tool
import ArgumentParser
import Foundation
import MortiseCore

/// `mortise info`
struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows what a store holds: schema, counts, size, capabilities and the last transactions.",
        discussion: """
            If a store has more than 4 MB, only its headers are read, so that the answer comes at once; records are not \
            counted, and transactions not listed. With --check every store is opened, and every byte is read if its kind \
            supports that. The line "health" shows what was checked and found. The exit status is 65 if something is wrong.

            EXAMPLES
              mortise info json:library.json
              mortise info json:library.json --check
              mortise info log:library.log --transactions 20 --format json
            """)

    @OptionGroup var store: StoreOption

    @Option(parsing: .unconditional, help: "How many of the last transactions to list, if the store keeps its history.")
    var transactions = 5

    @Flag(help: "Read the whole store, whatever its size: count records and check every byte.")
    var check = false

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    /// The size in bytes up to which a store is opened even without --check.
    private static let largest: Int64 = 4_000_000

    func validate() throws {
        if transactions < 0 { throw ValidationError("The number of transactions must not be negative.") }
    }

    func run() throws {
        let argument = try self.store.argument()
        let configuration = try argument.selfDescribing()
        guard let schema = try configuration.storedSchema() else { throw ToolError.missing(store: argument.name) }
        let files = try configuration.storeFiles()
        let bytes = files.filter { $0.role != "external values" }.reduce(0) { $0 + $1.bytes }
        let store = check || bytes <= Self.largest ? try OpenStore.reading(argument) : nil
        let version = try store?.walkedVersion()
        if check { try store?.readThrough() }
        var health = StoreHealth.unknown
        if let store, let version {
            health = try StoreHealth.of(configuration, store, version, checksAll: check)
        }
        let found = StoreFacts(
            url: argument.name, store: store?.store, schema: schema, version: version, files: files,
            health: health, durability: configuration.durabilityGrade,
            transactions: transactions == 0
                ? []
                : try store?.store.storedTransactions(after: 0, last: transactions))
        let output = ToolContext.current.output
        switch format {
        case .text: try found.print(to: output)
        case .json: try output.line(found.json.description)
        }
        try store?.close()
        if !health.problems.isEmpty { throw StoreDamage(store: argument.name, problems: health.problems) }
    }
}

/// What `info` tells of a store.
private struct StoreFacts {
    let url: String
    /// Nil for a store of which only the headers were read; so is the version.
    let store: (any DataStore)?
    let schema: StoredSchema
    let version: (any StoreVersion)?
    let files: [StoreFile]
    let health: StoreHealth
    let durability: DurabilityGrade
    /// Nil for a store without a history.
    let transactions: [ChangeSet]?

    private var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

    private func count(_ entity: StoredEntity) -> Int? {
        version.map { $0.rows(ofEntity: entity.name)?.count ?? 0 }
    }

    private var records: Int? { version == nil ? nil : schema.entities.reduce(0) { $0 + (count($1) ?? 0) } }

    func print(to output: Output) throws {
        func fact(_ name: String, _ value: String) throws {
            try output.line(output.styled(name + String(repeating: " ", count: 14 - name.count), .bold) + value)
        }
        try fact("store", url)
        if let store { try fact("identifier", store.identifier.shown()) }
        try fact(
            "schema", "version \(schema.version), " + FigureText.plural(schema.entities.count, "entity", "entities"))
        try fact("records", records.map { FigureText.count($0) } ?? "not counted; pass --check")
        let parts = files.map { "\($0.role) \(FigureText.bytes($0.bytes))" }.joined(separator: ", ")
        try fact("size", FigureText.bytes(bytes) + (files.count > 1 ? " (\(parts))" : ""))
        try fact("durability", "\(durability)")
        if let store { try fact("capabilities", "\(store.capabilities)") }
        try fact("health", health.text)
        for note in health.notes { try fact("note", note.shown(limit: 500)) }
        for problem in health.problems { try fact("problem", problem.shown(limit: 500)) }
        if let transactions {
            try fact("transactions", transactions.isEmpty ? "none" : "the last \(transactions.count):")
        }
        for transaction in transactions ?? [] { try output.line("  " + TransactionText.line(transaction)) }
        try output.line()
        try printEntities(to: output)
    }

    private func printEntities(to output: Output) throws {
        for entity in schema.entities {
            var heading = output.styled(entity.name.shown(), .bold)
            if let superentity = entity.superentity { heading += ": \(superentity.shown())" }
            if let count = count(entity) { heading += "  " + FigureText.plural(count, "record") }
            try output.line(heading)
            var line = " "
            for property in entity.properties {
                let text = " " + Self.text(property).shown(limit: 500)
                if line.count + text.count > 100, line.count > 1 {
                    try output.line(line)
                    line = " "
                }
                line += text + (property == entity.properties.last ? "" : ",")
            }
            if line.count > 1 { try output.line(line) }
            for constraint in entity.uniquenessConstraints {
                try output.line("  unique: " + constraint.joined(separator: ", ").shown(limit: 500))
            }
            for index in entity.indices {
                try output.line("  index: " + index.properties.joined(separator: ", ").shown(limit: 500))
            }
        }
    }

    /// A property with its kind as the field writes it: `price: decimal`, `note: string?`, `stops: [Stop]`.
    private static func text(_ property: StoredProperty) -> String {
        let mark = property.isOptional ? "?" : ""
        switch property.content {
        case .attribute(let attribute): return "\(property.name): \(attribute.kind.rawValue)\(mark)"
        case .relationship(let relationship):
            return relationship.isToMany
                ? "\(property.name): [\(relationship.destination)]"
                : "\(property.name): \(relationship.destination)\(mark)"
        }
    }

    var json: JSONText {
        let entities = schema.entities.map { entity in
            JSONText.object([
                ("name", .text(entity.name)), ("superentity", entity.superentity.map { .text($0) } ?? .null),
                ("records", count(entity).map { .number($0) } ?? .null),
                ("properties", .list(entity.properties.map(Self.json))),
                (
                    "uniquenessConstraints",
                    .list(entity.uniquenessConstraints.map { .list($0.map { .text($0) }) })
                ),
                ("indices", .list(entity.indices.map { .list($0.properties.map { .text($0) }) })),
            ])
        }
        // With the types named: as one expression it takes the compiler seconds.
        let files: [JSONText] = files.map {
            .object([("path", .text($0.path)), ("role", .text($0.role)), ("bytes", .raw("\($0.bytes)"))])
        }
        let identifier: JSONText = store.map { .text($0.identifier) } ?? .null
        let capabilities: JSONText =
            store.map { .list($0.capabilities.all.sorted().map { .text($0.rawValue) }) } ?? .null
        let transactions: JSONText = transactions.map { .list($0.map(TransactionText.json)) } ?? .null
        let members: [(String, JSONText)] = [
            ("store", .text(url)), ("identifier", identifier), ("schemaVersion", .text("\(schema.version)")),
            ("records", records.map { .number($0) } ?? .null), ("bytes", .raw("\(bytes)")), ("files", .list(files)),
            ("durability", .text("\(durability)")), ("capabilities", capabilities), ("health", health.json),
            ("transactions", transactions), ("entities", .list(entities)),
        ]
        return .object(members)
    }

    private static func json(_ property: StoredProperty) -> JSONText {
        var members: [(String, JSONText)] = [
            ("name", .text(property.name)), ("isOptional", .bool(property.isOptional)),
        ]
        switch property.content {
        case .attribute(let attribute): members.append(("kind", .text(attribute.kind.rawValue)))
        case .relationship(let relationship):
            members.append(("destination", .text(relationship.destination)))
            members.append(("isToMany", .bool(relationship.isToMany)))
            members.append(("inverse", relationship.inverse.map { .text($0) } ?? .null))
        }
        return .object(members)
    }
}

/// Transactions as text.
enum TransactionText {
    static func line(_ transaction: ChangeSet) -> String {
        var parts: [String] = []
        if transaction.isErasure { parts.append("erased all") }
        if !transaction.inserted.isEmpty { parts.append("\(FigureText.count(transaction.inserted.count)) inserted") }
        if !transaction.updated.isEmpty { parts.append("\(FigureText.count(transaction.updated.count)) updated") }
        if !transaction.deleted.isEmpty { parts.append("\(FigureText.count(transaction.deleted.count)) deleted") }
        let author = [transaction.author ?? "", transaction.commit?.process ?? ""].filter { !$0.isEmpty }.joined(
            separator: ", ")
        let stamp = transaction.commit.map { "\($0.number)  \(TimestampText.text(of: $0.timestamp))  " } ?? ""
        return stamp + (parts.isEmpty ? "nothing" : parts.joined(separator: ", "))
            + (author.isEmpty ? "" : "  by \(author.shown())")
    }

    static func json(_ transaction: ChangeSet) -> JSONText {
        .object([
            ("number", .raw("\(transaction.commit?.number ?? 0)")),
            ("timestamp", transaction.commit.map { .text(TimestampText.text(of: $0.timestamp)) } ?? .null),
            ("author", transaction.author.map { .text($0) } ?? .null),
            ("process", .text(transaction.commit?.process ?? "")),
            ("isErasure", .bool(transaction.isErasure)), ("inserted", .number(transaction.inserted.count)),
            ("updated", .number(transaction.updated.count)), ("deleted", .number(transaction.deleted.count)),
        ])
    }
}
#endif
