import Mortise

/// What the first users have: a trip is one record, with its guest as a name and its price as a number with a fraction.
public enum JourneysV1: VersionedSchema {
    public static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    public static var models: [any PersistentModel.Type] { [Trip.self] }

    @Model public final class Trip {
        public var name: String
        public var code: String
        public var price: Double
        public var guest: String
        public var note: String?

        public init(name: String, code: String, price: Double, guest: String, note: String? = nil) {
            self.name = name
            self.code = code
            self.price = price
            self.guest = guest
            self.note = note
        }
    }
}
