import Foundation
import MortiseCore
import PackageTestSupport
import Testing

/// What a store leaves to a `SnapshotTable` is done right: identifiers, relationships, all or nothing, text and back.
@Suite struct SnapshotTableTests {
    private typealias Request = DataStoreSaveChangesRequest<DefaultSnapshot>

    /// Shelves with books on them; a guide is a book; books name others like them, without an inverse.
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Shelf",
            properties: [
                StoredProperty(name: "label", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "books", isOptional: false,
                    content: .relationship(StoredRelationship(destination: "Book", isToMany: true, inverse: "shelf"))),
            ]),
        StoredEntity(
            name: "Book",
            properties: [
                StoredProperty(name: "title", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(name: "pages", isOptional: true, content: .attribute(StoredAttribute(kind: .int64))),
                StoredProperty(
                    name: "shelf", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Shelf", isToMany: false, inverse: "books"))),
                StoredProperty(
                    name: "alike", isOptional: false,
                    content: .relationship(StoredRelationship(destination: "Book", isToMany: true))),
            ]),
        StoredEntity(
            name: "Guide", superentity: "Book",
            properties: [
                StoredProperty(
                    name: "region", isOptional: false,
                    content: .attribute(StoredAttribute(kind: .string, defaultValue: .string("anywhere"))))
            ]),
    ])
    private static let layouts = schema.recordLayouts()

    private static func temporary(_ entity: String, _ number: UInt64) -> PersistentIdentifier {
        .numbered(number, storeIdentifier: "temporary", entityName: entity)
    }

    private static func snapshot(
        _ identifier: PersistentIdentifier, _ values: StoredValue...
    ) throws -> DefaultSnapshot {
        DefaultSnapshot(
            persistentIdentifier: identifier, layout: try #require(layouts[identifier.entityName]),
            values: ContiguousArray(values))
    }

    /// A shelf, two books on it of which the first is like the second, and a guide.
    private static func filled() throws -> SnapshotTable {
        var table = SnapshotTable(schema, storeIdentifier: "S")
        let (shelf, one, two) = (temporary("Shelf", 1), temporary("Book", 2), temporary("Book", 3))
        let result = try table.apply(
            Request(
                inserted: [
                    snapshot(shelf, .string("top"), .identifiers([one])),
                    snapshot(one, .string("Emma"), .integer(474), .identifier(shelf), .identifiers([two])),
                    snapshot(two, .string("Wal, \"den\""), .null, .identifier(shelf), .identifiers([])),
                    snapshot(
                        temporary("Guide", 4), .string("Alps"), .integer(90), .null, .identifiers([one, two]),
                        .string("")),
                ], editingState: EditingState()))
        #expect(result.remappedIdentifiers[one] == permanent("Book", 2))
        #expect(result.remappedIdentifiers.count == 4)
        return table
    }

    private static func permanent(_ entity: String, _ number: UInt64) -> PersistentIdentifier {
        .numbered(number, storeIdentifier: "S", entityName: entity)
    }

    private func titles(_ table: SnapshotTable, _ entity: String = "Book") -> [StoredValue] {
        table.snapshots(of: entity).map { $0[property: "title"] ?? .null }
    }

    @Test func newRecordsGetNumbersWhereverTheyAreMeant() throws {
        let table = try Self.filled()
        let books = table.snapshots(of: "Book")
        #expect(books.map(\.persistentIdentifier.sequenceNumber) == [2, 3, 4])
        #expect(books[0][property: "shelf"] == .identifier(Self.permanent("Shelf", 1)))
        #expect(books[2][property: "alike"] == .identifiers([Self.permanent("Book", 2), Self.permanent("Book", 3)]))
        #expect(table.snapshots(of: "Book", includingSubentities: false).count == 2)
        #expect(table.count(of: "Book") == 3)
        #expect(table.nextNumber == 5)
    }

    @Test func sidesThatFollowComeFromTheOthers() throws {
        let shelf = try #require(Self.filled().snapshots(of: "Shelf").first)
        #expect(shelf[property: "books"] == .identifiers([Self.permanent("Book", 2), Self.permanent("Book", 3)]))
    }

    @Test func deletedRecordsAreReferredToNoMore() throws {
        var table = try Self.filled()
        let gone = try #require(table[Self.permanent("Book", 3)])
        _ = try table.apply(Request(deleted: [gone], editingState: EditingState()))
        #expect(titles(table) == [.string("Emma"), .string("Alps")])
        #expect(table.snapshots(of: "Book")[1][property: "alike"] == .identifiers([Self.permanent("Book", 2)]))
        #expect(table[gone.persistentIdentifier] == nil)
        #expect(table.nextNumber == 5)
    }

    /// Bug: the reference was cleared, and the letter could not be read again.
    @Test func aRecordToWhichAnotherHasToReferIsNotDeleted() throws {
        let schema = StoredSchema(entities: [
            StoredEntity(name: "Stamp", properties: []),
            StoredEntity(
                name: "Letter",
                properties: [
                    StoredProperty(
                        name: "stamp", isOptional: false,
                        content: .relationship(StoredRelationship(destination: "Stamp", isToMany: false)))
                ]),
        ])
        let layouts = schema.recordLayouts()
        func snapshot(_ record: PersistentIdentifier, _ values: StoredValue...) throws -> DefaultSnapshot {
            DefaultSnapshot(
                persistentIdentifier: record, layout: try #require(layouts[record.entityName]),
                values: ContiguousArray(values))
        }
        var table = SnapshotTable(schema, storeIdentifier: "S")
        let (first, second) = (Self.temporary("Stamp", 1), Self.temporary("Stamp", 2))
        let letter = Self.temporary("Letter", 3)
        _ = try table.apply(
            Request(
                inserted: [snapshot(first), snapshot(second), snapshot(letter, .identifier(first))],
                editingState: EditingState()))
        let (one, two) = (Self.permanent("Stamp", 1), Self.permanent("Stamp", 2))
        let sent = Self.permanent("Letter", 3)
        let before = table.texts.map { Array($0.rows) }
        #expect(throws: SnapshotTableError.isRequired(one, by: sent, property: "stamp")) {
            try table.apply(Request(deleted: [snapshot(two), snapshot(one)], editingState: EditingState()))
        }
        #expect(table.texts.map { Array($0.rows) } == before)
        // One save may give the letter another stamp and delete the old one, or delete both.
        var both = table
        _ = try both.apply(
            Request(deleted: [snapshot(one), snapshot(sent, .identifier(one))], editingState: EditingState()))
        #expect(both[sent] == nil && both[one] == nil)
        _ = try table.apply(
            Request(
                updated: [snapshot(sent, .identifier(two))], deleted: [snapshot(one)], editingState: EditingState(),
                changedSlots: [SlotSet([0])]))
        #expect(table[sent]?.values == [.identifier(two)])
        // Nor may one refer to what is gone already, or goes with the same save.
        #expect(throws: SnapshotTableError.noSuchRecord(one)) {
            try table.apply(
                Request(
                    updated: [snapshot(sent, .identifier(one))], editingState: EditingState(),
                    changedSlots: [SlotSet([0])]))
        }
        #expect(throws: SnapshotTableError.noSuchRecord(one)) {
            try table.apply(
                Request(inserted: [snapshot(letter, .identifier(one))], editingState: EditingState()))
        }
        var emptied = table
        _ = try emptied.apply(Request(deleted: [snapshot(sent, .identifier(two))], editingState: EditingState()))
        #expect(throws: SnapshotTableError.isRequired(two, by: letter, property: "stamp")) {
            try emptied.apply(
                Request(
                    inserted: [snapshot(letter, .identifier(two))], deleted: [snapshot(two)],
                    editingState: EditingState()))
        }
        // What a snapshot has in a slot that did not change is not what is stored.
        #expect(throws: SnapshotTableError.isRequired(two, by: sent, property: "stamp")) {
            try table.apply(
                Request(
                    updated: [snapshot(sent, .null)], deleted: [snapshot(two)], editingState: EditingState(),
                    changedSlots: [SlotSet()]))
        }
    }

    @Test func anUpdateTouchesTheSlotsItNames() throws {
        var table = try Self.filled()
        let new = try Self.snapshot(Self.permanent("Book", 2), .null, .integer(500), .null, .null)
        _ = try table.apply(Request(updated: [new], editingState: EditingState(), changedSlots: [SlotSet([1])]))
        let emma = try #require(table[Self.permanent("Book", 2)])
        #expect(emma[property: "title"] == .string("Emma"))
        #expect(emma[property: "pages"] == .integer(500))
        #expect(emma[property: "shelf"] == .identifier(Self.permanent("Shelf", 1)))
    }

    @Test func whatCannotBeDoneChangesNothing() throws {
        var table = try Self.filled()
        let before = table.texts.map { ($0.name, Array($0.rows)) }
        let missing = try Self.snapshot(Self.permanent("Book", 99), .string("x"))
        let new = try Self.snapshot(Self.temporary("Book", 1), .string("new"))
        for request in [
            Request(inserted: [new], updated: [missing], editingState: EditingState()),
            Request(inserted: [new], deleted: [missing], editingState: EditingState()),
        ] {
            #expect(throws: SnapshotTableError.noSuchRecord(Self.permanent("Book", 99))) {
                try table.apply(request)
            }
        }
        let unknown = DefaultSnapshot(
            persistentIdentifier: Self.temporary("Disc", 1), layout: .empty("Disc"), values: [])
        #expect(throws: SnapshotTableError.unknownEntity("Disc")) {
            try table.apply(Request(inserted: [new, unknown], editingState: EditingState()))
        }
        #expect(table.texts.map(\.name) == before.map(\.0))
        #expect(table.texts.map { Array($0.rows) } == before.map(\.1))
    }

    @Test func numbersDoNotOverflow() throws {
        var table = SnapshotTable(Self.schema, storeIdentifier: "S", nextNumber: .max)
        let new = try Self.snapshot(Self.temporary("Book", 1), .string("new"))
        #expect(throws: SnapshotTableError.numbersExhausted) {
            try table.apply(Request(inserted: [new], editingState: EditingState()))
        }
        #expect(throws: SnapshotTableError.numbersExhausted) {
            try table.load(texts: [["record", "title"], ["18446744073709551615", "x"]], of: "Book")
        }
        #expect(table.count(of: "Book") == 0)
    }

    @Test func textsReadAsTheyLookAndComeBack() throws {
        let table = try Self.filled()
        let texts = Dictionary(uniqueKeysWithValues: table.texts.map { ($0.name, Array($0.rows)) })
        let schema = try #require(texts["_store"]?[1].last ?? nil)
        #expect(
            texts == [
                "_store": [
                    ["identifier", "next", "schema"], ["S", "5", schema],
                    ["Book", "title:string pages:int64 shelf:Shelf alike:[Book]"],
                    ["Guide", "title:string pages:int64 shelf:Shelf alike:[Book] region:string"],
                    ["Shelf", "label:string"],
                ],
                "Shelf": [["record", "label"], ["1", "top"]],
                "Book": [
                    ["record", "title", "pages", "shelf", "alike"], ["2", "Emma", "474", "Shelf/1", "Book/3"],
                    ["3", "Wal, \"den\"", nil, "Shelf/1", nil],
                ],
                "Guide": [
                    ["record", "title", "pages", "shelf", "alike", "region"],
                    ["4", "Alps", "90", nil, "Book/2 Book/3", ""],
                ],
            ])
        #expect(try JSONDecoder().decode(StoredSchema.self, from: Data(schema.utf8)) == Self.schema)
        #expect(try SnapshotTable.storedSchema(among: texts.keys) { texts[$0] ?? [] } == Self.schema)
        let back = try SnapshotTable(Self.schema, texts: texts)
        #expect(back.storeIdentifier == "S")
        #expect(back.nextNumber == 5)
        for entity in Self.schema.entities.map(\.name) {
            #expect(Array(back.texts(of: entity)) == Array(table.texts(of: entity)))
            #expect(back.snapshots(of: entity).map(\.values) == table.snapshots(of: entity).map(\.values))
        }
    }

    @Test func sheetsMayBeSortedAndHaveOtherColumns() throws {
        var table = SnapshotTable(Self.schema, storeIdentifier: "S")
        try table.load(texts: [["record", "pages", "title"], ["9", nil, "b"], ["7", "1", "a"]], of: "Guide")
        #expect(titles(table) == [.string("a"), .string("b")])
        #expect(table.snapshots(of: "Guide")[0][property: "region"] == .string("anywhere"))
        #expect(table.nextNumber == 10)
    }

    @Test(
        arguments: [
            ([["record", "title"], ["x", "a"]], .malformedRow(entity: "Book", row: 2, cells: 2, expected: 2)),
            ([["record", "title"], [nil, "a"]], .malformedRow(entity: "Book", row: 2, cells: 2, expected: 2)),
            ([["record", "title"], ["1"]], .malformedRow(entity: "Book", row: 2, cells: 1, expected: 2)),
            ([["record", "title"], []], .malformedRow(entity: "Book", row: 2, cells: 0, expected: 2)),
            ([["record", "pages"]], .missingColumn(entity: "Book", property: "title")),
            ([["record", "title", "tilte"]], .unknownColumn(entity: "Book", column: "tilte")),
            ([["record", "title", "title"]], .unknownColumn(entity: "Book", column: "title")),
            ([["record", "title"], ["1", nil]], .doesNotFit(entity: "Book", property: "title", row: 2, found: nil)),
            (
                [["record", "title", "pages"], ["1", "a", "many"]],
                .doesNotFit(entity: "Book", property: "pages", row: 2, found: "many")
            ),
            (
                [["record", "title", "shelf"], ["1", "a", "Shelf/1 Shelf/2"]],
                .doesNotFit(entity: "Book", property: "shelf", row: 2, found: "Shelf/1 Shelf/2")
            ),
            (
                [["record", "title"], ["1", "a"], ["1", "b"]],
                .repeatedRecord(permanent("Book", 1))
            ),
        ] as [([[String?]], SnapshotTableError)])
    func whatDoesNotFitIsNamedWithItsRow(_ rows: [[String?]], _ error: SnapshotTableError) throws {
        var table = try Self.filled()
        let before = Array(table.texts(of: "Book"))
        var fresh = SnapshotTable(Self.schema, storeIdentifier: "S")
        #expect(throws: error) { try fresh.load(texts: rows, of: "Book") }
        #expect(fresh.count(of: "Book") == 0)
        #expect(throws: SnapshotTableError.self) {
            try table.load(texts: [["record", "title"], ["2", "x"]], of: "Book")
        }
        #expect(Array(table.texts(of: "Book")) == before)
        #expect("\(error)".contains("Book"))
    }

    @Test func tablesOfOtherStoresAreRefused() throws {
        #expect(throws: SnapshotTableError.unreadable(source: "_store", row: 2)) {
            try SnapshotTable(Self.schema, texts: ["Book": [["record", "title"]]])
        }
        #expect(try SnapshotTable(Self.schema, texts: [:]).count(of: "Book") == 0)
    }

    @Test func aPropertyOfAnotherKindIsRefused() {
        let about = [["identifier", "next"], ["S", "2"], ["Book", "title:string pages:string"]]
        let error = SnapshotTableError.changedKind(entity: "Book", property: "pages", written: "string", asked: "int64")
        #expect(throws: error) {
            try SnapshotTable(Self.schema, texts: ["_store": about, "Book": [["record", "title", "pages"]]])
        }
    }

    @Test func renamedPropertiesAreFoundOnceByTheirOriginalNames() throws {
        func schema(_ names: [(String, String)]) -> StoredSchema {
            StoredSchema(entities: [
                StoredEntity(
                    name: "Note",
                    properties: names.map { name, original in
                        StoredProperty(
                            name: name, originalName: original, isOptional: true,
                            content: .attribute(StoredAttribute(kind: .string)))
                    })
            ])
        }
        func reread(_ table: SnapshotTable, as schema: StoredSchema) throws -> SnapshotTable {
            try SnapshotTable(
                schema, texts: Dictionary(uniqueKeysWithValues: table.texts.map { ($0.name, Array($0.rows)) }))
        }
        var table = SnapshotTable(schema([("a", "a"), ("b", "b")]), storeIdentifier: "S")
        try table.load(texts: [["record", "a", "b"], ["1", "was a", "was b"]], of: "Note")
        let swapped = schema([("a", "b"), ("b", "a")])
        for _ in 0..<2 {
            table = try reread(table, as: swapped)
            #expect(table.snapshots(of: "Note")[0][property: "a"] == .string("was b"))
            #expect(table.snapshots(of: "Note")[0][property: "b"] == .string("was a"))
        }
        let reused = try reread(table, as: schema([("c", "a"), ("a", "b"), ("b", "b")]))
        #expect(reused.snapshots(of: "Note")[0][property: "a"] == .string("was b"))
        #expect(throws: SnapshotTableError.unknownColumn(entity: "Note", column: "b")) {
            try reread(table, as: schema([("a", "b")]))
        }
        let about = [["identifier", "next"], ["S", "2"], ["Note", "= a:string= :x=y"]]
        #expect(throws: Never.self) {
            try SnapshotTable(swapped, texts: ["_store": about, "Note": [["record", "a"]]])
        }
    }

    @Test func tablesOfUnknownEntitiesStay() throws {
        let disc = [["record", "title"], ["1", nil]]
        let about = [["identifier", "next"], ["S", "2"], ["Disc", "title:string"]]
        let table = try SnapshotTable(Self.schema, texts: ["_store": about, "Disc": disc])
        var texts = Dictionary(uniqueKeysWithValues: table.texts.map { ($0.name, Array($0.rows)) })
        texts["_store"] = texts["_store"]?.enumerated().map { $0.offset < 2 ? Array($0.element.prefix(2)) : $0.element }
        #expect(texts == ["_store": about, "Disc": disc])
    }

    @Test func theSchemaNamesEntitiesThatAreOnlyKept() throws {
        func texts(_ table: SnapshotTable) -> [String: [[String?]]] {
            Dictionary(uniqueKeysWithValues: table.texts.map { ($0.name, Array($0.rows)) })
        }
        let whole = try Self.filled()
        let part = StoredSchema(
            version: Self.schema.version, entities: Self.schema.entities.filter { $0.name == "Shelf" })
        let reduced = texts(try SnapshotTable(part, texts: texts(whole)))
        let stored = try SnapshotTable.storedSchema(among: reduced.keys) { reduced[$0] ?? [] }
        #expect(Set(stored?.entities.map(\.name) ?? []) == Set(Self.schema.entities.map(\.name)))
        let old: [String: [[String?]]] = ["_store": [["identifier", "next"], ["S", "2"]]]
        #expect(try SnapshotTable.storedSchema(among: old.keys) { old[$0] ?? [] } == nil)
        let damaged: [String: [[String?]]] = ["_store": [["identifier", "next", "schema"], ["S", "2", "{"]]]
        #expect(throws: SnapshotTableError.unreadable(source: "_store", row: 2)) {
            try SnapshotTable.storedSchema(among: damaged.keys) { damaged[$0] ?? [] }
        }
    }

    @Test func recordsOfAnotherStoreAreRestoredInAnEmptyTableAlone() throws {
        let whole = try Self.filled()
        var fresh = SnapshotTable(Self.schema)
        let books = whole.snapshots(of: "Book")
        try fresh.restore(Array(books.prefix(1)), ofStore: "S", nextNumber: 9)
        try fresh.restore(Array(books.dropFirst()), ofStore: "S", nextNumber: 9)
        #expect(fresh.storeIdentifier == "S" && fresh.nextNumber == 9)
        #expect(fresh.snapshots(of: "Book").map(\.persistentIdentifier) == books.map(\.persistentIdentifier))
        #expect(throws: SnapshotTableError.holdsRecords(ofStore: "S")) {
            try fresh.restore([], ofStore: "T", nextNumber: 1)
        }
        #expect(throws: SnapshotTableError.self) { try fresh.restore(books, ofStore: "S", nextNumber: 20) }
        #expect(fresh.nextNumber == 9)
    }

    @Test func changesTakeNoLookAtEveryRecord() throws {
        var table = SnapshotTable(Self.schema, storeIdentifier: "S")
        let count: UInt64 = 100_000
        try table.load(
            (1...count).map {
                try Self.snapshot(
                    Self.permanent("Book", $0), .string("b"), .integer(Int64($0)), .null, .identifiers([]))
            }, of: "Book")
        let clock = ThreadClock()
        let changes = try clock.measure {
            for number in 1...UInt64(200) {
                let new = try Self.snapshot(Self.permanent("Book", number * 400), .null, .integer(-1), .null, .null)
                _ = try table.apply(Request(updated: [new], editingState: EditingState(), changedSlots: [SlotSet([1])]))
            }
        }
        let look = clock.measure {
            #expect(table.snapshots(of: "Book") { $0.values[1] == .integer(-1) }.count == 200)
        }
        // Looking at every record for each change would take 200 looks.
        #expect(changes < look * 20, "200 changes took \(changes), one look at all records \(look)")
    }
}
