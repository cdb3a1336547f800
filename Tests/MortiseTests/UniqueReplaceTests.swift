import CustomStore
import Foundation
import Mortise
import Testing

@Model private final class Passport {
    @Attribute(.unique) var number: Int
    @Relationship(deleteRule: .cascade, inverse: \Portrait.passport) var portrait: Portrait
    init(_ number: Int, _ portrait: Portrait) { (self.number, self.portrait) = (number, portrait) }
}

@Model private final class Portrait {
    var name: String
    var passport: Passport?
    init(_ name: String) { self.name = name }
}

@Model private final class Gallery {
    @Attribute(.unique) var number: Int
    @Relationship(deleteRule: .cascade) var pictures: [GalleryPicture] = []
    init(_ number: Int) { self.number = number }
}

/// Nothing leads back from it.
@Model private final class GalleryPicture {
    var name: String
    init(_ name: String) { self.name = name }
}

/// What `.replace` deletes, and what it does not.
@Suite struct UniqueReplaceTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func container<T: PersistentModel>(_ kind: String, _ type: T.Type) throws -> ModelContainer {
        if kind == "plain" { return try ModelContainer(for: type, configurations: PlainConfiguration()) }
        guard kind == "csv" else {
            return try ModelContainer(
                for: type, store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("replace.\(kind)"))")
        }
        try FileManager.default.createDirectory(atPath: folder.path("replace"), withIntermediateDirectories: true)
        return try ModelContainer(
            for: type, configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("replace"))))
    }

    /// Bug: what a required relationship led to before stayed as a record of nobody.
    @Test(arguments: BillStores.all) func aRequiredRelationshipIsReplaced(_ kind: String) throws {
        let context = ModelContext(try container(kind, Passport.self))
        let passport = Passport(1, Portrait("old"))
        context.insert(passport)
        try context.save()
        context.insert(Passport(1, Portrait("new")), onConflict: .replace)
        try context.save()
        #expect(passport.portrait.name == "new" && passport.portrait.passport === passport)
        #expect(try context.fetch(FetchDescriptor<Portrait>()).map(\.name) == ["new"])
        // With `.update` it is only let go of.
        context.insert(Passport(1, Portrait("third")), onConflict: .update)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Portrait>()).map(\.name).sorted() == ["new", "third"])
    }

    /// Bug: it was deleted although another one has it.
    @Test(arguments: BillStores.all) func whatNothingLeadsBackFromStays(_ kind: String) throws {
        let context = ModelContext(try container(kind, Gallery.self))
        let (one, two, picture) = (Gallery(1), Gallery(2), GalleryPicture("p"))
        one.pictures = [picture, GalleryPicture("q")]
        for gallery in [one, two] { context.insert(gallery) }
        try context.save()
        two.pictures = [picture]
        let new = Gallery(1)
        new.pictures = [GalleryPicture("r")]
        context.insert(new, onConflict: .replace)
        try context.save()
        #expect(one.pictures.map(\.name) == ["r"] && two.pictures.map(\.name) == ["p"])
        #expect(try context.fetchCount(FetchDescriptor<GalleryPicture>()) == 3)
    }
}
