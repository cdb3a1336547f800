import Foundation
import Mortise

/// What the first households have: an item is one record, with its place as a text and one photo.
public enum InventoryV1: VersionedSchema {
    public static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    public static var models: [any PersistentModel.Type] { [Item.self] }

    @Model public final class Item {
        @Attribute(.unique) public var code: String
        public var name: String
        public var quantity: Int
        public var location: String
        @Attribute(.externalStorage) public var photo: Data?

        public init(code: String, name: String, quantity: Int, location: String = "", photo: Data? = nil) {
            self.code = code
            self.name = name
            self.quantity = quantity
            self.location = location
            self.photo = photo
        }
    }
}
