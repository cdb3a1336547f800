import Mortise

/// A place on the way where the travelers stay for some nights.
@Model
final class Stop {
    var name: String
    var nights: Int
    var trip: Trip?

    init(name: String, nights: Int, trip: Trip? = nil) {
        self.name = name
        self.nights = nights
        self.trip = trip
    }
}
