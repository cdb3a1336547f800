import MortiseCore

/// What an engine knows of one entity's tables, computed once.
final class TablePlan: Sendable {
    let layout: RecordLayout
    /// The entity's place in the schema.
    let number: Int
    let identifiers: IdentifierNamespace
    let columns: [Column]
    /// Those of the columns, for new chunks.
    let forms: [ColumnForm]
    /// By slot, the identifiers of each entity that a to-one property may lead to.
    let targets: [[IdentifierNamespace]]
    let indexes: [IndexDefinition]
    /// For each index, what a plan says that looks up all its properties.
    let equalityTexts: [String]
    /// By slot, the index of the attribute alone, or else one that begins with it.
    let indexOfSlot: [Int?]
    /// How many sets of links the tables have: one for each slot, then those of relationships that no property shows.
    let linkCount: Int
    /// Where external data are; nil if the store has no such place.
    let external: ExternalFiles?
    /// Whether any column may have such data, and whether new ones go there.
    let hasData: Bool
    let storesExternally: Bool
    /// The slots of coded values.
    let codedSlots: [Int]

    init(
        layout: RecordLayout, number: Int, identifiers: IdentifierNamespace, columns: [Column],
        targets: [[IdentifierNamespace]], indexes: [IndexDefinition], linkCount: Int,
        external: ExternalFiles?
    ) {
        self.external = external
        storesExternally = columns.contains(where: \.storesExternally)
        codedSlots = columns.filter { $0.kind == .coded && $0.form == .bytes }.map(\.slot)
        hasData = columns.contains { $0.kind == .data && $0.form == .bytes }
        self.layout = layout
        self.number = number
        self.identifiers = identifiers
        self.columns = columns
        forms = columns.map(\.form)
        self.targets = targets
        self.indexes = indexes
        indexOfSlot = layout.slots.indices.map { slot in
            indexes.firstIndex { $0.components.count == 1 && $0.components[0].slot == slot }
                ?? indexes.firstIndex { $0.components.first?.slot == slot }
        }
        equalityTexts = AccessPath.equalityTexts(layout, indexes)
        self.linkCount = linkCount
    }

    var entityName: String { layout.entityName }
}

/// An index that the tables of an entity have.
struct IndexDefinition: Sendable, Hashable {
    let components: [KeyComponent]
    /// The entities among whose records the values are unique, by number; empty where they need not be.
    var family: [Int]
    /// The number of the uniqueness constraint in the entity's layout.
    var constraint: Int?

    var slots: [Int] { components.map(\.slot) }
    var isWide: Bool { components.count > 1 || components.contains(where: \.isLong) }
}
