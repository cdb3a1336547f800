// Made by mortise schema models of version 1.0.0, storage 779986b8e5a8e54ed78b82f8fdedef71.
// swift-format-ignore-file

import Foundation
import Mortise

@Model
final class Stop {
    var name: String
    var nights: Int
    var trip: Trip?

    init(name: String, nights: Int) {
        self.name = name
        self.nights = nights
    }
}

@Model
final class Traveler {
    @Attribute(.unique) var email: String
    var name: String
    @Relationship(inverse: \Trip.travelers) var trips: [Trip] = []

    init(email: String, name: String) {
        self.email = email
        self.name = name
    }
}

@Model
final class Trip {
    #Index<Trip>([\.name], [\.startDate], [\.price])

    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    var price: Decimal
    var isFavourite: Bool = false
    var tags: CodedTree = CodedTree(json: "[]") ?? CodedTree(.null)
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    var travelers: [Traveler] = []

    init(name: String, destination: String, startDate: Date, endDate: Date, price: Decimal) {
        self.name = name
        self.destination = destination
        self.startDate = startDate
        self.endDate = endDate
        self.price = price
    }
}
