#if Tool
import MortiseCore

/// All records of a version in identity order, which is the order of insertion where the store numbers its records.
struct IdentityWalk: Sequence, IteratorProtocol {
    struct Element {
        /// The place of the entity in the schema.
        let entity: Int
        let row: Int
        let identifier: PersistentIdentifier
    }

    private struct Head {
        let entity: Int
        let source: RowSource
        var row: Int
        var identifier: PersistentIdentifier
        /// The rows in order, the last one first, where the source has them in another; nil where it does not.
        var order: [Int]?

        /// Goes on to the next row that is there; false at the end.
        mutating func advance() -> Bool {
            if order != nil {
                guard let next = order?.popLast() else { return false }
                row = next
                identifier = source.identifier(ofRow: next)
                return true
            }
            row += 1
            while row < source.endRow {
                if source.contains(row: row) {
                    identifier = source.identifier(ofRow: row)
                    return true
                }
                row += 1
            }
            return false
        }
    }

    /// The last one comes next.
    private var heads: [Head] = []

    /// - Parameters:
    ///   - version: what is walked.
    ///   - schema: its entities.
    ///   - isInOrder: whether the rows of each entity are in identity order; those of records that have come back from the past are not.
    init(_ version: any StoreVersion, _ schema: StoredSchema, isInOrder: Bool = true) {
        for (number, entity) in schema.entities.enumerated() {
            guard let source = version.rows(ofEntity: entity.name), source.count > 0 else { continue }
            var head = Head(
                entity: number, source: source, row: -1, identifier: PersistentIdentifier(namespace: 0, sequence: 0))
            if !isInOrder {
                head.order = (0..<source.endRow).filter(source.contains(row:)).map {
                    ($0, source.identifier(ofRow: $0))
                }
                .sorted { Self.precedes($1.1, $0.1) }.map(\.0)
            }
            if head.advance() { heads.append(head) }
        }
        heads.sort { Self.precedes($1.identifier, $0.identifier) }
    }

    /// Numbers are compared without looking up their stores, which one version has only one of.
    private static func precedes(_ a: PersistentIdentifier, _ b: PersistentIdentifier) -> Bool {
        if let x = a.sequenceNumber, let y = b.sequenceNumber, x != y { return x < y }
        return a < b
    }

    mutating func next() -> Element? {
        guard var head = heads.popLast() else { return nil }
        let element = Element(entity: head.entity, row: head.row, identifier: head.identifier)
        guard head.advance() else { return element }
        // Entities are few; where records come entity by entity, the place is the last one at once.
        var place = heads.count
        while place > 0, Self.precedes(heads[place - 1].identifier, head.identifier) { place -= 1 }
        heads.insert(head, at: place)
        return element
    }
}
#endif
