#if Tool
import MortiseCore

/// Whether two stores gave the same answer to one query: the same records in the same order.
struct AnswerComparison {
    let isEqual: Bool

    /// Compares the answers of two stores to one query. `content` is the comparison of the two stores, `a`'s first. If
    /// the stores hold the same, equal answers are those whose records have the same positions. If they do not,
    /// positions say nothing, and equal answers have the same values, and relationships that lead to the same
    /// positions.
    /// - Throws: what `StoreVersion.check()` of either throws.
    init(_ a: StoreQueryRun, _ b: StoreQueryRun, _ content: ContentComparison) throws {
        isEqual =
            a.records.count == b.records.count
            && zip(a.records, b.records).allSatisfy { one, two in
                content.isEqual
                    ? Self.haveSamePlace(a.reader, one, b.reader, two, content.places)
                    : Self.haveSameValues(a.reader, one, b.reader, two, content.places)
            }
        try a.version.check()
        try b.version.check()
    }

    private static func haveSamePlace(
        _ a: RecordReader, _ one: RecordReference, _ b: RecordReader, _ two: RecordReference, _ places: RecordMap
    ) -> Bool {
        guard let place = places.target(of: a.identifier(one)) else { return false }
        return place == b.identifier(two)
    }

    private static func haveSameValues(
        _ a: RecordReader, _ one: RecordReference, _ b: RecordReader, _ two: RecordReference, _ places: RecordMap
    ) -> Bool {
        let (x, y) = (a.tables[one.table], b.tables[two.table])
        guard x.entityName == y.entityName else { return false }
        return x.layout.slots.enumerated().allSatisfy { slot, property in
            property.property.attribute?.options.contains(.ephemeral) == true
                || ContentComparison.areEqual(a.value(one, slot: slot), b.value(two, slot: slot), places)
        }
    }
}
#endif
