import Foundation
import MortiseCore
import MortiseInMemory
import Testing

@Suite struct MergePolicyTests {
    let container: ModelContainer
    let here: ModelContext
    let there: ModelContext
    let mine: Book
    let theirs: Book

    init() throws {
        container = try makeLibrary()
        here = ModelContext(container)
        there = ModelContext(container)
        mine = Book(title: "draft", pages: 1)
        here.insert(mine)
        try here.save()
        theirs = try #require(try there.fetch(FetchDescriptor<Book>()).first)
    }

    private func stored() throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Book>()).map { "\($0.title) \($0.pages)" }
    }

    @Test func changesToDifferentPropertiesAreBothKept() throws {
        mine.title = "mine"
        theirs.pages = 2
        try there.save()
        try here.save()
        #expect(try stored() == ["mine 2"])
    }

    @Test func propertyWiseTheLastValueCounts() throws {
        mine.title = "mine"
        theirs.title = "theirs"
        theirs.pages = 2
        try there.save()
        try here.save()
        #expect(try stored() == ["mine 2"])
    }

    @Test func theErrorShowsBothSidesAndKeepsTheChanges() throws {
        here.mergePolicy = .error
        mine.title = "mine"
        theirs.title = "theirs"
        theirs.pages = 2
        try there.save()
        let conflict = try #require(throws: SaveConflict.self) { try here.save() }
        #expect(conflict.entity == "Book")
        #expect(conflict.model == mine.persistentModelID)
        #expect(
            conflict.properties == [
                .init(name: "title", base: .string("draft"), stored: .string("theirs"), unsaved: .string("mine")),
                .init(name: "pages", base: .integer(1), stored: .integer(2), unsaved: nil),
            ])
        #expect(conflict.description.contains("title, pages"))
        #expect(here.hasChanges)
        #expect(mine.title == "mine")
        #expect(try stored() == ["theirs 2"])
        here.mergePolicy = .propertyWise
        try here.save()
        #expect(try stored() == ["mine 2"])
    }

    @Test func theStoreWins() throws {
        here.mergePolicy = .storeWins
        mine.title = "mine"
        theirs.pages = 2
        try there.save()
        try here.save()
        #expect(try stored() == ["draft 2"])
        #expect(mine.title == "draft")
    }

    @Test func theObjectWins() throws {
        here.mergePolicy = .objectWins
        mine.title = "mine"
        theirs.pages = 2
        try there.save()
        try here.save()
        #expect(try stored() == ["mine 1"])
        #expect(mine.pages == 1)
    }

    @Test func deletingWhatAnotherChangedIsAConflictToo() throws {
        here.mergePolicy = .error
        here.delete(mine)
        theirs.pages = 2
        try there.save()
        let conflict = try #require(throws: SaveConflict.self) { try here.save() }
        #expect(conflict.isDeletion)
        here.mergePolicy = .storeWins
        try here.save()
        #expect(try stored() == ["draft 2"])
    }

    @Test func theStoreWinsOverWhatWasChangedBeforeItWasDeleted() throws {
        here.mergePolicy = .storeWins
        mine.title = "mine"
        mine.author = Author(name: "Ghost")
        here.delete(mine)
        theirs.title = "theirs"
        try there.save()
        try here.save()
        #expect(try stored() == ["theirs 1"])
        #expect(mine.title == "theirs" && !mine.isDeleted && mine.author == nil)
    }

    @Test func changingWhatAnotherDeletedFailsUnlessTheStoreWins() throws {
        mine.title = "mine"
        there.delete(theirs)
        try there.save()
        #expect(throws: ModelContextError.noSuchModel(mine.persistentModelID)) { try here.save() }
        here.mergePolicy = .storeWins
        try here.save()
        #expect(try stored() == [])
        #expect(mine.title == "mine")
    }
}
