import Foundation
import Mortise
import Testing

/// Models without a context keep their last values and never trap.
@Suite struct DetachedModelTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try householdContainer()
        context = ModelContext(container)
    }

    private func fill() throws -> (house: House, room: Room, lamp: Lamp, poster: Poster) {
        let house = House(name: "h")
        let room = Room(name: "r", house: house)
        let lamp = Lamp(watts: 5, house: house)
        let poster = Poster(title: "p")
        house.posters = [poster]
        for model in [room, lamp] as [any PersistentModel] { context.insert(model) }
        try context.save()
        return (house, room, lamp, poster)
    }

    @Test func aDeletedParentAndItsCascadedChildrenStillKnowEachOther() throws {
        let (house, room, lamp, poster) = try fill()
        context.delete(room)
        context.delete(house)
        try context.save()
        for model in [house, room, lamp] as [any PersistentModel] {
            #expect(model.isDeleted && model.modelContext == nil && !model.hasChanges)
        }
        #expect(house.name == "h" && lamp.watts == 5)
        #expect(lamp.house === house)
        #expect(room.house === house)
        #expect(house.lamps?.first === lamp)
        #expect(house.rooms.map(\.name) == ["r"])
        #expect(house.posters.map(\.title) == ["p"])
        #expect(poster.house == nil && !poster.isDeleted)
    }

    @Test func modelsDeletedElsewhereKeepTheirRelationshipsEvenToRecordsNeverRead() throws {
        _ = try fill()
        let other = ModelContext(container)
        let twin: Lamp = try onlyModel(in: other)
        let houses = try context.fetch(FetchDescriptor<House>())
        for room in try context.fetch(FetchDescriptor<Room>()) { context.delete(room) }
        context.delete(houses[0])
        try context.save()
        try other.refresh()
        #expect(twin.isDeleted)
        #expect(twin.watts == 5)
        #expect(twin.house.name == "h")
        #expect(twin.house.isDeleted)
        #expect(twin.house.lamps?.first === twin)
        #expect(twin.house.rooms.map(\.name) == ["r"])
    }

    @Test func settingPropertiesOfADeletedModelChangesNothingButItself() throws {
        let (house, _, lamp, poster) = try fill()
        context.delete(lamp)
        try context.save()
        lamp.watts = 100
        lamp.house = house
        poster.title = "q"
        #expect(lamp.watts == 100)
        #expect(lamp.isDeleted && lamp.modelContext == nil)
        #expect(house.lamps?.isEmpty == true)
        #expect(context.changedModelsArray.count == 1)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Lamp>()) == 0)
    }

    @Test func modelsOutliveTheirContextAndContainer() throws {
        var models: (house: House, room: Room)?
        weak var weakContainer: ModelContainer?
        weak var weakContext: ModelContext?
        func scope() throws {
            let container = try householdContainer()
            let context = ModelContext(container)
            let house = House(name: "h")
            let room = Room(name: "r", house: house)
            house.posters = [Poster(title: "p")]
            context.insert(room)
            try context.save()
            room.name = "unsaved"
            models = (house, room)
            weakContainer = container
            weakContext = context
        }
        try scope()
        #expect(weakContext == nil)
        let (house, room) = try #require(models)
        #expect(house.modelContext == nil)
        #expect(house.name == "h" && room.name == "unsaved")
        #expect(room.house === house && house.rooms.map(\.name) == ["unsaved"])
        #expect(house.posters.map(\.title) == ["p"])
        house.name = "changed"
        house.posters[0].title = "changed too"
        #expect(house.name == "changed")
        #expect(weakContainer != nil)
        models = nil
    }

    @Test func aContainerGoesWithTheLastOfItsModels() throws {
        weak var weakContainer: ModelContainer?
        func scope() throws -> House {
            let container = try householdContainer()
            weakContainer = container
            let context = ModelContext(container)
            let house = House(name: "h")
            context.insert(house)
            context.insert(Room(name: "r", house: house))
            try context.save()
            return house
        }
        func use() throws {
            let house = try scope()
            #expect(weakContainer != nil)
            house.name = "changed after its context was gone"
            house.rooms[0].name = "changed too"
            #expect(house.rooms.count == 1)
        }
        try use()
        #expect(weakContainer == nil)
    }

    @Test func rolledBackInsertionsKeepTheirValuesAndCanBeInsertedAgain() throws {
        let house = House(name: "h")
        context.insert(house)
        try context.save()
        let poster = Poster(title: "p")
        poster.house = house
        context.rollback()
        #expect(poster.modelContext == nil)
        #expect(poster.title == "p")
        #expect(house.posters.isEmpty)
        context.insert(poster)
        #expect(house.posters.map(\.title) == ["p"])
        try context.save()
        #expect(try onlyModel(Poster.self, in: ModelContext(container)).house?.name == "h")
    }

    @Test func aDeletionIsRolledBackWithAllThatItDid() throws {
        let (house, room, lamp, poster) = try fill()
        context.delete(house)
        #expect(context.deletedModelsArray.count == 2)
        context.rollback()
        #expect(!house.isDeleted && !lamp.isDeleted)
        #expect(room.house === house && poster.house === house && lamp.house === house)
        #expect(house.lamps?.count == 1 && house.rooms.count == 1)
        #expect(!context.hasChanges)
    }

    @Test func anAliasKeepsItsValuesAndMayBecomeARecordOfItsOwn() throws {
        let container = try catalogContainer()
        let context = ModelContext(container)
        let first = Product(code: "1", title: "first")
        context.insert(first)
        try context.save()
        let second = Product(code: "1", title: "second")
        second.labels = [Label("l")]
        context.insert(second)
        try context.save()
        #expect(second.modelContext == nil && !second.isDeleted)
        #expect(second.title == "second" && second.labels.map(\.text) == ["l"])
        #expect(second.persistentModelID == first.persistentModelID)
        second.code = "2"
        context.insert(second)
        #expect(second.persistentModelID != first.persistentModelID)
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Product>()).map(\.code) == ["1", "2"])
        #expect(first.code == "1")
    }
}
