import Foundation
import Mortise
import Testing

/// The code of the guide "Testing with memory:".
@Suite struct TestingGuide {
    /// What an app has: a type that is given its container.
    final class TripPlanner {
        let container: ModelContainer

        init(store: String) throws {
            container = try ModelContainer(for: Trip.self, store: store)
        }

        func plan(_ code: String, to destination: String) throws {
            let context = ModelContext(container)
            context.insert(
                Trip(code: code, destination: destination, startDate: .now, price: 0))
            try context.save()
        }

        func destinations() throws -> [String] {
            try ModelContext(container).fetch(FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.code)]))
                .map(\.destination)
        }
    }

    @Test func aPlannedTripIsListed() throws {
        let planner = try TripPlanner(store: "memory:")
        try planner.plan("POR", to: "Porto")
        #expect(try planner.destinations() == ["Porto"])
    }

    @Test func eachContainerInMemoryIsItsOwn() throws {
        let (one, other) = (try TripPlanner(store: "memory:"), try TripPlanner(store: "memory:"))
        try one.plan("POR", to: "Porto")
        #expect(try other.destinations() == [])
    }

    @Test func aRestartIsTestedWithoutFiles() throws {
        let storage = InMemoryStorage()
        func open() throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Trip.self]),
                configurations: [InMemoryConfiguration(storage: storage)])
        }
        let before = try open()
        let context = ModelContext(before)
        context.insert(Trip(code: "POR", destination: "Porto", startDate: .now, price: 389))
        try context.save()
        try before.close()

        let after = try open()
        #expect(try ModelContext(after).fetchCount(FetchDescriptor<Trip>()) == 1)
    }

    @Test(arguments: ["memory:", "json:", "log:"])
    func everyKindOfStoreAnswersTheSame(_ kind: String) throws {
        try GuideModels.inFolder { folder in
            let path = kind == "memory:" ? "" : "\(folder)/trips"
            let planner = try TripPlanner(store: kind + path)
            try planner.plan("TRO", to: "Tromsø")
            try planner.plan("POR", to: "Porto")
            #expect(try planner.destinations() == ["Porto", "Tromsø"])
        }
    }

    @Test func aTestFindsAScanAndAFalseClaim() throws {
        let planner = try TripPlanner(store: "memory:")
        planner.container.fullScanPolicy = .refuse
        planner.container.verifiesPushDown = true
        let context = ModelContext(planner.container)
        #expect(throws: QueryPlanError.self) {
            try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.destination == "Porto" }))
        }
        #expect(throws: Never.self) {
            try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.price < 500 }))
        }
    }
}
