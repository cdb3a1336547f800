import Foundation
import Mortise
import Testing

@Suite struct DeletionTests {
    let container: ModelContainer
    let context: ModelContext
    let house: House

    init() throws {
        container = try householdContainer()
        context = ModelContext(container)
        house = House(name: "h")
        context.insert(house)
        try context.save()
    }

    @Test func nullifyClearsAnOptionalReference() throws {
        let poster = Poster(title: "p")
        let key = Key(number: 1)
        house.posters = [poster]
        house.key = key
        try context.save()
        context.delete(house)
        #expect(poster.house == nil && key.house == nil)
        try context.save()
        #expect(poster.house == nil)
        let other = ModelContext(container)
        #expect(try onlyModel(Poster.self, in: other).house == nil)
        #expect(try onlyModel(Key.self, in: other).house == nil)
    }

    @Test func nullifyOfARequiredReferenceIsRefusedAndTheGetterStaysTotal() throws {
        let room = Room(name: "r", house: house)
        context.insert(room)
        try context.save()
        context.delete(house)
        #expect {
            try context.save()
        } throws: { error in
            guard case SwiftDataError.modelValidationFailure = error else { return false }
            return error as? ModelValidationError
                == .missingValue(entity: "Room", property: "house", model: room.persistentModelID)
        }
        #expect(context.hasChanges)
        #expect(room.house === house)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<House>()) == 1)
        let other = House(name: "other")
        room.house = other
        try context.save()
        #expect(try onlyModel(Room.self, in: ModelContext(container)).house.name == "other")
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<House>()) == 1)
    }

    @Test func denyRefusesWhileThereIsOne() throws {
        let tenant = Tenant(name: "t")
        house.tenants = [tenant]
        try context.save()
        context.delete(house)
        #expect(
            throws: ModelValidationError.deletionDenied(
                entity: "House", property: "tenants", model: house.persistentModelID, count: 1)
        ) { try context.save() }
        #expect(context.deletedModelsArray.count == 1)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<House>()) == 1)
        context.delete(tenant)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<House>()) == 0)
    }

    @Test func noActionLeavesTheReferenceAndTheSaveIsRefusedWhileItIsThere() throws {
        let meter = Meter(reading: 1)
        house.meters = [meter]
        try context.save()
        context.delete(house)
        #expect(
            throws: ModelValidationError.refersToDeleted(
                entity: "Meter", property: "house", model: meter.persistentModelID, deleted: house.persistentModelID)
        ) { try context.save() }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<House>()) == 1)
        meter.house = nil
        try context.save()
        #expect(try onlyModel(Meter.self, in: ModelContext(container)).house == nil)
    }

    @Test func aRequiredReferenceWithoutInverseToWhatTheSaveDeletesIsRefused() throws {
        let letter = Letter("l", to: house)
        context.insert(letter)
        try context.save()
        let other = House(name: "other")
        context.insert(other)
        try context.save()
        letter.house = other
        context.delete(other)
        let refusal = ModelValidationError.refersToDeleted(
            entity: "Letter", property: "house", model: letter.persistentModelID, deleted: other.persistentModelID)
        #expect(throws: refusal) { try context.save() }
        let second = Letter("second", to: other)
        context.insert(second)
        letter.house = house
        #expect(
            throws: ModelValidationError.refersToDeleted(
                entity: "Letter", property: "house", model: second.persistentModelID, deleted: other.persistentModelID)
        ) { try context.save() }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<House>()) == 2)
        second.house = house
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Letter>()).allSatisfy { $0.house.name == "h" })
    }

    @Test func cascadeReachesModelsThatWereNeverFetched() throws {
        for watts in [10, 20, 30] { context.insert(Lamp(watts: watts, house: house)) }
        try context.save()
        let other = ModelContext(container)
        other.delete(try onlyModel(House.self, in: other))
        #expect(other.deletedModelsArray.count == 4)
        try other.save()
        #expect(try context.fetchCount(FetchDescriptor<Lamp>()) == 0)
        #expect(house.isDeleted)
    }

    @Test func cascadeDoesNotGoRoundInCircles() throws {
        let a = Node("a")
        let b = Node("b", parent: a)
        a.parent = b
        context.insert(a)
        try context.save()
        context.delete(a)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Node>()) == 0)
    }

    @Test func oneWayReferencesToADeletedModelAreCleared() throws {
        let a = Node("a")
        let b = Node("b")
        a.next = b
        context.insert(a)
        try context.save()
        context.delete(b)
        #expect(a.next == nil)
        try context.save()
        #expect(a.next == nil)
        #expect(try onlyModel(Node.self, in: ModelContext(container)).next == nil)
    }

    @Test func insertingADeletedModelTakesTheDeletionBackWithItsLinks() throws {
        let poster = Poster(title: "p")
        let key = Key(number: 1)
        house.posters = [poster]
        house.key = key
        try context.save()
        context.delete(house)
        #expect(context.deletedModelsArray.count == 1)
        #expect(poster.house == nil)
        context.insert(house)
        #expect(!house.isDeleted)
        #expect(context.deletedModelsArray.isEmpty)
        #expect(house.posters.map(\.title) == ["p"])
        #expect(poster.house === house)
        #expect(key.house === house && house.key === key)
        try context.save()
        let other = ModelContext(container)
        #expect(try onlyModel(Poster.self, in: other).house?.name == "h")
        #expect(try onlyModel(Key.self, in: other).house?.name == "h")
    }

    @Test func aModelInsertedAgainAfterItsDeletionWasSavedIsANewRecordWithItsValues() throws {
        let poster = Poster(title: "p")
        house.posters = [poster]
        try context.save()
        let old = house.persistentModelID
        context.delete(house)
        try context.save()
        context.insert(house)
        #expect(house.persistentModelID.isTemporary)
        #expect(!house.isDeleted)
        #expect(house.name == "h")
        #expect(poster.house === house)
        try context.save()
        #expect(house.persistentModelID != old)
        let other: House = try onlyModel(in: ModelContext(container))
        #expect(other.name == "h")
        #expect(other.posters.map(\.title) == ["p"])
    }

    @Test func deletingAnUnsavedModelLeavesNothingBehind() throws {
        let poster = Poster(title: "p")
        house.posters.append(poster)
        context.delete(poster)
        #expect(house.posters.isEmpty)
        try context.save()
        #expect(poster.modelContext == nil)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Poster>()) == 0)
    }

    @Test func aRecordDeletedElsewhereIsNotDeletedTwice() throws {
        let other = ModelContext(container)
        let twin: House = try onlyModel(in: other)
        context.delete(house)
        try context.save()
        other.delete(twin)
        try other.save()
        #expect(twin.isDeleted)
    }

    @Test func changingARecordDeletedElsewhereIsATypedErrorUntilItIsRolledBack() throws {
        let other = ModelContext(container)
        let twin: House = try onlyModel(in: other)
        twin.name = "mine"
        let identifier = house.persistentModelID
        context.delete(house)
        try context.save()
        #expect(throws: ModelContextError.noSuchModel(identifier)) { try other.save() }
        #expect(throws: ModelContextError.noSuchModel(identifier)) { try other.save() }
        #expect(twin.name == "mine")
        other.rollback()
        try other.save()
    }
}
