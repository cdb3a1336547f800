import Foundation
import Mortise

/// A journey: where to, when, with whom, and what it costs in euros.
///
/// A stop is part of its trip and goes with it; travelers are people and stay when a trip is called off.
@Model
final class Trip {
    #Index<Trip>([\.name], [\.startDate], [\.price])

    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    var price: Decimal
    var isFavourite: Bool = false
    var tags: [String] = []
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    @Relationship(inverse: \Traveler.trips) var travelers: [Traveler] = []

    init(name: String, destination: String, startDate: Date, endDate: Date, price: Decimal) {
        self.name = name
        self.destination = destination
        self.startDate = startDate
        self.endDate = endDate
        self.price = price
    }
}
