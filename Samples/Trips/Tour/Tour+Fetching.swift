import Foundation
import Mortise

extension Tour {
    /// A new model belongs to no store; `insert` gives it to the context, and `save` writes it.
    func insertATrip() throws {
        let trip = Trip(
            name: "Night train", destination: "Vienna", startDate: SampleData.date(2026, 10, 2),
            endDate: SampleData.date(2026, 10, 6), price: 310)
        context.insert(trip)
        let pending = context.insertedModelsArray.count
        try context.save()
        say("insert", "\(pending) pending before the save, has changes after it: \(context.hasChanges)")
    }

    /// A predicate is ordinary Swift; a sort descriptor is a key path. Limits and offsets belong to the descriptor.
    func fetchWithPredicateAndSort() throws {
        let budget: Decimal = 1_500
        var affordable = FetchDescriptor<Trip>(
            predicate: #Predicate { $0.price <= budget && !$0.isFavourite },
            sortBy: [SortDescriptor(\.startDate), SortDescriptor(\.name)])
        affordable.fetchLimit = 2
        let trips = try context.fetch(affordable)
        say("fetch", "the next two for at most \(budget) euros are \(list(trips.map(\.destination)))")

        let hiking = "hiking"
        var tagged = FetchDescriptor<Trip>(predicate: #Predicate { $0.tags.contains(hiking) })
        tagged.fullScanPolicy = Self.deliberateScan
        let all = FetchDescriptor<Trip>()
        say("count", "\(try context.fetchCount(tagged)) of \(try context.fetchCount(all)) trips is tagged hiking")
    }

    /// A fetched model is an object: set its properties, and the context knows what to write.
    func updateATrip() throws {
        let trip = try trip(named: "Long weekend")
        trip.price += 60
        trip.tags.append("seaside")
        let changed = context.changedModelsArray.count
        try context.save()
        say("update", "\(changed) changed; \(trip.name) now costs \(trip.price) euros, tags \(list(trip.tags))")
    }

    private func list(_ words: [String]) -> String {
        words.joined(separator: " and ")
    }
}
