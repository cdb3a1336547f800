import Foundation
import Mortise

/// What clients get to see of an item. Models stay with their context; values travel.
public struct ItemAnswer: Codable, Hashable, Sendable {
    /// The item's identifier, as text for URLs.
    public var id: String
    public var code: String
    public var name: String
    public var quantity: Int
    public var revision: Int
    public var place: String?
    public var tags: [String]
    /// Identifiers of attachments by name.
    public var attachments: [String: String]

    init(_ item: Item) {
        id = item.persistentModelID.string ?? ""
        code = item.code
        name = item.name
        quantity = item.quantity
        revision = item.revision
        place = item.place?.name
        tags = item.tags.map(\.name).sorted()
        attachments = Dictionary(
            item.attachments.compactMap { attachment in
                attachment.persistentModelID.string.map { (attachment.name, $0) }
            },
            uniquingKeysWith: { first, _ in first })
    }
}

/// What a client says of an item that it adds or edits.
public struct ItemEntry: Codable, Hashable, Sendable {
    public var code: String
    public var name: String
    public var quantity: Int
    public var place: String?
    public var tags: [String]

    public init(code: String, name: String, quantity: Int = 0, place: String? = nil, tags: [String] = []) {
        self.code = code
        self.name = name
        self.quantity = quantity
        self.place = place
        self.tags = tags
    }
}

/// A page of items, and what to ask for to get the next.
public struct ItemPage: Codable, Hashable, Sendable {
    public var items: [ItemAnswer]
    public var next: String?
}

/// A line of the audit.
public struct AuditLine: Codable, Hashable, Sendable {
    public var time: Date
    /// Who did it: the author of the context that saved.
    public var author: String?
    public var action: String
    /// Such as `Item`, and the identifier for URLs.
    public var entity: String
    public var id: String?
    /// The names of the properties that have changed, or what is still known of a deleted record.
    public var details: [String]
}

/// Why a request was refused.
public enum InventoryError: Error, Hashable, Sendable {
    /// A code is empty, or a quantity negative.
    case invalid(String)
    /// Fewer are there than are to be taken.
    case notEnough(code: String, there: Int, wanted: Int)
    /// Somebody else has edited the item since the client has seen it.
    case editedMeanwhile(code: String, seen: Int, now: Int)
}

extension InventoryError: ClassifiedStoreError {
    public var description: String {
        switch self {
        case .invalid(let what): "\(what). Correct it."
        case .notEnough(let code, let there, let wanted):
            "There are \(there) of \(code), fewer than \(wanted). Count again, or take fewer."
        case .editedMeanwhile(let code, let seen, let now):
            "Somebody has edited \(code): its revision is \(now), not \(seen). Look at it again, and repeat the edit."
        }
    }

    public var errorClass: StoreErrorClass {
        switch self {
        case .invalid: .invalid
        case .notEnough, .editedMeanwhile: .conflict
        }
    }
}
