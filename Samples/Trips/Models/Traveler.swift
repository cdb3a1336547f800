import Mortise

/// A traveler. There is one for each e-mail address: inserting a second one updates the first.
@Model
final class Traveler {
    @Attribute(.unique) var email: String
    var name: String
    var trips: [Trip] = []

    init(email: String, name: String) {
        self.email = email
        self.name = name
    }
}
