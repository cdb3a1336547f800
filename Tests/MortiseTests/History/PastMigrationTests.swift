import Foundation
import Mortise
import Testing

/// Revisions, earlier states and reverts across a migration.
@Suite struct PastMigrationTests {
    enum Old: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Note {
            var title: String
            var size: Int
            init(_ title: String, _ size: Int) {
                self.title = title
                self.size = size
            }
        }
    }

    enum New: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Note.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Note {
            @Attribute(originalName: "title") var name: String
            var size: Int
            init(_ name: String) {
                self.name = name
                size = 0
            }
        }
    }

    enum Light: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Old.self, toVersion: New.self)] }
    }

    enum Custom: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Old.self, toVersion: New.self, willMigrate: nil,
                    didMigrate: { context in
                        for note in try context.fetch(FetchDescriptor<New.Note>()) { note.size += 100 }
                        try context.save()
                    })
            ]
        }
    }

    enum Twice: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Old.self, toVersion: New.self,
                    willMigrate: { context in
                        for note in try context.fetch(FetchDescriptor<Old.Note>()) { note.title += "!" }
                        try context.save()
                    },
                    didMigrate: { context in
                        for note in try context.fetch(FetchDescriptor<New.Note>()) { note.size += 100 }
                        try context.save()
                    })
            ]
        }
    }

    private let folder: Folder

    init() throws { folder = try Folder() }

    private func open(
        _ schema: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?, _ store: HistoryStore
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: schema), migrationPlan: plan, configurations: [store.configuration(folder)])
    }

    /// Saves two states under the first version.
    private func begin(_ store: HistoryStore) throws -> [DefaultHistoryToken] {
        let container = try open(Old.self, nil, store)
        let context = ModelContext(container)
        let note = Old.Note("a", 1)
        context.insert(note)
        try context.save()
        (note.title, note.size) = ("b", 2)
        try context.save()
        let tokens = try context.history().map(\.token)
        try container.close()
        return tokens
    }

    @Test(arguments: [HistoryStore.json, .log]) func aRenamedPropertyHasItsPresentName(_ store: HistoryStore) throws {
        let tokens = try begin(store)
        let container = try open(New.self, Light.self, store)
        let context = ModelContext(container)
        let note = try onlyModel(New.Note.self, in: context)
        note.size = 3
        try context.save()
        let revisions = try context.history(of: note).filter { $0.kind != .update || !$0.properties.isEmpty }
        #expect(revisions.map(\.kind) == [.update, .update, .insertion])
        #expect(revisions[1].properties == [\New.Note.name, \New.Note.size])
        #expect(revisions[1].oldValue(\.name) as? String == "a" && revisions[1].newValue(\.name) as? String == "b")
        for (token, name, size) in zip(tokens, zip(["a", "b"], [1, 2])).map({ ($0, $1.0, $1.1) }) {
            let past = try ModelContext(container, asOf: .token(token), allowsReplay: true)
            let then = try onlyModel(New.Note.self, in: past)
            #expect(then.name == name && then.size == size)
        }
        try context.revert(tokens[1], onConflict: .skip)
        #expect(note.name == "a" && note.size == 3)
        try container.close()
    }

    /// Bug: of what a plan's code had changed under one version after the other, only the first was a revision.
    @Test func aMigrationIsOneRevisionWithAllThatItsCodeChanged() throws {
        _ = try begin(.log)
        let container = try open(New.self, Twice.self, .log)
        let context = ModelContext(container)
        let note = try onlyModel(New.Note.self, in: context)
        #expect(note.name == "b!" && note.size == 102)
        let revisions = try context.history(of: note).filter { $0.kind != .update || !$0.properties.isEmpty }
        #expect(revisions.map(\.kind) == [.update, .update, .insertion])
        #expect(revisions[0].properties == [\New.Note.name, \New.Note.size])
        #expect(revisions[0].newValue(\.name) as? String == "b!" && revisions[0].newValue(\.size) as? Int == 102)
        #expect(revisions[0].oldValue(\.name) as? String == "b" && revisions[0].oldValue(\.size) as? Int == 2)
        try container.close()
    }

    @Test(arguments: [HistoryStore.json, .log]) func codeOfAPlanPartsWhatCameBefore(_ store: HistoryStore) throws {
        let tokens = try begin(store)
        let container = try open(New.self, Custom.self, store)
        let context = ModelContext(container)
        let note = try onlyModel(New.Note.self, in: context)
        #expect(note.size == 102)
        do {
            _ = try ModelContext(container, asOf: .token(tokens[1]), allowsReplay: true)
            Issue.record("a migration came between")
        } catch let error as AsOfUnavailable {
            #expect(error.reason == .migrated || error.reason == .notKept, "\(error)")
        }
        let last = try #require(try context.history().last?.token)
        note.size = 4
        try context.save()
        let past = try ModelContext(container, asOf: .token(last), allowsReplay: true)
        #expect(try onlyModel(New.Note.self, in: past).size == 102)
        try container.close()
    }
}
