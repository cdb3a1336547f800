import Foundation
import SwiftData

@Model final class Trip {
    var name: String
    var price: Decimal
    var stops: [Stop] = []
    init(_ name: String, price: Decimal) {
        self.name = name
        self.price = price
    }
}
@Model final class Stop {
    var place: String
    var trip: Trip?
    init(_ place: String) { self.place = place }
}

let container = try ModelContainer(
    for: Trip.self,
    configurations: ModelConfiguration(
        url: URL(filePath: "trips.store")))
let context = ModelContext(container)

let alps = Trip("Alps", price: 1_240)
alps.stops = [Stop("Courmayeur")]
context.insert(alps)
try context.save()

let cheap = FetchDescriptor<Trip>(
    predicate: #Predicate { $0.price < 2_000 })
for trip in try context.fetch(cheap) {
    print(trip.name, trip.stops.map(\.place))
}
