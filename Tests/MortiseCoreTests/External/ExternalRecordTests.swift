import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseJSONFile
import Testing

@testable import MortiseEngine
import MortiseTestSupport

/// Records with external data.
@Suite struct ExternalRecordTests {
    @Test(arguments: PictureStore.allCases)
    func recordsStaySmallHoweverLargeTheirDataAre(store: PictureStore) throws {
        let disk = SimulatedFileSystem(seed: 1)
        let container = try store.open(disk)
        let context = ModelContext(container)
        for number in 0..<40 {
            context.insert(Picture("\(number)", content: Data(repeating: UInt8(number), count: 300_000)))
        }
        try context.save()
        try container.store(AppendLogStore.self)?.checkpoint()
        let engine = container.store(JSONFileStore.self)?.engine ?? container.store(AppendLogStore.self)?.engine
        let table = try #require(engine?.version.tables["Picture"])
        let bytes = table.groups.flatMap(\.cells).reduce(0) { $0 + $1.chunk.byteCount }
        #expect(bytes < 30_000)
        let files = disk.paths.filter { !$0.hasPrefix(store.folder) }
        #expect(files.reduce(0) { $0 + (disk.contents(at: $1)?.count ?? 0) } < 30_000)
        #expect(try context.fetch(FetchDescriptor<Picture>()).last?.content == Data(repeating: 39, count: 300_000))
        try container.close()
    }

    @Test(arguments: PictureStore.allCases)
    func groupsAreOfTheDataThemselves(store: PictureStore) throws {
        let container = try store.open(SimulatedFileSystem(seed: 2))
        let context = ModelContext(container)
        for number in [1, 2, 1, 1] { context.insert(Picture("\(number)", content: Pictures.data(number))) }
        try context.save()
        let groups = try context.aggregate(FetchDescriptor<Picture>(), by: \.content, .count)
        #expect(groups.map(\.key) == [Pictures.data(1), Pictures.data(2)])
        #expect(groups.map(\.values) == [3, 1])
        // And what the store is asked for itself is never what it keeps instead.
        let content = QueryExpression.property(
            .variable(0), QueryProperty(entity: "Picture", name: "content", slot: 2))
        let query = AggregateQuery(StoreQuery("Picture"), by: [], [.minimum(content), .maximum(content)])
        func answer(of store: (some EngineDataStore)?) throws -> AggregateAnswer? {
            try store.flatMap { try $0.aggregate(query, in: $0.currentVersion) }
        }
        let found =
            try answer(of: container.store(JSONFileStore.self)) ?? answer(of: container.store(AppendLogStore.self))
        let values = try #require(found?.groups.first?.values)
        #expect(values.count == 2)
        #expect(values.allSatisfy { [.data(Pictures.data(1)), .data(Pictures.data(2))].contains($0) })
        try container.close()
    }

    /// What cannot be read of the record that a context started from is not written as empty data.
    @Test(arguments: PictureStore.allCases)
    func aSaveThatWouldRestoreWhatCannotBeReadThrows(store: PictureStore) throws {
        let disk = SimulatedFileSystem(seed: 3)
        let container = try store.open(disk)
        try container.advancePictures(to: 1)
        let file = try #require(store.dataFiles(on: disk).first)
        let context = ModelContext(container)
        context.mergePolicy = .objectWins
        let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).first)
        picture.rating = 9
        let other = ModelContext(container)
        try other.fetch(FetchDescriptor<Picture>()).first?.content = Pictures.data(2)
        try other.save()
        let bytes = try #require(disk.contents(at: file))
        try disk.unlink(file)
        #expect(throws: ExternalValueError.self) { try context.save() }
        try disk.install(bytes, at: file)
        try context.save()
        let restored = try #require(try other.fetch(FetchDescriptor<Picture>()).first)
        #expect(try other.resolve(restored, \.content) == Data(bytes))
        try container.close()
    }

    /// Opens the store with the pictures' schema changed, and hands the pictures' table over.
    private func withTable(
        _ store: PictureStore, _ disk: SimulatedFileSystem, _ change: (inout StoredEntity) -> Void,
        _ body: (TableVersion) throws -> Void
    ) throws {
        var stored = Schema([Picture.self]).stored
        change(&stored.entities[0])
        switch store {
        case .json:
            let opened = try JSONFileStore(
                JSONFileConfiguration(schema: Schema(stored: stored), path: store.path, in: disk), migrationPlan: nil)
            defer { try? opened.close() }
            try body(try #require(opened.engine.version.tables["Picture"]))
        case .log:
            let opened = try AppendLogStore(
                AppendLogConfiguration(schema: Schema(stored: stored), path: store.path, in: disk), migrationPlan: nil)
            defer { try? opened.close() }
            try body(try #require(opened.engine.version.tables["Picture"]))
        }
    }

    @Test(arguments: PictureStore.allCases)
    func anAttributeThatLosesTheOptionKeepsItsFilesAndAnIndexTakesNone(store: PictureStore) throws {
        let disk = SimulatedFileSystem(seed: 4)
        let container = try store.open(disk)
        try container.advancePictures(to: 1)
        try container.close()
        try withTable(store, disk) { entity in
            entity.properties[2].content = .attribute(StoredAttribute(kind: .data))
        } _: { table in
            let value = try table.readValue(row: 0, slot: 2)
            #expect(value == .data(Pictures.data(1)))
        }
        let error = thrown {
            try withTable(store, disk) {
                $0.uniquenessConstraints = [["content"]]
            } _: { _ in
            }
        }
        guard case EngineError.schemaMismatch(_, let differences)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        #expect(differences.first?.contains("Picture.content") == true)
        // Nothing of it has changed.
        let again = try store.open(disk)
        #expect(try Pictures.state(of: again) == 1)
        try again.close()
    }
}
