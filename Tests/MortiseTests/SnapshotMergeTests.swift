import CustomStore
import Foundation
import Mortise
import Testing

@Model private final class Keeper {
    var name: String
    @Relationship(inverse: \Hound.keeper) var hound: Hound?
    @Relationship(deleteRule: .cascade, inverse: \Kitten.keeper) var kittens: [Kitten] = []
    init(_ name: String) { self.name = name }
}

@Model private final class Hound {
    var name: String
    var keeper: Keeper?
    init(_ name: String) { self.name = name }
}

@Model private final class Kitten {
    var name: String
    var keeper: Keeper?
    init(_ name: String) { self.name = name }
}

/// Contexts of a store without versions, which both sides of a relationship are stored in.
@Suite struct SnapshotMergeTests {
    /// Bug: both keepers kept the kitten, and deleting the first one deleted it.
    @Test(arguments: [false, true]) func theLaterPartnerIsThatOfBothSides(setsOneSide: Bool) throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.path("pets"), withIntermediateDirectories: true)
        let container = try ModelContainer(
            for: Keeper.self, Hound.self, Kitten.self,
            configurations: CSVConfiguration(folder: URL(fileURLWithPath: folder.path("pets"))))
        let (here, there) = (ModelContext(container), ModelContext(container))
        for name in ["a", "b"] { here.insert(Keeper(name)) }
        here.insert(Hound("h"))
        here.insert(Kitten("k"))
        try here.save()
        func give(to name: String, in context: ModelContext) throws {
            let keepers = try context.fetch(FetchDescriptor<Keeper>(predicate: #Predicate { $0.name == name }))
            let keeper = try #require(keepers.first)
            let hound = try #require(try context.fetch(FetchDescriptor<Hound>()).first)
            let kitten = try #require(try context.fetch(FetchDescriptor<Kitten>()).first)
            if setsOneSide {
                hound.keeper = keeper
                kitten.keeper = keeper
            } else {
                keeper.hound = hound
                keeper.kittens = [kitten]
            }
        }
        try give(to: "a", in: here)
        try give(to: "b", in: there)
        try here.save()
        try there.save()
        func keepers() throws -> [String] {
            try ModelContext(container).fetch(FetchDescriptor<Keeper>(sortBy: [SortDescriptor(\.name)])).map {
                "\($0.name) \($0.hound?.name ?? "-") \($0.kittens.map(\.name))"
            }
        }
        #expect(try keepers() == ["a - []", "b h [\"k\"]"])
        let last = ModelContext(container)
        last.delete(try #require(try last.fetch(FetchDescriptor<Keeper>(sortBy: [SortDescriptor(\.name)])).first))
        try last.save()
        #expect(try keepers() == ["b h [\"k\"]"])
        #expect(try ModelContext(container).fetch(FetchDescriptor<Kitten>()).map { $0.keeper?.name } == ["b"])
    }
}
