import Foundation
import Mortise

/// The record that every row works on.
@Model
final class Trip {
    #Index<Trip>([\.id], [\.name], [\.destination])

    var id: UUID
    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    var price: Double
    var rating: Int
    var isFavourite: Bool
    var note: String
    var traveler: Traveler?

    init(_ values: TripValues, traveler: Traveler?) {
        id = values.id
        name = values.name
        destination = values.destination
        startDate = values.startDate
        endDate = values.endDate
        price = values.price
        rating = values.rating
        isFavourite = values.isFavourite
        note = values.note
        self.traveler = traveler
    }
}

/// The same record without an index, for work that has to look at all of them.
@Model
final class UnindexedTrip {
    var id: UUID
    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    var price: Double
    var rating: Int
    var isFavourite: Bool
    var note: String

    init(_ values: TripValues) {
        id = values.id
        name = values.name
        destination = values.destination
        startDate = values.startDate
        endDate = values.endDate
        price = values.price
        rating = values.rating
        isFavourite = values.isFavourite
        note = values.note
    }
}

/// The parent of a hundred trips.
@Model
final class Traveler {
    var name: String
    @Relationship(inverse: \Trip.traveler) var trips: [Trip] = []

    init(name: String) { self.name = name }
}
