import Foundation
import Mortise

/// Plans trips away from the main actor, in its own context on the same container.
///
/// Models stay in the context they come from. What goes in and out of an actor is values and identifiers.
@ModelActor
actor TripPlanner {
    /// Adds one trip a week from `start` on, saves them together, and returns the identifier of the last one.
    func plan(_ count: Int, from start: Date) throws -> PersistentIdentifier? {
        var last: Trip?
        for week in 0..<count {
            let day = start.addingTimeInterval(Double(week) * 7 * 86_400)
            let trip = Trip(
                name: "Week \(week + 1)", destination: "Anywhere", startDate: day, endDate: day, price: 100)
            modelContext.insert(trip)
            last = trip
        }
        try modelContext.save()
        return last?.persistentModelID
    }

    /// The name of the trip with this identifier, or nil if there is no such trip.
    func name(of identifier: PersistentIdentifier) -> String? {
        self[identifier, as: Trip.self]?.name
    }
}

extension Tour {
    /// What a model actor saves, every other context of the container sees at its next fetch.
    func workInTheBackground() async throws {
        let before = try context.fetchCount(FetchDescriptor<Trip>())
        let planner = TripPlanner(modelContainer: context.container)
        guard let last = try await planner.plan(50, from: SampleData.date(2027, 3, 1)) else { return }
        let after = try context.fetchCount(FetchDescriptor<Trip>())
        let name = await planner.name(of: last) ?? "nothing"
        say("model actor", "\(after - before) trips planned in the background, the last is \(name)")

        if let trip = context.model(for: last) as? Trip {
            say("identifiers", "the same trip in the main context starts on \(trip.startDate.formatted(.iso8601))")
        }
    }
}
