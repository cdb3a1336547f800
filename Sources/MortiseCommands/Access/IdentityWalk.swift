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

        /// Goes on to the next row that is there; false at the end.
        mutating func advance() -> Bool {
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

    init(_ version: any StoreVersion, _ schema: StoredSchema) {
        for (number, entity) in schema.entities.enumerated() {
            guard let source = version.rows(ofEntity: entity.name), source.count > 0 else { continue }
            var head = Head(
                entity: number, source: source, row: -1, identifier: PersistentIdentifier(namespace: 0, sequence: 0))
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
