import Mortise

/// Trips are journeys, which is what the app calls them by now, and have a status. Nobody used the notes.
public enum JourneysV3: VersionedSchema {
    public static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
    public static var models: [any PersistentModel.Type] { [Journey.self, Traveler.self] }

    /// How far a journey is.
    public enum Status: String, Codable, Sendable {
        case planned, booked
    }

    @Model public final class Journey {
        public static var originalEntityName: String? { "Trip" }

        public var name: String
        @Attribute(.unique) public var code: String
        public var cents: Int
        public var status: Status = Status.planned
        public var traveler: Traveler?

        public init(name: String, code: String, cents: Int, traveler: Traveler? = nil) {
            self.name = name
            self.code = code
            self.cents = cents
            self.traveler = traveler
        }
    }

    @Model public final class Traveler {
        @Attribute(.unique) public var name: String
        @Relationship(deleteRule: .cascade, originalName: "trips", inverse: \Journey.traveler)
        public var journeys: [Journey] = []

        public init(name: String) { self.name = name }
    }
}

/// The app's own names for the classes of its current version.
public typealias Journey = JourneysV3.Journey
/// The same.
public typealias Traveler = JourneysV3.Traveler
