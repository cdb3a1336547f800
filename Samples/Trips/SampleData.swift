import Foundation
import Mortise

/// The trips that the tour, and any preview of a view, starts from.
enum SampleData {
    /// A new container in memory with the sample trips in its main context, saved. Nothing of it outlives the process.
    ///
    /// - Throws: what the framework throws if the models do not fit together.
    @MainActor static func makePreview() throws -> ModelContainer {
        let container = try ModelContainer(
            for: Trip.self, Stop.self, Traveler.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        container.fullScanPolicy = .refuse
        insert(into: container.mainContext)
        try container.mainContext.save()
        return container
    }

    /// Inserts three trips with their stops and travelers.
    static func insert(into context: ModelContext) {
        let ada = Traveler(email: "ada@example.org", name: "Ada")
        let ben = Traveler(email: "ben@example.org", name: "Ben")

        let alps = Trip(
            name: "Across the Alps", destination: "Chamonix", startDate: date(2026, 7, 4), endDate: date(2026, 7, 11),
            price: 1_240)
        let coast = Trip(
            name: "Long weekend", destination: "Porto", startDate: date(2026, 5, 14), endDate: date(2026, 5, 17),
            price: 389.50)
        let north = Trip(
            name: "Northern lights", destination: "Tromsø", startDate: date(2027, 1, 9), endDate: date(2027, 1, 16),
            price: 2_105)

        for trip in [alps, coast, north] { context.insert(trip) }
        alps.tags = ["hiking", "mountains"]
        north.tags = ["winter"]
        north.isFavourite = true
        alps.stops = [Stop(name: "Les Houches", nights: 2), Stop(name: "Courmayeur", nights: 5)]
        north.stops = [Stop(name: "Tromsø", nights: 7)]
        alps.travelers = [ada, ben]
        north.travelers = [ada]
    }

    /// Midnight in UTC.
    static func date(_ year: Int, _ month: Int, _ day: Int) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(from: DateComponents(year: year, month: month, day: day)) ?? .distantPast
    }
}
