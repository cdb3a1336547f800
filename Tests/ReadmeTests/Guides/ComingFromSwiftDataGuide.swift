import Foundation
import Mortise
import Testing

/// Every difference that the guide "Coming from SwiftData" lists.
@Suite struct ComingFromSwiftDataGuide {
    @Test func aClosedContainerThrows() throws {
        let container = try GuideModels.container()
        let context = ModelContext(container)
        try container.close()
        #expect(throws: ModelContextError.containerClosed) { try context.fetch(FetchDescriptor<Trip>()) }
    }

    @Test func aDeletedModelCanStillBeTouched() throws {
        let context = try GuideModels.context()
        let porto = try #require(try context.first(Trip.self, where: \.code, is: "POR"))
        context.delete(porto)
        try context.save()
        #expect(porto.destination == "Porto")
        #expect(porto.modelContext == nil)
    }

    @Test func aRelationshipIsComparedWithNil() throws {
        let context = try GuideModels.context()
        context.insert(Stop("Nowhere", nights: 1))
        let lost = FetchDescriptor<Stop>(predicate: #Predicate { $0.trip == nil })
        #expect(try context.fetchCount(lost) == 1)
        #expect(try context.fetchIdentifiers(lost).count == 1)
    }

    @Test func anyPredicateIsAnswered() throws {
        let context = try GuideModels.context()
        let odd = FetchDescriptor<Trip>(
            predicate: #Predicate { $0.destination.count % 2 == 1 && ($0.rating ?? 0) < 3 },
            sortBy: [SortDescriptor(\.code)])
        #expect(try context.fetch(odd).map(\.code) == ["POR"])
    }

    @Test func twoNewModelsMayHaveOneUniqueValue() throws {
        let context = try GuideModels.context()
        context.insert(Traveler(email: "eve@example.org", name: "Eve"))
        context.insert(Traveler(email: "eve@example.org", name: "Evelyn"))
        try context.save()
        let email = "eve@example.org"
        let found = try context.fetch(FetchDescriptor<Traveler>(predicate: #Predicate { $0.email == email }))
        #expect(found.map(\.name) == ["Evelyn"])
    }

    @Test func theDefaultStoreIsALog() throws {
        try GuideModels.inFolder { folder in
            let file = URL(filePath: "\(folder)/trips.store")
            let container = try ModelContainer(for: Trip.self, configurations: ModelConfiguration(url: file))
            #expect(container.store(DefaultStore.self)?.base is AppendLogStore)
        }
    }

    @Test func whatNeedsAnApplePlatformThrows() throws {
        #expect(throws: ModelConfigurationError.noCloudKit(configuration: "default", database: "trips")) {
            try ModelContainer(
                for: Trip.self, configurations: ModelConfiguration(cloudKitDatabase: .private("trips")))
        }
        #expect(throws: ModelConfigurationError.noAppGroups(configuration: "default", group: "group.trips")) {
            try ModelContainer(
                for: Trip.self, configurations: ModelConfiguration(groupContainer: .identifier("group.trips")))
        }
    }

    @Test func aModelOfAnotherContextIsRefusedWithoutATrap() throws {
        let container = try GuideModels.container()
        let (here, there) = (ModelContext(container), ModelContext(container))
        let porto = try #require(try here.first(Trip.self, where: \.code, is: "POR"))
        there.insert(porto)
        #expect(throws: ModelContextError.registeredElsewhere(model: porto.persistentModelID)) { try there.save() }
    }

    @Test func aSecondContextSeesAnUnsavedNothing() throws {
        let container = try GuideModels.container()
        let (here, there) = (ModelContext(container), ModelContext(container))
        here.insert(Trip(code: "VIE", destination: "Vienna", startDate: .now, price: 310))
        #expect(try there.fetchCount(FetchDescriptor<Trip>()) == 3)
        #expect(try here.fetchCount(FetchDescriptor<Trip>()) == 4)
    }
}
