#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import PackageTestSupport
import Synchronization
import Testing

/// A query of a store without versions reads what the store answers, and related records when they are needed.
@Suite struct AnswerVersionTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Song",
            properties: [
                StoredProperty(name: "title", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "album", isOptional: true,
                    content: .relationship(
                        StoredRelationship(destination: "Album", isToMany: false, inverse: "songs"))),
            ]),
        StoredEntity(
            name: "Album",
            properties: [
                StoredProperty(name: "name", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "songs", isOptional: false,
                    content: .relationship(
                        StoredRelationship(destination: "Song", isToMany: true, inverse: "album"))),
            ]),
    ])

    /// Albums with ten songs each.
    private func filled(albums count: Int, defersLists: Bool = true) throws -> (QueriedRecords, OpenStore) {
        let records = try QueriedRecords(Schema(stored: Self.schema), defersLists: defersLists)
        let store = try OpenStore(QueriedConfiguration(records), schema: Self.schema, name: "queried")
        let (song, album) = (try #require(store.layouts["Song"]), try #require(store.layouts["Album"]))
        var inserted: [DefaultSnapshot] = []
        for number in 0..<count {
            let identifier = PersistentIdentifier.temporary(entityName: "Album")
            let songs = (0..<10).map { place in
                DefaultSnapshot(
                    persistentIdentifier: .temporary(entityName: "Song"), layout: song,
                    values: [.string("song \(number) \(place)"), .identifier(identifier)])
            }
            inserted.append(
                DefaultSnapshot(
                    persistentIdentifier: identifier, layout: album,
                    values: [.string("album \(number)"), .identifiers(songs.map(\.persistentIdentifier).sorted())]))
            inserted += songs
        }
        _ = try store.save(inserted: inserted)
        _ = records.takeQueries()
        return (records, store)
    }

    private func values(
        _ store: OpenStore, _ entity: String, _ condition: String?, sort: String? = nil, limit: Int? = nil,
        select columns: String
    ) throws -> [[StoredValue]] {
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        let run = try StoreQueryRun(
            StoreQuery(
                entity, conjuncts: try condition.map { try text.conditions($0, entity: entity) } ?? [],
                order: try sort.map { try text.order($0, entity: entity) } ?? [], limit: limit), in: store)
        let evaluator = QueryEvaluator(reader: run.reader)
        let expressions = try RecordColumns(columns, entity: entity, store).columns.map(\.path.value)
        let values = try run.records.map { record in try expressions.map { try evaluator.sortKey($0, record) } }
        try run.version.check()
        return values
    }

    @Test func oneRecordIsReadForOneRecord() throws {
        let (records, store) = try filled(albums: 300)
        let found = try values(store, "Song", #"title == "song 250 3""#, select: "title")
        #expect(found == [[.string("song 250 3")]])
        #expect(records.takeQueries().map(\.scanned) == [1])
    }

    @Test func relatedRecordsAreReadATimeForAThousand() throws {
        let (records, store) = try filled(albums: 300)
        let found = try values(store, "Song", #"title in ["song 7 1", "song 250 3"]"#, select: "title,album.name")
        #expect(
            found == [
                [.string("song 7 1"), .string("album 7")], [.string("song 250 3"), .string("album 250")],
            ])
        #expect(records.takeQueries().map(\.scanned) == [2, 2])
        // All songs, whose albums are fewer than a thousand.
        let all = try values(store, "Song", nil, select: "album.name")
        #expect(all.count == 3_000 && all[2_995] == [.string("album 299")])
        let asked = records.takeQueries()
        #expect(asked.reduce(0) { $0 + $1.scanned } == 3_300 && asked.count <= 5, "\(asked.map(\.scanned))")
    }

    @Test func whatAConditionLeavesOutLeadsToNoReads() throws {
        let (records, store) = try filled(albums: 300)
        let found = try values(
            store, "Song", #"title beginswith "song 1" && title endswith " 9""#, sort: "-title", limit: 2,
            select: "album.name,album.songs.count")
        #expect(found == [[.string("album 199"), .integer(10)], [.string("album 198"), .integer(10)]])
        // The songs, then two albums, their lists, and what is in these besides the two songs.
        #expect(records.takeQueries().map(\.scanned) == [3_000, 2, 2, 18])
    }

    @Test(arguments: [true, false]) func listsAreReadWhereTheyWereLeftOut(_ defersLists: Bool) throws {
        let (records, store) = try filled(albums: 20, defersLists: defersLists)
        let found = try values(store, "Album", #"any songs (title == "song 4 4")"#, select: "name,songs.count")
        #expect(found == [[.string("album 4"), .integer(10)]])
        let read = records.takeQueries().reduce(0) { $0 + $1.scanned }
        #expect(read <= 20 + 20 + 200 + 1 + 10, "\(read)")
    }

    @Test func aRecordThatGoesMeanwhileIsSaid() throws {
        let (records, store) = try filled(albums: 3)
        records.forgetsStates.withLock { $0 = true }
        let run = try StoreQueryRun(StoreQuery("Album"), in: store)
        let gone = try #require(run.records.last.map { run.reader.identifier($0) })
        try records.state.withLock { state in
            let record = state.table.snapshots(of: "Album").filter { $0.persistentIdentifier == gone }
            _ = try state.table.apply(DataStoreSaveChangesRequest(deleted: record, editingState: EditingState()))
        }
        let slot = try #require(store.layouts["Album"]?.slot(named: "songs"))
        _ = run.reader.value(run.records[0], slot: slot)
        #expect(throws: ToolError.changedMeanwhile(record: "\(gone)")) { try run.version.check() }
    }

    @Test func aStateIsReadUntilItIsEnded() throws {
        let (records, store) = try filled(albums: 3)
        let run = try StoreQueryRun(StoreQuery("Song", limit: 1), in: store)
        try records.state.withLock { state in
            let albums = state.table.snapshots(of: "Album")
            _ = try state.table.apply(DataStoreSaveChangesRequest(deleted: albums, editingState: EditingState()))
        }
        let album = try #require(store.layouts["Song"]?.slot(named: "album"))
        let target = try #require(run.reader.value(run.records[0], slot: album).identifierValue)
        #expect(run.reader.record(target) != nil)
        try run.version.check()
    }

    /// A store that finds nothing by identifiers is read entity by entity, once each.
    @Test func withoutSelectionByIdentifiersAnEntityIsReadAtOnce() throws {
        let (_, store) = try filled(albums: 3)
        let song = try #require(store.layouts["Song"])
        let stored = (1...5).map { number in
            DefaultSnapshot(
                persistentIdentifier: .numbered(UInt64(number), storeIdentifier: "s", entityName: "Song"), layout: song,
                values: [.string("\(number)"), .null])
        }
        let asked = Mutex<[String]>([])
        let records = AnswerRecords(
            store.layouts,
            AnswerRecords.Reading(defersLists: false, some: { _, _ in nil }) { entity, _ in
                asked.withLock { $0.append(entity) }
                return entity == "Song" ? stored : []
            })
        #expect(try records.add([stored[3]]).map(\.row) == [0])
        #expect(records.row(of: stored[0].persistentIdentifier) == 1)
        #expect(records.row(of: stored[3].persistentIdentifier) == 0)
        #expect(
            records.row(of: .numbered(77, storeIdentifier: "s", entityName: "Song")) == nil
                && records.row(of: .numbered(1, storeIdentifier: "s", entityName: "Album")) == nil)
        #expect(asked.withLock { $0 } == ["Song", "Album"] && records.count(ofEntity: "Song") == 5)
        try records.check()
    }

    /// So are their lists, however many records there are.
    @Test func withoutSelectionByIdentifiersListsAreReadAtOnce() throws {
        let (_, store) = try filled(albums: 3)
        let album = try #require(store.layouts["Album"])
        let slot = try #require(album.slot(named: "songs"))
        let song = PersistentIdentifier.numbered(1, storeIdentifier: "s", entityName: "Song")
        func stored(_ list: StoredValue, _ numbers: ClosedRange<Int>) -> [DefaultSnapshot] {
            numbers.map { number in
                DefaultSnapshot(
                    persistentIdentifier: .numbered(UInt64(number), storeIdentifier: "s", entityName: "Album"),
                    layout: album,
                    values: ContiguousArray(album.slots.indices.map { $0 == slot ? list : .string("\(number)") }))
            }
        }
        let asked = Mutex(0)
        let records = AnswerRecords(
            store.layouts,
            AnswerRecords.Reading(defersLists: true, some: { _, _ in nil }) { _, _ in
                asked.withLock { $0 += 1 }
                return stored(.identifiers([song]), 1...2_500)
            })
        _ = try records.add(stored(.null, 1...2_501))
        #expect((0..<2_500).allSatisfy { records.value("Album", $0, slot) == .identifiers([song]) })
        #expect(asked.withLock { $0 } == 1)
        try records.check()
        #expect(records.value("Album", 2_500, slot).isNull)
        #expect(throws: ToolError.self) { try records.check() }
    }
}

extension StoredValue {
    fileprivate var identifierValue: PersistentIdentifier? {
        if case .identifier(let identifier) = self { identifier } else { nil }
    }
}
#endif
