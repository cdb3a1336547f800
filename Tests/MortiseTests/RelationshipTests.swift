import Foundation
import Mortise
import Testing

@Suite struct RelationshipTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try householdContainer()
        context = ModelContext(container)
    }

    @Test func insertingOneModelInsertsWhateverItReaches() throws {
        let house = House(name: "h")
        let room = Room(name: "r", house: house)
        let poster = Poster(title: "p")
        house.posters = [poster]
        context.insert(room)
        #expect(context.insertedModelsArray.count == 3)
        #expect(house.rooms.map(\.name) == ["r"])
        #expect(poster.house === house)
        let late = Poster(title: "late")
        late.house = house
        #expect(late.modelContext === context)
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Poster>()).map(\.title) == ["p", "late"])
    }

    @Test func selfReferencesWorkBothWays() throws {
        let root = Node("root")
        let leaf = Node("leaf", parent: root)
        root.next = root
        leaf.next = root
        root.heroes = [leaf, root]
        context.insert(leaf)
        #expect(root.children.map(\.name) == ["leaf"])
        #expect(leaf.admirers.map(\.name) == ["root"])
        #expect(Set(root.admirers.map(\.name)) == ["root"])
        try context.save()
        let other = ModelContext(container)
        let nodes = try other.fetch(FetchDescriptor<Node>(sortBy: [SortDescriptor(\.name)]))
        #expect(nodes.map(\.name) == ["leaf", "root"])
        #expect(nodes[1].next === nodes[1] && nodes[0].next === nodes[1])
        #expect(Set(nodes[1].heroes.map(\.name)) == ["leaf", "root"])
        #expect(nodes[0].parent === nodes[1])
        nodes[1].heroes.removeAll { $0 === nodes[1] }
        #expect(nodes[1].admirers.isEmpty)
        try other.save()
        try context.refresh()
        #expect(root.heroes.map(\.name) == ["leaf"])
        #expect(root.admirers.isEmpty)
    }

    @Test func oneToOneMovesAndReleasesThePartnerBefore() throws {
        let first = House(name: "1")
        let second = House(name: "2")
        let key = Key(number: 1)
        first.key = key
        context.insert(first)
        context.insert(second)
        try context.save()
        second.key = key
        #expect(first.key == nil && key.house === second)
        key.house = first
        #expect(second.key == nil && first.key === key)
        let spare = Key(number: 2)
        first.key = spare
        #expect(key.house == nil && spare.house === first)
        try context.save()
        let other = ModelContext(container)
        let keys = try other.fetch(FetchDescriptor<Key>(sortBy: [SortDescriptor(\.number)]))
        #expect(keys.map { $0.house?.name } == [nil, "1"])
        #expect(keys[1].house?.key === keys[1])
    }

    @Test func anOptionalToManyReadsAsEmptyAndTakesNil() throws {
        let house = House(name: "h")
        house.lamps = nil
        context.insert(house)
        #expect(house.lamps?.isEmpty == true)
        let lamp = Lamp(watts: 40, house: house)
        context.insert(lamp)
        #expect(house.lamps?.map(\.watts) == [40])
        try context.save()
        #expect(try onlyModel(House.self, in: ModelContext(container)).lamps?.count == 1)
    }

    @Test func membersMoveBetweenOwners() throws {
        let a = House(name: "a")
        let b = House(name: "b")
        let posters = (0..<4).map { Poster(title: "\($0)") }
        a.posters = posters
        context.insert(a)
        context.insert(b)
        try context.save()
        b.posters = [posters[1], posters[3]]
        #expect(a.posters.map(\.title) == ["0", "2"])
        posters[0].house = b
        #expect(b.posters.map(\.title) == ["0", "1", "3"])
        try context.save()
        let other = ModelContext(container)
        let houses = try other.fetch(FetchDescriptor<House>(sortBy: [SortDescriptor(\.name)]))
        #expect(houses.map { $0.posters.map(\.title) } == [["2"], ["0", "1", "3"]])
        context.rollback()
        b.posters = []
        context.rollback()
        #expect(b.posters.map(\.title) == ["0", "1", "3"])
    }

    @Test func assigningAModelOfAnotherContextIsReportedByTheNextSave() throws {
        let house = House(name: "h")
        context.insert(house)
        try context.save()
        let other = ModelContext(container)
        let stranger = Poster(title: "s")
        other.insert(stranger)
        house.posters.append(stranger)
        #expect(throws: ModelContextError.registeredElsewhere(model: stranger.persistentModelID)) { try context.save() }
        context.rollback()
        #expect(house.posters.isEmpty)
        try context.save()
    }

    @Test func aDescriptorOverRelationshipsSeesPendingLinks() throws {
        let house = House(name: "h")
        context.insert(house)
        try context.save()
        let poster = Poster(title: "p")
        poster.house = house
        let inHouse = FetchDescriptor<Poster>(predicate: #Predicate { $0.house?.name == "h" })
        #expect(try context.fetch(inHouse).map(\.title) == ["p"])
        let homeless = FetchDescriptor<Poster>(predicate: #Predicate { $0.house == nil })
        #expect(try context.fetchCount(homeless) == 0)
        let decorated = FetchDescriptor<House>(predicate: #Predicate { $0.posters.contains { $0.title == "p" } })
        #expect(try context.fetchCount(decorated) == 1)
    }
}
