import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// Runs the reader, and says what it should find.
enum FormatReader {
    /// What the reader prints; its numbers are texts.
    indirect enum Node: Decodable, Equatable, CustomStringConvertible {
        case null
        case bool(Bool)
        case string(String)
        case array([Node])
        case object([String: Node])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([Node].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: Node].self))
            }
        }

        var description: String {
            switch self {
            case .null: "null"
            case .bool(let value): "\(value)"
            case .string(let value): "\"\(value)\""
            case .array(let values): "\(values)"
            case .object(let members):
                "{" + members.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
            }
        }
    }

    struct Failure: Error { let message: String }

    private static let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
    static let golden = folder.appending(path: "Golden")
    static let page = folder.appending(path: "../../Adapters/AppendLog/FORMAT.md")
    static let goldenFiles = ((try? FileManager.default.contentsOfDirectory(atPath: golden.path)) ?? [])
        .filter { $0.hasSuffix(".log") }.sorted()
    /// As the shell finds it, which installs it where it is missing.
    static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { $0 + "/python3" }.first(where: FileManager.default.isExecutableFile(atPath:))

    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "mortise-format-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// - Returns: what the files hold, and how many entries their indexes have.
    static func read(_ path: String) throws -> (content: [String: Node], entries: Int) {
        let process = Process()
        process.executableURL = URL(filePath: try #require(python))
        process.arguments = ["-B", folder.appending(path: "FormatReader/read_log.py").path, path]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(message: message) }
        var content = try JSONDecoder().decode([String: Node].self, from: printed)
        guard case .string(let entries)? = content.removeValue(forKey: "entries") else {
            throw Failure(message: "it printed no entries")
        }
        return (content, Int(entries) ?? 0)
    }

    static func expected(_ path: String) throws -> [String: Node] {
        var configuration = AppendLogConfiguration(path: path, allowsSave: false)
        configuration.schema = Schema(stored: try #require(try configuration.storedSchema()))
        let store = try AppendLogStore(configuration, migrationPlan: nil)
        defer { try? store.close() }
        return try content(of: store)
    }

    /// The values that stay in the history of what was deleted, by transaction and record.
    private struct Deletions: TransactionVisitor {
        let catalog: LogCatalog
        var found: [String: Node] = [:]

        mutating func begin(_ origin: TransactionOrigin, isErasure: Bool, nextSequence: UInt64) {}
        mutating func updated(_ entity: Int, _ sequence: UInt64, _ changes: [(slot: Int, value: StoredValue)]) {}
        mutating func inserted(_ entity: Int, _ sequence: UInt64, _ values: ContiguousArray<StoredValue>) {}
        mutating func deleted(_ entity: Int, _ sequence: UInt64, preserved: [(slot: Int, value: StoredValue)]) {
            let slots = catalog.layouts[entity].slots
            let values = preserved.map { (slots[$0.slot].name, node($0.value)) }
            found["\(catalog.schema.entities[entity].name)/\(sequence)"] = .object(
                Dictionary(uniqueKeysWithValues: values))
        }
    }

    private static func deletions(in log: String, of store: String) throws -> [UInt64: [String: Node]] {
        let file = try POSIXFileSystem().open(log, mode: .read)
        defer { try? file.close() }
        let header = try FileHeader(try file.readAll(count: FileHeader.size, at: 0), expecting: .log)
        var catalog: LogCatalog?
        var found: [UInt64: [String: Node]] = [:]
        _ = try FrameReader(file, size: try file.info().size, seed: header.seed)
            .scan(from: .first, allowingGapsTo: header.base) { frame in
                if frame.header.kind == .schema {
                    catalog = LogCatalog(try frame.reading { try $0.schema() }, store: store)
                } else if let catalog {
                    var deletions = Deletions(catalog: catalog)
                    try frame.reading { try $0.transaction(catalog, to: &deletions) }
                    found[frame.header.transaction] = deletions.found
                }
                return true
            }
        return found
    }

    private static func node(_ entity: StoredEntity) -> Node {
        func optional(_ text: String?) -> Node { text.map { .string($0) } ?? .null }
        func names(_ names: [String]) -> Node { .array(names.map { .string($0) }) }
        let properties = entity.properties.map { property -> Node in
            var members: [String: Node] = [
                "name": .string(property.name), "original": .string(property.originalName),
                "optional": .bool(property.isOptional),
            ]
            switch property.content {
            case .attribute(let attribute):
                members["kind"] = .string(attribute.kind.rawValue)
                members["options"] = .string("\(attribute.options.rawValue)")
                members["default"] = attribute.defaultValue.map { node($0) } ?? .null
                members["hash"] = optional(attribute.hashModifier)
            case .relationship(let relationship):
                members["to"] = .string(relationship.destination)
                members["many"] = .bool(relationship.isToMany)
                members["single"] = .bool(relationship.isUnique)
                members["inverse"] = optional(relationship.inverse)
                members["rule"] = .string("\(relationship.deleteRule)")
                members["minimum"] = optional(relationship.minimumCount.map { "\($0)" })
                members["maximum"] = optional(relationship.maximumCount.map { "\($0)" })
            }
            return .object(members)
        }
        let indices = entity.indices.map { index in
            Node.object(["kind": .string(index.kind.rawValue), "properties": names(index.properties)])
        }
        return .object([
            "name": .string(entity.name), "parent": optional(entity.superentity),
            "unique": .array(entity.uniquenessConstraints.map(names)), "indices": .array(indices),
            "properties": .array(properties),
        ])
    }

    static func content(of store: AppendLogStore) throws -> [String: Node] {
        let schema = store.schema.stored
        let layouts = schema.recordLayouts()
        var records: [String: Node] = [:]
        var slots: [String: Node] = [:]
        for entity in schema.entities {
            let layout = try #require(layouts[entity.name])
            slots[entity.name] = .array(layout.slots.map { .string($0.name) })
            records[entity.name] = .object(try table(store.engine.version.rows(ofEntity: entity.name), layout))
        }
        let deletions = try deletions(in: store.configuration.path, of: store.identifier)
        let transactions = try (store.storedTransactions(after: 0, last: nil) ?? []).map {
            node($0, try #require(deletions[$0.commit?.number ?? 0]))
        }
        let entities = schema.entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return [
            "store": .string(store.identifier.lowercased()),
            "version": .string("\(schema.version.major).\(schema.version.minor).\(schema.version.patch)"),
            "entities": .array(entities.map { node($0) }), "slots": .object(slots), "records": .object(records),
            "transactions": .array(transactions),
        ]
    }

    /// All values in the deletions of what was read.
    static func preserved(in content: [String: Node]) throws -> [String] {
        guard case .array(let transactions)? = content["transactions"] else { return [] }
        return transactions.flatMap { transaction -> [String] in
            guard case .object(let members) = transaction, case .object(let records)? = members["deleted"] else {
                return []
            }
            return records.values.flatMap { record -> [String] in
                guard case .object(let values) = record else { return [] }
                return values.values.map(\.description)
            }
        }
    }

    private static func table(_ rows: RowSource?, _ layout: RecordLayout) throws -> [String: Node] {
        var records: [String: Node] = [:]
        guard let rows else { return records }
        for row in 0..<rows.endRow where rows.contains(row: row) {
            var values: [String: Node] = [:]
            for (index, slot) in layout.slots.enumerated() where slot.isStored {
                values[slot.name] = node(try rows.readValue(row: row, slot: index))
            }
            records[String(rows.identifier(ofRow: row).sequenceNumber ?? 0)] = .object(values)
        }
        return records
    }

    private static func hexadecimal(_ bits: UInt64) -> String {
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func node(_ transaction: ChangeSet, _ deletions: [String: Node]) -> Node {
        func name(_ record: PersistentIdentifier) -> String { "\(record.entityName)/\(record.sequenceNumber ?? 0)" }
        return .object([
            "number": .string("\(transaction.commit?.number ?? 0)"),
            "author": transaction.author.map { .string($0) } ?? .null,
            "process": .string(transaction.commit?.process ?? ""), "erasure": .bool(transaction.isErasure),
            "time": .string(
                hexadecimal((transaction.commit?.timestamp.timeIntervalSinceReferenceDate ?? 0).bitPattern)),
            "inserted": .array(transaction.inserted.records.map(name).sorted().map { .string($0) }),
            "deleted": .object(
                Dictionary(
                    uniqueKeysWithValues: transaction.deleted.map {
                        (name($0.record), deletions[name($0.record)] ?? .null)
                    })),
            "updated": .object(
                Dictionary(
                    uniqueKeysWithValues: transaction.updated.map {
                        (name($0.record), .array($0.properties.sorted().map { .string($0) }))
                    })),
        ])
    }

    private static func node(_ value: StoredValue) -> Node {
        func tagged(_ kind: String, _ content: Node...) -> Node { .array([.string(kind)] + content) }
        func number<T: BinaryInteger>(_ value: T) -> Node { .string("\(value)") }
        func reference(_ record: PersistentIdentifier) -> [Node] {
            [.string(record.entityName), number(record.sequenceNumber ?? 0)]
        }
        switch value {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .integer(let value): return tagged("integer", number(value))
        case .unsigned(let value): return tagged("unsigned", number(value))
        case .float(let value): return tagged("float", number(value.bitPattern))
        case .double(let value): return tagged("double", number(value.bitPattern))
        case .decimal(let value): return tagged("decimal", .string(value.isNaN ? "NaN" : value.description))
        case .string(let value): return tagged("string", .string(value))
        case .data(let value): return tagged("data", .string(value.map { String(format: "%02x", $0) }.joined()))
        case .date(let value): return tagged("date", number(value.timeIntervalSinceReferenceDate.bitPattern))
        case .uuid(let value): return tagged("uuid", .string(value.uuidString.lowercased()))
        case .url(let value):
            let base = value.baseURL.map { [Node.string($0.absoluteString)] } ?? []
            return .array([.string("url"), .string(value.relativeString)] + base)
        case .identifier(let record): return .array([.string("reference")] + reference(record))
        case .identifiers(let records):
            let ascending = records.sorted { ($0.sequenceNumber ?? 0) < ($1.sequenceNumber ?? 0) }
            return .array([.string("references")] + ascending.map { .array(reference($0)) })
        case .array(let values): return .array([.string("array")] + values.map { node($0) })
        case .object(let members):
            let ordered = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            return .array([.string("object")] + ordered.map { .array([.string($0.key), node($0.value)]) })
        }
    }
}

extension RecordLayout.Slot {
    fileprivate var isStored: Bool {
        role != .toManyDerived && property.attribute?.options.contains(.ephemeral) != true
    }
}
