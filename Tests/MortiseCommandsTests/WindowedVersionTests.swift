#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import MortiseInMemory
import Synchronization
import PackageTestSupport
import Testing

/// Going through a store without versions keeps a window of its records.
@Suite struct WindowedVersionTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Note",
            properties: [
                StoredProperty(name: "text", isOptional: false, content: .attribute(StoredAttribute(kind: .string))),
                StoredProperty(
                    name: "source", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Note", isToMany: false))),
                StoredProperty(
                    name: "others", isOptional: false,
                    content: .relationship(StoredRelationship(destination: "Note", isToMany: true))),
            ]),
        StoredEntity(
            name: "Page",
            properties: [
                StoredProperty(
                    name: "note", isOptional: true,
                    content: .relationship(StoredRelationship(destination: "Note", isToMany: false)))
            ]),
    ])

    private func open(_ records: QueriedRecords) throws -> OpenStore {
        try OpenStore(QueriedConfiguration(records), schema: Self.schema, name: "queried")
    }

    /// Notes that lead to earlier and later ones, with a page each.
    private func filled(_ count: Int, defersLists: Bool) throws -> QueriedRecords {
        let records = try QueriedRecords(Schema(stored: Self.schema), defersLists: defersLists)
        let store = try open(records)
        let (note, page) = (try #require(store.layouts["Note"]), try #require(store.layouts["Page"]))
        let notes = (0..<count).map { _ in PersistentIdentifier.temporary(entityName: "Note") }
        var inserted: [DefaultSnapshot] = []
        for (number, identifier) in notes.enumerated() {
            let others = [number * 7 % count, number * 13 % count].map { notes[$0] }
            inserted.append(
                DefaultSnapshot(
                    persistentIdentifier: identifier, layout: note,
                    values: [
                        .string("note \(number)"), .identifier(notes[(number + 1_500) % count]),
                        .identifiers(Set(others).sorted()),
                    ]))
            inserted.append(
                DefaultSnapshot(
                    persistentIdentifier: .temporary(entityName: "Page"), layout: page,
                    values: [.identifier(identifier)]))
        }
        _ = try store.save(inserted: inserted)
        _ = records.takeQueries()
        return records
    }

    private func copy(_ source: OpenStore) throws -> OpenStore {
        let target = try OpenStore(InMemoryConfiguration("target"), schema: Self.schema, name: "target")
        var copy = try StoreCopy(
            from: source, to: target, limits: StoreCopy.Limits(records: 300), interruption: nil,
            progress: ProgressLine("copied", of: try source.count(), .never))
        try copy.run(isResuming: false)
        return target
    }

    @Test func aCopyReadsAThousandRecordsAtATime() throws {
        let records = try filled(2_500, defersLists: true)
        let source = try open(records)
        let target = try copy(source)
        let asked = records.takeQueries().filter { $0.query.purpose == .rows }
        #expect(asked.allSatisfy { $0.scanned <= 1_000 } && asked.count <= 20)
        let content = try ContentComparison(
            try source.walkedVersion(), try target.walkedVersion(), Self.schema, source.layouts)
        #expect(content.isEqual && content.compared == 5_000, "\(content.differences)")
        // The same as when everything is read at once.
        let whole = try ContentComparison(try source.version(), try target.version(), Self.schema, source.layouts)
        #expect(whole.isEqual && whole.compared == 5_000)
    }

    @Test func aStoreWithoutReadConsistencyIsReadAtOnce() throws {
        let records = try filled(300, defersLists: false)
        let target = try copy(try open(records))
        #expect(records.takeQueries().map(\.scanned) == [300, 300])
        #expect(try target.count() == 600)
    }

    @Test func whatCannotBeReadIsFoundBeforeAnythingIsReplaced() throws {
        let records = try filled(2_500, defersLists: true)
        let source = try open(records)
        try source.readThrough()
        source.refresh()
        records.failsOnlyFor.withLock { $0 = { $0.purpose == .rows && $0.entity == "Page" } }
        records.failure.withLock { $0 = CocoaError(.fileReadUnknown) }
        #expect(throws: CocoaError.self) { try source.readThrough() }
    }

    @Test func aRecordThatGoesMeanwhileEndsTheCopy() throws {
        let records = try filled(2_500, defersLists: true)
        records.forgetsStates.withLock { $0 = true }
        let source = try open(records)
        _ = try source.walkedVersion()
        let other = try open(records)
        let rows = try #require(try other.version().rows(ofEntity: "Page"))
        let gone = rows.identifier(ofRow: 2_345)
        records.state.withLock { state in
            let record = state.table.snapshots(of: "Page").filter { $0.persistentIdentifier == gone }
            _ = try? state.table.apply(
                DataStoreSaveChangesRequest(deleted: record, editingState: EditingState()))
        }
        #expect(throws: ToolError.changedMeanwhile(record: "\(gone)")) { try copy(source) }
    }
}
#endif
