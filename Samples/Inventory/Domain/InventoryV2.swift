import Foundation
import Mortise

/// Places and tags are records of their own, an item has any number of attachments, and every change of a quantity is kept.
public enum InventoryV2: VersionedSchema {
    public static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    public static var models: [any PersistentModel.Type] {
        [Item.self, Place.self, Tag.self, Attachment.self, Movement.self]
    }

    @Model public final class Item {
        #Index<Item>([\.name, \.code])

        /// Still known when the item is deleted, for the audit.
        @Attribute(.unique, .preserveValueOnDeletion) public var code: String
        public var name: String
        public var quantity: Int
        /// Counts edits, so that a client can say which one it has seen.
        public var revision: Int = 1
        public var place: Place?
        public var tags: [Tag] = []
        @Relationship(deleteRule: .cascade, inverse: \Attachment.item) public var attachments: [Attachment] = []
        @Relationship(deleteRule: .cascade, inverse: \Movement.item) public var movements: [Movement] = []

        public init(code: String, name: String, quantity: Int, place: Place? = nil, tags: [Tag] = []) {
            self.code = code
            self.name = name
            self.quantity = quantity
            self.place = place
            self.tags = tags
        }
    }

    @Model public final class Place {
        @Attribute(.unique) public var name: String
        @Relationship(inverse: \Item.place) public var items: [Item] = []

        public init(name: String) { self.name = name }
    }

    @Model public final class Tag {
        @Attribute(.unique) public var name: String
        @Relationship(inverse: \Item.tags) public var items: [Item] = []

        public init(name: String) { self.name = name }
    }

    @Model public final class Attachment {
        public var name: String
        public var type: String
        /// In a file of its own beside the store's, unless it is short.
        @Attribute(.externalStorage) public var content: Data
        public var item: Item?

        public init(name: String, type: String, content: Data, item: Item? = nil) {
            self.name = name
            self.type = type
            self.content = content
            self.item = item
        }
    }

    @Model public final class Movement {
        public var amount: Int
        public var reason: String
        public var time: Date
        public var item: Item?

        public init(amount: Int, reason: String, time: Date, item: Item? = nil) {
            self.amount = amount
            self.reason = reason
            self.time = time
            self.item = item
        }
    }
}

/// The service's own names for the classes of its current version.
public typealias Item = InventoryV2.Item
/// The same.
public typealias Place = InventoryV2.Place
/// The same.
public typealias Tag = InventoryV2.Tag
/// The same.
public typealias Attachment = InventoryV2.Attachment
/// The same.
public typealias Movement = InventoryV2.Movement
