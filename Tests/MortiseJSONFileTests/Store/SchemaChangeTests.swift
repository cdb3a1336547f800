import Foundation
import Mortise
import MortiseEngine
import Testing

/// A file that was written under other models: what is bridged, and what is refused with every difference named.
@Suite struct SchemaChangeTests {
    let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        try folder.fill("one", "two")
    }

    @Test func addedRenamedAndRemovedPropertiesAndEntitiesAreBridged() throws {
        let container = try folder.open(Bridged.Note.self, dropping: ["Drawer"])
        let context = ModelContext(container)
        let notes = try context.fetch(FetchDescriptor<Bridged.Note>())
        #expect(notes.map(\.heading) == ["one", "two"])
        #expect(notes.map(\.stars) == [3, 3])
        #expect(notes.map(\.author) == [nil, nil])
        #expect(notes.map(\.pages) == [1, 1])
        let again = Bridged.Note(heading: "two")
        again.stars = 5
        context.insert(again)
        try context.save()
        try container.close()
        let reopened = try folder.open(Bridged.Note.self, dropping: ["Drawer"])
        #expect(try ModelContext(reopened).fetch(FetchDescriptor<Bridged.Note>()).map(\.stars) == [3, 5])
        try reopened.close()
    }

    @Test func openingUnderChangedModelsDoesNotRewriteTheFile() throws {
        let before = try folder.bytes()
        try folder.open(Bridged.Note.self, dropping: ["Drawer"]).close()
        #expect(try folder.bytes() == before)
        try folder.open().close()
    }

    private func expectRefused(
        _ type: any PersistentModel.Type, saying words: String..., at location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try folder.bytes()
        #expect(sourceLocation: location) {
            _ = try folder.open(type)
        } throws: { error in
            guard case SwiftDataError.unknownDataStoreSchema = error, case .schemaMismatch? = error as? EngineError
            else {
                return false
            }
            return words.allSatisfy("\(error)".contains)
        }
        #expect(try folder.bytes() == before, sourceLocation: location)
        try folder.open().close()
    }

    @Test func aNewRequiredPropertyNeedsADefault() throws {
        try expectRefused(Demanding.Note.self, saying: "Note.owner", "default value", "optional")
    }

    @Test func aPropertyOfAnotherKindIsRefused() throws {
        try expectRefused(Retyped.Note.self, saying: "Note.pages", "int64", "string")
    }

    @Test func anOptionalPropertyThatBecomesRequiredNeedsADefaultWhereARecordHasNoValue() throws {
        let container = try folder.open()
        let context = ModelContext(container)
        let note = try #require(try context.fetch(FetchDescriptor<Original.Note>()).first)
        note.body = nil
        try context.save()
        try container.close()
        try expectRefused(Stricter.Note.self, saying: "Note.body", "default value")
    }

    @Test func aNewConstraintThatTheRecordsBreakIsRefused() throws {
        let before = try folder.bytes()
        #expect {
            _ = try folder.open(NewlyUnique.Note.self)
        } throws: { error in
            guard let error = error as? JSONFileError else { return false }
            return "\(error)".contains("$.records.Note[1].pages") && "\(error)".contains("must be unique")
        }
        #expect(try folder.bytes() == before)
        try folder.open().close()
    }
}
