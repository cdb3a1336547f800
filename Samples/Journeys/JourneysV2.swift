import Mortise

/// Prices are whole cents, codes are unique, and guests are travelers of their own.
public enum JourneysV2: VersionedSchema {
    public static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    public static var models: [any PersistentModel.Type] { [Trip.self, Traveler.self] }

    @Model public final class Trip {
        public var name: String
        @Attribute(.unique) public var code: String
        public var cents: Int
        public var note: String?
        public var traveler: Traveler?

        public init(name: String, code: String, cents: Int, note: String? = nil, traveler: Traveler? = nil) {
            self.name = name
            self.code = code
            self.cents = cents
            self.note = note
            self.traveler = traveler
        }
    }

    @Model public final class Traveler {
        @Attribute(.unique) public var name: String
        @Relationship(deleteRule: .cascade, inverse: \Trip.traveler) public var trips: [Trip] = []

        public init(name: String) { self.name = name }
    }
}
