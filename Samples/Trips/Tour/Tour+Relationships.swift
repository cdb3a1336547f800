import Foundation
import Mortise

extension Tour {
    /// A relationship has two sides; setting one sets the other.
    func followRelationships() throws {
        let train = try trip(named: "Night train")
        let stop = Stop(name: "Salzburg", nights: 1)
        stop.trip = train
        let ben = "ben@example.org"
        train.travelers = try context.fetch(FetchDescriptor<Traveler>(predicate: #Predicate { $0.email == ben }))
        try context.save()
        let trips = train.travelers.first?.trips.map(\.name).sorted() ?? []
        say("relationships", "the train stops in \(train.stops.map(\.name).joined()); Ben is on \(trips)")

        let nights = 5
        var slow = FetchDescriptor<Trip>(
            predicate: #Predicate { trip in trip.stops.contains { $0.nights >= nights } },
            sortBy: [SortDescriptor(\.startDate)])
        slow.fullScanPolicy = Self.deliberateScan
        say("to-many predicate", "stays of five nights and more: \(try context.fetch(slow).map(\.name))")
    }

    /// Deleting a trip deletes its stops, as their rule says `.cascade`; travelers are `.nullify` and only let go of it.
    func deleteATrip() throws {
        let stops = try context.fetchCount(FetchDescriptor<Stop>())
        context.delete(try trip(named: "Across the Alps"))
        try context.save()
        let left = try context.fetchCount(FetchDescriptor<Stop>())
        let travelers = try context.fetchCount(FetchDescriptor<Traveler>())
        say("delete rules", "\(stops - left) stops went with the trip, \(travelers) travelers stayed")
    }

    /// `@Attribute(.unique)` makes an insert of a known value an update of the record that has it.
    func insertTheSameTravelerAgain() throws {
        let before = try context.fetchCount(FetchDescriptor<Traveler>())
        context.insert(Traveler(email: "ada@example.org", name: "Ada Lovelace"))
        try context.save()
        let travelers = try context.fetch(FetchDescriptor<Traveler>(sortBy: [SortDescriptor(\.email)]))
        say("unique", "\(before) travelers before, \(travelers.count) after: \(travelers.map(\.name))")
    }
}
