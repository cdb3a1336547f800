#if Inspector
import MortiseCore

/// Which records a page shows, as its address says.
package struct InspectedQuery: Hashable, Sendable {
    package var entity: String
    /// A predicate; empty for all records.
    package var condition = ""
    /// Keys of an order; empty for the order of insertion.
    package var order = ""
    /// Paths separated by commas; empty for all attributes and relationships.
    package var columns = ""

    package init(entity: String) { self.entity = entity }
}

/// A column of a page.
package struct InspectedColumn: Sendable {
    /// The path as a predicate or an order writes it.
    package let path: String
    package let name: String
    package let isNumeric: Bool
    /// The slot that it shows, of a column that shows a property of the record itself.
    package let slot: RecordLayout.Slot?
    /// Whether a page can be sorted by it.
    package let isSortable: Bool
}

/// A record that a value leads to, with what tells people which one it is.
package struct InspectedReference: Sendable {
    package let record: PersistentIdentifier
    package let key: String
    package let title: String
}

/// A value of a record, and the records that it leads to.
package struct InspectedValue: Sendable {
    package let value: StoredValue
    /// The first of them.
    package let references: [InspectedReference]
    /// How many records it leads to.
    package let count: Int

    init(_ value: StoredValue, _ references: [InspectedReference] = [], count: Int = 0) {
        self.value = value
        self.references = references
        self.count = count
    }
}

/// A query in Swift.
package enum InspectedSource: Sendable, Hashable {
    case none
    case code(String)
    /// Swift cannot say it, or only the models know how: what of it, in a few words.
    case unwritable(String)
}

/// Records of one page.
package struct InspectedPage: Sendable {
    package struct Row: Sendable {
        package let record: PersistentIdentifier
        package let key: String
        package let values: [InspectedValue]
    }

    package var columns: [InspectedColumn] = []
    package var rows: [Row] = []
    /// How many records match in all.
    package var total = 0
    /// How many come before the first row.
    package var offset = 0
    package var hasMore = false
    /// Whether the record after which the page was to begin is gone, so that it begins where that was.
    package var lostItsPlace = false
    package var explanation: FetchExplanation?
    package var suggestion: String?
    package var seconds = 0.0
    package var source = InspectedSource.none
}
#endif
