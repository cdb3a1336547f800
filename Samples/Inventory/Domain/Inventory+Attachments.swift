import Foundation
import Mortise

extension Inventory {
    /// The most bytes of an attachment.
    public static let largestAttachment = 16 << 20

    /// Keeps a file with an item, in the place of one with the same name.
    /// - Throws: `InventoryError.invalid` for one that is too large.
    public func attach(
        _ content: Data, named name: String, type: String, to id: String, by author: String? = nil
    ) throws -> ItemAnswer {
        guard content.count <= Self.largestAttachment else {
            throw InventoryError.invalid("The attachment has more than \(Self.largestAttachment) bytes")
        }
        let context = context(for: author)
        let changed = try context.transaction(retrying: 5) {
            let item = try context.item(id)
            for old in item.attachments where old.name == name { context.delete(old) }
            context.insert(Attachment(name: name, type: type, content: content, item: item))
            return item
        }
        return ItemAnswer(changed.result)
    }

    /// The content of an attachment, and its type.
    /// - Throws: `ExternalValueError` where its file is missing or damaged.
    public func attachment(_ id: String) throws -> (content: Data, type: String) {
        let context = context(for: nil)
        let attachment = try context.existingModel(for: PersistentIdentifier(string: id), as: Attachment.self)
        // A property cannot throw; this can.
        return (try context.resolve(attachment, \.content), attachment.type)
    }
}
