import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
import Testing

/// Several stores in one container, by URL: which model goes where, and what a store that is only read refuses.
@Suite struct SeveralStoresTests {
    private static let registry = StoreRegistry(.memory, .json, .log)

    private enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [] }
        static var stages: [MigrationStage] { [] }
    }

    /// Makes the store that is shared, with one country in it.
    private func makeShared(_ folder: ToolFolder) throws {
        let container = try ModelContainer(
            stores: ["log:" + folder.path("shared.log"): [Country.self]], registry: Self.registry)
        let context = ModelContext(container)
        context.insert(Country(code: "NO"))
        try context.save()
        try container.close()
    }

    @Test func eachModelGoesToItsStore() throws {
        let folder = try ToolFolder()
        try makeShared(folder)
        let container = try ModelContainer(
            stores: [
                "json:" + folder.path("local.json"): [Memo.self],
                "log:" + folder.path("shared.log") + "?allowsSave=false": [Country.self],
            ], migrationPlan: Plan.self, registry: Self.registry)
        let context = ModelContext(container)
        let folderModel = MemoFolder(name: "inbox")
        let memo = Memo(title: "one")
        memo.folder = folderModel
        context.insert(memo)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Country>()).map(\.code) == ["NO"])
        #expect(try context.fetch(FetchDescriptor<Memo>()).map(\.title) == ["one"])
        try container.close()

        let local = try ToolRun("info", "json:" + folder.path("local.json"), "--format", "json")
        #expect(local.output.contains("\"Memo\"") && !local.output.contains("\"Country\""))
        #expect(try ToolRun("fetch", "log:" + folder.path("shared.log"), "Country", "--count").output == "1\n")
        #expect(
            try ToolRun(
                "fetch", "json:" + folder.path("local.json"), "Memo", "--where", "folder.name == 'inbox'", "--count"
            )
            .output == "1\n")
    }

    @Test func aStoreThatIsOnlyReadTakesNoSave() throws {
        let folder = try ToolFolder()
        try makeShared(folder)
        let before = try folder.contents()
        let container = try ModelContainer(
            stores: [
                "memory:": [Memo.self], "log:" + folder.path("shared.log") + "?allowsSave=false": [Country.self],
            ], registry: Self.registry)
        let context = ModelContext(container)
        context.insert(Country(code: "SE"))
        #expect(throws: (any Error).self) { try context.save() }
        context.rollback()
        context.insert(Memo(title: "still possible"))
        try context.save()
        #expect(try folder.contents() == before)
    }

    @Test func relatedModelsBelongTogether() throws {
        #expect {
            try ModelContainer(stores: ["memory:a": [Memo.self], "memory:a": [Country.self]], registry: Self.registry)
        } throws: { error in
            "\(error)".contains("\"a\"")
        }
        #expect {
            try ModelContainer(stores: ["memory:a": [Memo.self], "floppy:b": [Country.self]], registry: Self.registry)
        } throws: { $0 is StoreURLError }
    }
}
