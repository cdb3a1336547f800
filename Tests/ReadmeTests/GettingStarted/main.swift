import Foundation
import Mortise

@Model
final class Trip {
    var name: String
    var startDate: Date
    var price: Decimal
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

    init(name: String, startDate: Date, price: Decimal) {
        self.name = name
        self.startDate = startDate
        self.price = price
    }
}

@Model
final class Stop {
    @Attribute(.unique) var place: String
    var nights: Int
    var trip: Trip?

    init(place: String, nights: Int) {
        self.place = place
        self.nights = nights
    }
}

let store = "json:trips.json"  // or "memory:"

let container = try ModelContainer(for: Trip.self, Stop.self, store: store)
let context = ModelContext(container)

let alps = Trip(name: "Across the Alps", startDate: .now, price: 1_240)
alps.stops = [
    Stop(place: "Les Houches", nights: 2), Stop(place: "Courmayeur", nights: 5),
]
context.insert(alps)
context.insert(Trip(name: "Long weekend", startDate: .now + 86_400, price: 389))
try context.save()
try container.close()

let reopened = ModelContext(
    try ModelContainer(for: Trip.self, Stop.self, store: store))
let affordable = FetchDescriptor<Trip>(
    predicate: #Predicate { trip in
        trip.price < 2_000 && trip.stops.contains { $0.nights > 3 }
    },
    sortBy: [SortDescriptor(\.startDate)])
for trip in try reopened.fetch(affordable) {
    print(trip.name, trip.price, trip.stops.map(\.place).sorted())
}
