import Foundation
import Mortise

/// A tour of the framework: each step does one thing to the sample trips and says what came of it.
@main
struct TripsTour {
    @MainActor static func main() async throws {
        let container = try SampleData.makePreview()
        let tour = Tour(context: container.mainContext)

        try tour.insertATrip()
        try tour.fetchWithPredicateAndSort()
        try tour.updateATrip()
        try tour.followRelationships()
        try tour.deleteATrip()
        try tour.insertTheSameTravelerAgain()
        try tour.observeATrip()
        try tour.rollBack()
        try tour.runATransaction()
        try await tour.workInTheBackground()
    }
}

/// The steps of the tour, all of them in the main context of one container. Each is in the file of its topic.
@MainActor
struct Tour {
    let context: ModelContext

    /// Prints the result of a step under the name of what it shows.
    func say(_ topic: String, _ result: String) {
        print("\(topic): \(result)")
    }

    /// The container refuses to look at every record for a few. Two fetches have to: no index reaches into an array of
    /// tags or the stops of a trip. A thousand trips are no problem; for more, the log has a warning.
    static let deliberateScan = FullScanPolicy.warn(above: 1_000)

    /// The trip with this name.
    ///
    /// - Throws: ``TourError/noTrip(_:)`` if there is no such trip.
    func trip(named name: String) throws -> Trip {
        let found = FetchDescriptor<Trip>(predicate: #Predicate { $0.name == name })
        guard let trip = try context.fetch(found).first else { throw TourError.noTrip(name) }
        return trip
    }
}

/// What can go wrong on the tour.
enum TourError: Error, CustomStringConvertible {
    case noTrip(String)
    case noMoney(missing: Decimal)

    var description: String {
        switch self {
        case .noTrip(let name): "there is no trip called \(name)"
        case .noMoney(let missing): "\(missing) euros are missing"
        }
    }
}
