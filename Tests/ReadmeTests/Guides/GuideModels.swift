import Foundation
import Mortise

/// What most guides work with.
@Model final class Trip {
    #Index<Trip>([\.price], [\.startDate, \.code])

    @Attribute(.unique) var code: String
    var destination: String
    var startDate: Date
    var price: Decimal
    var rating: Int?
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    @Relationship(inverse: \Traveler.trips) var travelers: [Traveler] = []

    init(code: String, destination: String, startDate: Date, price: Decimal) {
        self.code = code
        self.destination = destination
        self.startDate = startDate
        self.price = price
    }
}

@Model final class Stop {
    var place: String
    var nights: Int
    var trip: Trip?

    init(_ place: String, nights: Int) {
        self.place = place
        self.nights = nights
    }
}

@Model final class Traveler {
    @Attribute(.unique) var email: String
    var name: String
    var trips: [Trip] = []

    init(email: String, name: String) {
        self.email = email
        self.name = name
    }
}

enum GuideModels {
    static let day = Date(timeIntervalSince1970: 1_780_000_000)

    /// A container in memory with three trips.
    static func container(store: String = "memory:") throws -> ModelContainer {
        let container = try ModelContainer(for: Trip.self, store: store)
        let context = ModelContext(container)
        let alps = Trip(code: "ALP", destination: "Chamonix", startDate: day, price: 1_240)
        let coast = Trip(code: "POR", destination: "Porto", startDate: day + 86_400, price: 389)
        let north = Trip(code: "TRO", destination: "Tromsø", startDate: day + 2 * 86_400, price: 2_105)
        alps.stops = [Stop("Les Houches", nights: 2), Stop("Courmayeur", nights: 5)]
        north.stops = [Stop("Tromsø", nights: 7)]
        let ada = Traveler(email: "ada@example.org", name: "Ada")
        alps.travelers = [ada, Traveler(email: "ben@example.org", name: "Ben")]
        north.travelers = [ada]
        for trip in [alps, coast, north] { context.insert(trip) }
        try context.save()
        return container
    }

    /// A context of its own on such a container.
    static func context() throws -> ModelContext { ModelContext(try container()) }

    /// Calls a body with the path of a folder that is removed afterwards.
    static func inFolder<R>(_ body: (String) throws -> R) throws -> R {
        let folder = SampleRun.temporaryFolder()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder.path(percentEncoded: false))
    }
}
