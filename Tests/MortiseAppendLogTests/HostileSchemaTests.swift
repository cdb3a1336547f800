import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

@testable import MortiseAppendLog
import MortiseTestSupport

/// Bugs: a log took schemas that no store can have, with right checksums; and a small one whose entities inherit much took
/// minutes and gigabytes to open.
@Suite struct HostileSchemaTests {
    /// A log of a schema, as another program writes it, and of a transaction that inserts one record.
    private func log(_ schema: StoredSchema, entity: Int = 0, _ values: [UInt8]? = nil) throws -> [UInt8] {
        let header = FileHeader(kind: .log, store: UUID())
        var payload = ByteWriter()
        try payload.schema(schema, store: header.store.uuidString)
        payload.byte(payloadEnd)
        var parts: [(kind: FrameKind, payload: [UInt8])] = [(.schema, payload.bytes)]
        if let values {
            var record = ByteWriter()
            record.fixed(UInt64(0))
            record.byte(0)
            record.text("process")
            record.text("")
            record.varint(2)
            for number in [0, 0, 1, entity, 1, 1] { record.varint(number) }
            values.withUnsafeBytes { record.raw($0) }
            record.byte(payloadEnd)
            parts.append((.transaction, record.bytes))
        }
        var writer = ByteWriter()
        header.bytes.withUnsafeBytes { writer.raw($0) }
        var position = LogPosition.first
        for (number, part) in parts.enumerated() {
            var frames = ByteWriter()
            writer.zeros(Int(position.offset) - writer.count)
            position = frames.frames(
                [part], from: position, transaction: UInt64(number), synced: 0, seed: header.seed)
            frames.bytes.withUnsafeBytes { writer.raw($0) }
        }
        return writer.bytes
    }

    private func text(_ name: String, _ options: UInt16 = 0) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: true,
            content: .attribute(StoredAttribute(kind: .string, options: .init(rawValue: options))))
    }

    /// Everything that reads a log refuses it, with the file and these words.
    private func expectRefused(
        _ schema: StoredSchema, _ words: String..., at location: SourceLocation = #_sourceLocation
    ) throws {
        let disk = try makeDisk(with: try log(schema))
        var configuration = AppendLogConfiguration(path: logPath, in: disk)
        configuration.schema = Schema(stored: StoredSchema(entities: []))
        let requests: [(String, () throws -> Void)] = [
            ("open", { try AppendLogStore(configuration, migrationPlan: nil).close() }),
            ("read", { try AppendLogStore(configuration.readOnly(), migrationPlan: nil).close() }),
            ("schema", { _ = try configuration.storedSchema() }),
            ("backup", { _ = try configuration.backUpStore(to: "/data/backup") }),
            ("salvage", { _ = try AppendLogStore.salvage(logPath, to: "/data/new", in: disk) }),
            (
                "verify",
                {
                    if let problem = try AppendLogStore.verify(logPath, in: disk).problems.first { throw problem }
                }
            ),
        ]
        for (name, request) in requests {
            let error = #expect(throws: AppendLogError.self, "\(name)", sourceLocation: location) { try request() }
            #expect(error?.path == logPath, "\(name)", sourceLocation: location)
            for word in words {
                #expect("\(String(describing: error))".contains(word), "\(name)", sourceLocation: location)
            }
        }
        // A program cannot begin such a store either.
        let opening = LogOpening(logConfiguration(disk, path: "/data/begun"), path: "/data/begun", schema: schema)
        let error = #expect(throws: AppendLogError.self, sourceLocation: location) { try opening.open() }
        guard case .invalidSchema? = error?.fault else {
            Issue.record("found \(String(describing: error))", sourceLocation: location)
            return
        }
        #expect(disk.contents(at: "/data/begun") == nil, sourceLocation: location)
    }

    @Test func schemasThatContradictThemselvesAreRefused() throws {
        let a = StoredEntity(name: "A", properties: [text("x")])
        try expectRefused(
            StoredSchema(entities: [StoredEntity(name: "A", superentity: "A", properties: [text("x")])]),
            "A inherits from itself")
        try expectRefused(
            StoredSchema(entities: [
                StoredEntity(name: "A", superentity: "B", properties: []),
                StoredEntity(name: "B", superentity: "A", properties: []),
            ]), "inherits from itself")
        try expectRefused(
            StoredSchema(entities: [StoredEntity(name: "B", superentity: "Z", properties: [])]), "B inherits from Z")
        try expectRefused(
            StoredSchema(entities: [a, StoredEntity(name: "B", superentity: "A", properties: [text("x")])]),
            "B has two properties x")
        try expectRefused(
            StoredSchema(entities: [entity("A", text("x"), linkProperty("r", to: "A", inverse: "x"))]),
            "A.r names x as its inverse")
        try expectRefused(
            StoredSchema(entities: [
                entity("A", linkProperty("r", to: "B", inverse: "s")),
                entity("B", linkProperty("s", to: "B", inverse: "r")),
            ]), "B.s names r as its inverse")
        try expectRefused(
            StoredSchema(entities: [
                StoredEntity(
                    name: "A", properties: [text("x")], indices: [StoredIndex(kind: .binary, properties: ["q"])])
            ]), "A.q, which does not exist")
        try expectRefused(
            StoredSchema(entities: [StoredEntity(name: "A", properties: [text("x")], uniquenessConstraints: [["q"]])]),
            "A.q, which does not exist")
        try expectRefused(StoredSchema(entities: [entity("A", text("x", 128))]), "A.x has an option")
    }

    private func chain(_ entities: Int, properties: Int, ofFamiliesOf length: Int, links: Int = 0) -> StoredSchema {
        StoredSchema(
            entities: (0..<entities).map { number in
                let name = { "E\(String(100_000 + $0))" }
                return StoredEntity(
                    name: name(number), superentity: number % length == 0 ? nil : name(number - 1),
                    properties: (0..<properties).map { text("p\(number) \($0)") }
                        + (0..<links).map { linkProperty("r\(number) \($0)", to: name(number - number % length)) },
                    indices: [StoredIndex(kind: .binary, properties: ["p\(number) 0"])])
            })
    }

    @Test(.timeLimit(.minutes(15))) func whatEntitiesInheritIsBounded() throws {
        try expectRefused(chain(4_096, properties: 1, ofFamiliesOf: 4_096), "levels of inheritance", "the limit is 64")
        let flat = StoredSchema(
            entities: [StoredEntity(name: "A", properties: (0..<3_000).map { text("p\($0)") })]
                + (0..<999).map { StoredEntity(name: "B\($0)", superentity: "A", properties: []) })
        try expectRefused(flat, "3000000 properties in all entities", "the limit is 131072")
        let linked = StoredSchema(
            entities: [
                StoredEntity(name: "A", properties: (0..<60).map { linkProperty("r\($0)", to: "A", many: true) })
            ]
                + (0..<999).map { StoredEntity(name: "B\($0)", superentity: "A", properties: []) })
        try expectRefused(linked, "60000000 entities times relationships", "the limit is 16777216")
    }

    /// 500 entities in families of 20, each inheriting from the one before.
    @Test(.timeLimit(.minutes(15))) func aSchemaOfAReasonableSizeOpens() throws {
        let schema = chain(500, properties: 10, ofFamiliesOf: 20, links: 2)
        let world = try SchemaWorld(.log)
        let store = try #require(try world.open(schema) as? AppendLogStore)
        let last = try #require(schema.entities.last?.name)
        let width = try #require(schema.recordLayouts()[last]?.slots.count)
        #expect(width == 240)
        try store.insert([(.temporary(entityName: last), Array(repeating: .null, count: width))], schema)
        try store.close()
        #expect(try AppendLogStore.verify(world.path, in: world.disk).problems == [])
    }

    /// The layouts and families are those that each entity has by itself.
    @Test func familiesAreThoseOfEachEntity() {
        let schema = chain(12, properties: 1, ofFamiliesOf: 5)
        let all = schema.subtrees()
        for entity in schema.entities { #expect(all[entity.name] == schema.subtree(of: entity.name)) }
    }

    @Test func textsThatAreNoDecimalsAreDamage() throws {
        let schema = StoredSchema(entities: [
            StoredEntity(
                name: "A",
                properties: [
                    StoredProperty(
                        name: "x", isOptional: true, content: .attribute(StoredAttribute(kind: .decimal)))
                ])
        ])
        func value(_ text: String) -> [UInt8] {
            var writer = ByteWriter()
            writer.byte(ValueTag.decimal)
            writer.text(text)
            return writer.bytes
        }
        for text in ["0", "-0", "12", "-1.5", "0.25", "007", "NaN", String(repeating: "9", count: 38)] {
            let disk = try makeDisk(with: try log(schema, value(text)))
            #expect(try AppendLogStore.verify(logPath, in: disk).problems == [], "\(text)")
        }
        let wrong = [
            "", "-", ".", "..", "1.", ".5", "-.5", "1.5.2", "1e5", "1E5", "-NaN", "nan", "+1", " 1", "1 ", "--1", "1-",
            "0x1",
            "1,5", "\u{663}", "1\u{301}",
        ]
        for text in wrong {
            let disk = try makeDisk(with: try log(schema, value(text)))
            let problems = try AppendLogStore.verify(logPath, in: disk).problems
            #expect("\(problems)".contains("invalid decimal number"), "\(text): \(problems)")
            #expect(throws: AppendLogError.self, "\(text)") {
                var configuration = AppendLogConfiguration(path: logPath, in: disk)
                configuration.schema = Schema(stored: schema)
                try AppendLogStore(configuration, migrationPlan: nil).close()
            }
        }
    }
}
