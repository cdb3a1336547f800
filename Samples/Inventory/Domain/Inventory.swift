import Foundation
import Logging
import Mortise

/// A household's or a workshop's things: what there is, where it is, and who has taken some.
///
/// Every request has a context of its own, so any number of them run at the same time. Nothing here knows of HTTP.
public struct Inventory: Sendable {
    /// The open stores.
    public let container: ModelContainer

    /// Opens the inventory, in whatever version of the schema it is.
    /// - Parameter store: a store URL: `log:inventory.log` to keep it, `memory:` for tests.
    /// - Throws: what opening and migrating throw.
    public init(store: String, logger: Logger = Logger(label: "inventory")) throws {
        container = try ModelContainer(
            for: Schema(versionedSchema: InventoryV2.self), migrationPlan: InventoryPlan.self, store: store,
            logger: logger)
        // A conflict is repeated or told to the client, and never settled in silence.
        container.mergePolicy = .error
        container.uniqueConflictPolicy = .fail
    }

    /// A context for one request.
    /// - Parameter author: who asks, for the audit.
    func context(for author: String?) -> ModelContext {
        let context = ModelContext(container)
        context.author = author
        return context
    }

    /// Adds an item. Its place and its tags are made where there are none of these names.
    /// - Throws: `InventoryError.invalid`; `ModelContextError.notUnique` where the code is taken.
    public func add(_ entry: ItemEntry, by author: String? = nil) throws -> ItemAnswer {
        try entry.check()
        let context = context(for: author)
        let added = try context.transaction(retrying: 5) {
            let item = Item(code: entry.code, name: entry.name, quantity: entry.quantity)
            context.insert(item)
            try context.arrange(item, as: entry)
            if entry.quantity > 0 {
                context.insert(Movement(amount: entry.quantity, reason: "first count", time: Date(), item: item))
            }
            return item
        }
        // Its identifier is the store's once it is saved.
        return ItemAnswer(added.result)
    }

    /// An item.
    /// - Parameter id: `ItemAnswer.id`, which may come from anywhere.
    /// - Throws: `IdentifierTextError`; `ModelContextError.noSuchModel`.
    public func item(_ id: String) throws -> ItemAnswer { ItemAnswer(try context(for: nil).item(id)) }

    /// Adds to the quantity of an item, or takes from it. Two clients who do so at the same time both count.
    /// - Throws: `InventoryError.notEnough`.
    public func move(_ id: String, by amount: Int, reason: String, by author: String? = nil) throws -> ItemAnswer {
        let context = context(for: author)
        return try context.transaction(retrying: 50) {
            let item = try context.item(id)
            let (sum, overflow) = item.quantity.addingReportingOverflow(amount)
            guard !overflow, sum >= 0 else {
                throw InventoryError.notEnough(code: item.code, there: item.quantity, wanted: abs(amount))
            }
            item.quantity = sum
            context.insert(Movement(amount: amount, reason: reason, time: Date(), item: item))
            return ItemAnswer(item)
        }.result
    }

    /// Gives an item another name, place and other tags; its quantity changes by `move` alone. Of two clients who have seen the same
    /// revision the first wins, and the second is told.
    /// - Throws: `InventoryError.editedMeanwhile`, `.invalid`; `ModelContextError.notUnique` where the code is taken.
    public func edit(_ id: String, seen revision: Int, as entry: ItemEntry, by author: String? = nil) throws
        -> ItemAnswer
    {
        try entry.check()
        let context = context(for: author)
        return try context.transaction(retrying: 5) {
            let item = try context.item(id)
            guard item.revision == revision else {
                throw InventoryError.editedMeanwhile(code: item.code, seen: revision, now: item.revision)
            }
            item.revision += 1
            item.code = entry.code
            item.name = entry.name
            try context.arrange(item, as: entry)
            return ItemAnswer(item)
        }.result
    }

    /// Deletes an item, with its attachments and movements.
    /// - Throws: as `item(_:)`.
    public func delete(_ id: String, by author: String? = nil) throws {
        let context = context(for: author)
        try context.transaction(retrying: 5) { context.delete(try context.item(id)) }
    }
}

extension ItemEntry {
    func check() throws {
        if code.allSatisfy(\.isWhitespace) { throw InventoryError.invalid("The code is empty") }
        if quantity < 0 { throw InventoryError.invalid("The quantity \(quantity) is negative") }
    }
}

extension ModelContext {
    /// The item that a text of a URL names.
    func item(_ id: String) throws -> Item { try existingModel(for: PersistentIdentifier(string: id), as: Item.self) }

    /// Sets place and tags, and makes those that are missing.
    func arrange(_ item: Item, as entry: ItemEntry) throws {
        item.place = try entry.place.map { name in
            try findOrCreate(Place.self, where: \.name, is: name) { Place(name: name) }
        }
        item.tags = try Set(entry.tags).sorted().map { name in
            try findOrCreate(Tag.self, where: \.name, is: name) { Tag(name: name) }
        }
    }
}
