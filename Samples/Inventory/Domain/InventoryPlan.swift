import Foundation
import Mortise

/// How a store of the first version becomes one of the second.
public enum InventoryPlan: SchemaMigrationPlan {
    public static var schemas: [any VersionedSchema.Type] { [InventoryV1.self, InventoryV2.self] }
    public static var stages: [MigrationStage] { [textsBecomePlaces] }

    /// What the stage drops is said there; anything else that has no place ends the migration.
    public static var migrationOptions: MigrationOptions {
        var options = MigrationOptions()
        options.loss = .declared
        return options
    }

    /// A stage that lost an item or a photo.
    public struct Lost: Error, Equatable { public let what: String }

    private static var textsBecomePlaces: MigrationStage {
        .custom(
            from: InventoryV1.self, to: InventoryV2.self,
            mapping: .inferred.dropping("Item.location").dropping("Item.photo"),
            migrate: { old, new in
                var places: [String: PersistentIdentifier] = [:]
                for item in try old.records("Item") {
                    if let name = try item.value(String.self, of: "location"), !name.isEmpty {
                        let place = try places[name] ?? new.insert("Place", ["name": .string(name)])
                        places[name] = place
                        try new.update(item.id, ["place": .identifier(place)])
                    }
                    if let photo = try item.value(Data.self, of: "photo") {
                        _ = try new.insert(
                            "Attachment",
                            [
                                "name": .string("photo"), "type": .string("image/jpeg"), "content": .data(photo),
                                "item": .identifier(item.id),
                            ])
                    }
                }
            },
            validate: { old, new in
                let items = try old.records("Item").reduce(into: (all: 0, photos: 0)) { counts, item in
                    counts.all += 1
                    if try item.value(Data.self, of: "photo") != nil { counts.photos += 1 }
                }
                if try new.fetch(Item.self).count != items.all { throw Lost(what: "item") }
                if try new.fetch(Attachment.self).count != items.photos { throw Lost(what: "photo") }
            })
    }
}
