#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import PackageTestSupport
import Synchronization
import Testing

/// What a later schema has no place for is counted and told, and a copy beside the file has it.
@Suite struct SchemaLossTests {
    private static func attribute(
        _ name: String, _ kind: StorageKind, was original: String? = nil, isOptional: Bool = true,
        default value: StoredValue? = nil
    ) -> StoredProperty {
        StoredProperty(
            name: name, originalName: original, isOptional: isOptional,
            content: .attribute(StoredAttribute(kind: kind, defaultValue: value)))
    }

    private static func relationship(_ name: String, _ destination: String, isToMany: Bool) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: !isToMany,
            content: .relationship(StoredRelationship(destination: destination, isToMany: isToMany)))
    }

    private let second = Schema.Version(2, 0, 0)

    private func copies(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path(percentEncoded: false))
            .filter { $0.contains("before") }.sorted()
    }

    /// The values went without a word.
    @Test func valuesOfAPropertyThatGoesAreCountedToldAndCopied() throws {
        let folder = try TemporaryFolder()
        let wide = [
            StoredEntity(
                name: "Item",
                properties: [
                    Self.attribute("name", .string), Self.attribute("size", .int64),
                    Self.attribute("colour", .string, isOptional: false, default: .string("r\u{e9}d")),
                ])
        ]
        let store = try SQLiteStore.open(folder.path(), wide)
        try store.insert(
            "Item", ["name": .string("a"), "size": .integer(1), "colour": .string("r\u{e9}d")],
            ["name": .string("b"), "colour": .string("blue")],
            ["name": .string("c"), "size": .integer(3), "colour": .string("re\u{301}d")])
        try store.close()
        let narrow = [entity("Item", [("name", .string)])]
        // The same text in other bytes is another value.
        let lost = [
            SchemaLoss.Property(entity: "Item", name: "colour", values: 2),
            SchemaLoss.Property(entity: "Item", name: "size", values: 2),
        ]
        let reader = try SQLiteStore.open(folder.path(), narrow, version: second) {
            $0 = $0.readOnly()
        }
        #expect(reader.schemaLoss?.properties == lost)
        try reader.close()
        #expect(try copies(folder) == [])
        let later = try SQLiteStore.open(folder.path(), narrow, version: second)
        #expect(later.schemaLoss?.properties == lost && later.schemaLoss?.opened == second)
        let told = Mutex<[StoreEvent]>([])
        for _ in 0..<2 { later.reportEvents { event in told.withLock { $0.append(event) } } }
        let copy = folder.path("store.sqlite.before-migration-1")
        guard case .schemaLoss(_, let loss, copy)? = told.withLock({ $0.first }), told.withLock({ $0.count }) == 1
        else {
            Issue.record("told: \(told.withLock { $0 })")
            return
        }
        #expect(loss == later.schemaLoss)
        try later.close()
        #expect(try SQLiteStore.open(folder.path(), narrow, version: second).schemaLoss == nil)
        #expect(try copies(folder) == ["store.sqlite.before-migration-1"])
        let kept = try SQLiteStore.open(copy, wide) { $0 = $0.readOnly() }
        #expect(try kept.values("Item", "size") == [.integer(1), .null, .integer(3)])
    }

    /// A version between was left out, and the values of what it had renamed were lost.
    @Test func whatMayBeAnotherNameOfWhatGoesIsRefused() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [entity("Item", [("a", .string)])])
        try store.insert("Item", ["a": .string("kept")])
        try store.close()
        let renamed = [StoredEntity(name: "Item", properties: [Self.attribute("c", .string, was: "b")])]
        let error = #expect(throws: MigrationError.self) {
            try SQLiteStore.open(folder.path(), renamed, version: second)
        }
        guard case .unknownOrigin(_, "Item.c", "b", ["Item.a"])? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let same = try SQLiteStore.open(folder.path(), [entity("Item", [("a", .string)])])
        #expect(try same.values("Item", "a") == [.string("kept")])
        #expect(try copies(folder) == [])
    }

    @Test func aChangeThatIsRefusedLeavesNoCopy() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [entity("Item", [("name", .string), ("size", .int64)])])
        try store.insert("Item", ["size": .integer(1)])
        try store.close()
        let strict = [
            StoredEntity(
                name: "Item",
                properties: [Self.attribute("name", .string), Self.attribute("code", .int64, isOptional: false)])
        ]
        let error = #expect(throws: SQLiteError.self) { try SQLiteStore.open(folder.path(), strict, version: second) }
        #expect(error?.description.contains("Item.code needs a value, and 1 record has none") == true)
        #expect(try copies(folder) == [])
    }

    /// References to records of an entity that went led to damaged values.
    @Test func relationshipsLeadToNothingThatGoes() throws {
        let folder = try TemporaryFolder()
        let (base, gone) = (
            StoredEntity(name: "Base", properties: [Self.relationship("next", "Base", isToMany: false)]),
            StoredEntity(name: "Gone", superentity: "Base", properties: [])
        )
        let owner = StoredEntity(
            name: "Owner",
            properties: [
                Self.relationship("one", "Base", isToMany: false), Self.relationship("many", "Base", isToMany: true),
                Self.relationship("others", "Base", isToMany: true),
            ])
        let store = try SQLiteStore.open(folder.path(), [base, gone, owner])
        let kept = try store.insert("Base", [:])[0]
        let lost = try store.insert("Gone", ["next": .identifier(kept)])[0]
        try store.insert(
            "Owner", ["one": .identifier(lost), "many": .identifiers([kept, lost]), "others": .identifiers([kept])],
            ["one": .identifier(kept), "many": .identifiers([kept])])
        try store.close()
        let smaller = StoredEntity(name: "Owner", properties: Array(owner.properties.prefix(2)))
        let later = try SQLiteStore.open(folder.path(), [base, smaller], version: second)
        #expect(later.schemaLoss?.entities == [.init(name: "Gone", records: 1)])
        #expect(
            later.schemaLoss?.properties == [
                .init(entity: "Owner", name: "many", values: 1), .init(entity: "Owner", name: "one", values: 1),
                .init(entity: "Owner", name: "others", values: 1),
            ])
        #expect(try later.values("Owner", "one") == [.null, .identifier(kept)])
        let lists = try later.records(StoreQuery("Owner", prefetch: ["many"])).map { $0[property: "many"] }
        #expect(lists == [.identifiers([kept]), .identifiers([kept])])
        #expect(try later.configuration.verifyStore().problems == [])
        try later.close()
        // Nothing that went keeps a record from being deleted.
        let last = try SQLiteStore.open(folder.path(), [base], version: Schema.Version(3, 0, 0))
        _ = try last.save(
            DataStoreSaveChangesRequest(deleted: [last.snapshot("Base", [:], of: kept)], editingState: EditingState()))
        #expect(try last.records(StoreQuery("Base")).isEmpty)
    }

    /// A reader was refused, since the place of what it does not read had another name.
    @Test func aReaderNeedNotKnowARelationship() throws {
        let folder = try TemporaryFolder()
        let item = StoredEntity(name: "Item", properties: [Self.attribute("name", .string)])
        let box = StoredEntity(
            name: "Box",
            properties: [
                Self.attribute("name", .string), Self.relationship("first", "Item", isToMany: false),
                Self.relationship("items", "Item", isToMany: true),
            ])
        let store = try SQLiteStore.open(folder.path(), [item, box])
        let record = try store.insert("Item", ["name": .string("a")])[0]
        try store.insert(
            "Box", ["name": .string("b"), "first": .identifier(record), "items": .identifiers([record])],
            ["name": .string("c")])
        try store.close()
        let smaller = StoredEntity(name: "Box", properties: Array(box.properties.prefix(1)))
        let reader = try SQLiteStore.open(folder.path(), [item, smaller]) { $0 = $0.readOnly() }
        #expect(
            reader.schemaLoss?.properties == [
                .init(entity: "Box", name: "first", values: 1), .init(entity: "Box", name: "items", values: 1),
            ])
        #expect(try reader.values("Box", "name") == [.string("b"), .string("c")])
        #expect(throws: SQLiteError.self) {
            try SQLiteStore.open(folder.path(), [item, box, entity("New", [])]) { $0 = $0.readOnly() }
        }
    }

    /// The values stayed in the column of the entity that had the property before.
    @Test func aPropertyThatMovesInTheHierarchyIsRefused() throws {
        let folder = try TemporaryFolder()
        func entities(_ top: [StoredProperty], _ sub: [StoredProperty]) -> [StoredEntity] {
            [
                StoredEntity(name: "Base", properties: top),
                StoredEntity(name: "Sub", superentity: "Base", properties: sub),
            ]
        }
        let size = Self.attribute("size", .int64)
        let store = try SQLiteStore.open(folder.path(), entities([], [size]))
        try store.insert("Sub", ["size": .integer(1)])
        try store.close()
        let error = #expect(throws: SQLiteError.self) {
            try SQLiteStore.open(folder.path(), entities([size], []), version: second)
        }
        #expect(error?.description.contains("Base.size was a property of Sub") == true)
    }
}
#endif
