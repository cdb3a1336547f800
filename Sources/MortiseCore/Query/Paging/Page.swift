/// Some of the models that a descriptor describes, one after the other in its order.
public struct Page<Model: PersistentModel> {
    /// The models, in the order of the descriptor.
    public let models: [Model]
    /// Where the next page begins; nil if these are the last models, and for a page without models.
    public let next: PageCursor?
    /// Where the page before ends; nil if these are the first models, and for a page without models.
    public let previous: PageCursor?

    /// Makes a page.
    public init(models: [Model], next: PageCursor?, previous: PageCursor?) {
        self.models = models
        self.next = next
        self.previous = previous
    }
}

@available(*, unavailable, message: "Models stay in their context; pass the cursors.")
extension Page: Sendable {}

/// Why a page cannot be fetched.
public enum PageError: Error, Hashable, Sendable {
    /// The text is no cursor.
    case invalidCursor(String)
    /// The cursor is of models of another entity.
    case otherEntity(expected: String, found: String)
    /// The cursor was made for another predicate, or for other values in it.
    case otherPredicate(entity: String)
    /// The cursor was made for other sort keys.
    case otherOrder(entity: String)
    /// The cursor is of another store.
    case otherStore(entity: String)
    /// The cursor names a place beside a model that was not saved, which nothing leads to any more: it was made from text, or the model
    /// is of another context, is gone, or was saved in a save before the context's last one.
    case unsavedPlace(entity: String)
    /// Models are sorted by a key that only the program's code can compare.
    case unsupportedOrder(entity: String, key: String)
}

extension PageError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// What is wrong with the cursor or the order, and the way out, in one line.
    public var description: String {
        let again = "Begin again with the first page."
        return switch self {
        case .invalidCursor(let reason): "This is no cursor of a page: \(reason). \(again)"
        case .otherEntity(let expected, let found): "The cursor is of \(found), and the page of \(expected). \(again)"
        case .otherPredicate(let entity):
            "The cursor was made for another predicate of \(entity). Give the same one, with the same values, or begin again "
                + "with the first page."
        case .otherOrder(let entity):
            "The cursor was made for another order of \(entity). Give the same sort keys, or begin again with the first page."
        case .otherStore(let entity): "The cursor is of another store of \(entity). \(again)"
        case .unsavedPlace(let entity):
            "The cursor is of a \(entity) that was not saved, and its place is not known any more. \(again) Save before a page "
                + "whose cursors are kept."
        case .unsupportedOrder(let entity, let key):
            "\(entity) cannot be fetched in pages by \(key), which only code can compare. Sort by stored numbers, dates, "
                + "strings or UUIDs."
        }
    }
    /// The error of SwiftData that this one matches: `unsupportedSortDescriptor`.
    public var swiftDataError: SwiftDataError { .unsupportedSortDescriptor }
}
