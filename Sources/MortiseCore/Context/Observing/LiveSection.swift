import Foundation

/// How a live result is divided into sections.
struct LiveSection<Model: PersistentModel> {
    let keyPath: PartialKeyPath<Model>
    /// Sorts by the title itself, so that rows of one title follow each other. A list of one: optimized code for a descriptor
    /// among other values needs a type that Foundation does not export.
    private let key: [SortDescriptor<Model>]
    private let read: (Model) -> String?

    init(_ keyPath: KeyPath<Model, String>) {
        self.keyPath = keyPath
        // A key path does not change, though its type does not say so.
        key = [
            SortDescriptor(
                unsafeBitCast(keyPath, to: (any KeyPath<Model, String> & Sendable).self), comparator: .lexical)
        ]
        read = { $0[keyPath: keyPath] }
    }

    init(_ keyPath: KeyPath<Model, String?>) {
        self.keyPath = keyPath
        key = [
            SortDescriptor(
                unsafeBitCast(keyPath, to: (any KeyPath<Model, String?> & Sendable).self), comparator: .lexical)
        ]
        read = { $0[keyPath: keyPath] }
    }

    /// The title of the section that a model is in.
    func title(of model: Model) -> String { read(model) ?? "" }

    /// The title, read from a record; an expression that needs models if it is code.
    func expression(under schema: Schema) -> QueryExpression {
        PreparedQuery(FetchDescriptor(sortBy: key), under: schema).query.order[0].expression
    }

    /// The sort keys with the title in front. Where the first key already sorts by it in some way, the title itself comes right
    /// behind that, because other ways to compare take different titles for equal.
    func order(_ sortBy: [SortDescriptor<Model>]) -> [SortDescriptor<Model>] {
        let isFirst = sortBy.first?.keyPath == keyPath
        return isFirst ? sortBy.prefix(1) + key + sortBy.dropFirst() : key + sortBy
    }
}
