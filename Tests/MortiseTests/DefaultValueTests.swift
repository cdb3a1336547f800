import Foundation
import Mortise
import Testing

@Model private final class Bead {
    var name = "declared"
    var size: Int
    nonisolated(unsafe) static let shared = Bead(name: "shared", size: 1)
    init(name: String = "given", size: Int = 7) {
        self.name = name
        self.size = size
    }
}

@Model private final class Necklace {
    var length = 0
    @Transient var clasp = Bead(name: "clasp", size: 3)
    @Transient var beads = [Bead(name: "first", size: 1), Bead(size: 2)]
    @Transient var fallback = Bead.shared
    init() {}
}

@Model private class Animal {
    var name: String
    var legs = 4
    init(name: String) { self.name = name }
}

@Model private final class Dog: Animal {
    var age: Int
    @Transient var toy = Animal(name: "toy")
    init(age: Int) {
        self.age = age
        super.init(name: "dog")
    }
}

/// Makes another of its kind in a default value, the first time only.
@Model private final class Twin {
    nonisolated(unsafe) static var isAlone = true
    var name: String
    @Transient var other = Twin.pair()
    init(name: String) { self.name = name }
    private static func pair() -> Twin? {
        if isAlone { return nil }
        isAlone = true
        return Twin(name: "second")
    }
}

/// Models that the default value of a property makes, while the model with the property is fetched. They were once taken for
/// the fetched model, whose initial values are ignored, and had no values.
@Suite(.serialized) struct DefaultValueTests {
    private func stored(_ models: [any PersistentModel]) throws -> ModelContext {
        let container = try ModelContainer(
            for: Bead.self, Necklace.self, Animal.self, Dog.self, Twin.self, store: "memory:")
        let context = ModelContext(container)
        for model in models { context.insert(model) }
        try context.save()
        return ModelContext(container)
    }

    @Test func modelsThatADefaultMakesKeepTheirValues() throws {
        let context = try stored([Necklace(), Necklace(), Necklace()])
        for necklace in try context.fetch(FetchDescriptor<Necklace>()) {
            #expect(necklace.clasp.name == "clasp")
            #expect(necklace.clasp.size == 3)
            #expect(necklace.beads.map(\.name) == ["first", "given"])
            #expect(necklace.beads.map(\.size) == [1, 2])
            #expect(necklace.fallback === Bead.shared)
            #expect(necklace.fallback.name == "shared")
            #expect(necklace.hasChanges == false)
        }
        let necklace = try #require(try context.fetch(FetchDescriptor<Necklace>()).first)
        context.insert(necklace.clasp)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Bead>()).map(\.name) == ["clasp"])
    }

    @Test func aSuperclassMadeByADefaultOfASubclassKeepsItsValues() throws {
        let context = try stored([Dog(age: 9), Animal(name: "cat"), Dog(age: 8)])
        let animals = try context.fetch(FetchDescriptor<Animal>())
        #expect(animals.map(\.name) == ["dog", "cat", "dog"])
        #expect(animals.map { ($0 as? Dog)?.age } == [9, nil, 8])
        #expect(animals.compactMap { ($0 as? Dog)?.toy.name } == ["toy", "toy"])
        #expect(animals.allSatisfy { !$0.hasChanges })
    }

    @Test func aModelOfTheSameClassMadeByADefaultKeepsItsValues() throws {
        let context = try stored([Twin(name: "first")])
        Twin.isAlone = false
        let twin = try #require(try context.fetch(FetchDescriptor<Twin>()).first)
        #expect(twin.name == "first")
        #expect(twin.other?.name == "second")
        #expect(!twin.hasChanges)
    }
}
