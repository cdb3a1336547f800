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

    /// The plan of a store, which shares what does not depend on the store with others of its schema.
    init(
        _ shape: TableShape, number: Int, identifiers: IdentifierNamespace, targets: [[IdentifierNamespace]],
        external: ExternalFiles?
    ) {
        self.number = number
        self.identifiers = identifiers
        self.targets = targets
        self.external = external
        layout = shape.layout
        columns = shape.columns
        forms = shape.forms
        indexes = shape.indexes
        equalityTexts = shape.equalityTexts
        indexOfSlot = shape.indexOfSlot
        linkCount = shape.linkCount
        hasData = shape.hasData
        storesExternally = shape.storesExternally
        codedSlots = shape.codedSlots
    }

    var entityName: String { layout.entityName }
}

/// What the plans of an entity's tables have in common in all stores of a schema; `TablePlan` says what its parts are.
final class TableShape: Sendable {
    let layout: RecordLayout
    let columns: [Column]
    let forms: [ColumnForm]
    /// By slot, the number of the entity to which a relationship leads.
    let destinations: [Int?]
    let indexes: [IndexDefinition]
    let equalityTexts: [String]
    let indexOfSlot: [Int?]
    let linkCount: Int
    let hasData: Bool
    let storesExternally: Bool
    let codedSlots: [Int]

    init(
        layout: RecordLayout, columns: [Column], destinations: [Int?], indexes: [IndexDefinition], linkCount: Int
    ) {
        storesExternally = columns.contains(where: \.storesExternally)
        codedSlots = columns.filter { $0.kind == .coded && $0.form == .bytes }.map(\.slot)
        hasData = columns.contains { $0.kind == .data && $0.form == .bytes }
        self.layout = layout
        self.columns = columns
        self.destinations = destinations
        forms = columns.map(\.form)
        self.indexes = indexes
        indexOfSlot = layout.slots.indices.map { slot in
            indexes.firstIndex { $0.components.count == 1 && $0.components[0].slot == slot }
                ?? indexes.firstIndex { $0.components.first?.slot == slot }
        }
        equalityTexts = AccessPath.equalityTexts(layout, indexes)
        self.linkCount = linkCount
    }
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
