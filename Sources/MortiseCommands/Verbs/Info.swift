import ArgumentParser
import Foundation
import MortiseCore

/// `mortise info`
struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tells what a store holds: schema, counts, size, capabilities, and the last transactions.",
        discussion: """
            The store is opened for reading. One whose files come to no more than 64 MB is checked to the last byte besides, \
            where its kind can be; of a larger one only what opening reads is, and "mortise verify" checks the rest. What \
            was checked and found stands behind "health". The exit status is 65 where something is wrong.

            EXAMPLES
              mortise info json:library.json
              mortise info log:library.log --transactions 20 --format json
            """)

    @OptionGroup var store: StoreOption

    @Option(help: "How many of the last transactions to list, where the store keeps its history.")
    var transactions = 5

    @Option(help: "How to print: text or json.")
    var format: ReportFormat = .text

    func validate() throws {
        if transactions < 0 { throw ValidationError("The number of transactions must not be negative.") }
    }

    func run() throws {
        let argument = try self.store.argument()
        let configuration = try argument.selfDescribing()
        let store = try OpenStore.reading(argument)
        let files = try configuration.storeFiles()
        let version = try store.version()
        let health = try StoreHealth(configuration, store, version, bytes: files.reduce(0) { $0 + $1.bytes })
        let found = StoreFacts(
            url: argument.name, store: store.store, schema: store.schema, version: version, files: files,
            health: health, durability: configuration.durabilityGrade,
            transactions: transactions == 0
                ? []
                : try (store.store as? any StoredHistoryProviding)?.storedTransactions(after: 0, last: transactions))
        let output = ToolContext.current.output
        switch format {
        case .text: try found.print(to: output)
        case .json: try output.line(found.json.description)
        }
        try store.close()
        if !health.problems.isEmpty { throw StoreDamage(store: argument.name, problems: health.problems) }
    }
}

/// What `info` tells of a store.
private struct StoreFacts {
    let url: String
    let store: any DataStore
    let schema: StoredSchema
    let version: any StoreVersion
    let files: [StoreFile]
    let health: StoreHealth
    let durability: DurabilityGrade
    /// Nil for a store without a history.
    let transactions: [StoredTransaction]?

    private var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

    private func count(_ entity: StoredEntity) -> Int { version.rows(ofEntity: entity.name)?.count ?? 0 }

    private var records: Int { schema.entities.reduce(0) { $0 + count($1) } }

    func print(to output: Output) throws {
        func fact(_ name: String, _ value: String) throws {
            try output.line(output.styled(name + String(repeating: " ", count: 14 - name.count), .bold) + value)
        }
        try fact("store", url)
        try fact("identifier", store.identifier.shown())
        try fact(
            "schema", "version \(schema.version), " + FigureText.plural(schema.entities.count, "entity", "entities"))
        try fact("records", FigureText.count(records))
        let parts = files.map { "\($0.role) \(FigureText.bytes($0.bytes))" }.joined(separator: ", ")
        try fact("size", FigureText.bytes(bytes) + (files.count > 1 ? " (\(parts))" : ""))
        try fact("durability", "\(durability)")
        try fact("capabilities", "\(store.capabilities)")
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
            heading += "  " + FigureText.plural(count(entity), "record")
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
                ("records", .number(count(entity))),
                ("properties", .list(entity.properties.map(Self.json))),
                (
                    "uniquenessConstraints",
                    .list(entity.uniquenessConstraints.map { .list($0.map { .text($0) }) })
                ),
                ("indices", .list(entity.indices.map { .list($0.properties.map { .text($0) }) })),
            ])
        }
        return .object([
            ("store", .text(url)), ("identifier", .text(store.identifier)),
            ("schemaVersion", .text("\(schema.version)")), ("records", .number(records)), ("bytes", .raw("\(bytes)")),
            (
                "files",
                .list(
                    files.map {
                        .object([("path", .text($0.path)), ("role", .text($0.role)), ("bytes", .raw("\($0.bytes)"))])
                    })
            ),
            ("durability", .text("\(durability)")),
            ("capabilities", .list(store.capabilities.all.sorted().map { .text($0.rawValue) })),
            ("health", health.json),
            ("transactions", transactions.map { .list($0.map(TransactionText.json)) } ?? .null),
            ("entities", .list(entities)),
        ])
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
    static func line(_ transaction: StoredTransaction) -> String {
        var parts: [String] = []
        if transaction.isErasure { parts.append("erased all") }
        if !transaction.inserted.isEmpty { parts.append("\(FigureText.count(transaction.inserted.count)) inserted") }
        if !transaction.updated.isEmpty { parts.append("\(FigureText.count(transaction.updated.count)) updated") }
        if !transaction.deleted.isEmpty { parts.append("\(FigureText.count(transaction.deleted.count)) deleted") }
        let author = [transaction.author ?? "", transaction.process].filter { !$0.isEmpty }.joined(separator: ", ")
        return "\(transaction.number)  \(TimestampText.text(of: transaction.timestamp))  "
            + (parts.isEmpty ? "nothing" : parts.joined(separator: ", "))
            + (author.isEmpty ? "" : "  by \(author.shown())")
    }

    static func json(_ transaction: StoredTransaction) -> JSONText {
        .object([
            ("number", .raw("\(transaction.number)")),
            ("timestamp", .text(TimestampText.text(of: transaction.timestamp))),
            ("author", transaction.author.map { .text($0) } ?? .null), ("process", .text(transaction.process)),
            ("isErasure", .bool(transaction.isErasure)), ("inserted", .number(transaction.inserted.count)),
            ("updated", .number(transaction.updated.count)), ("deleted", .number(transaction.deleted.count)),
        ])
    }
}
