/// One difference between two versions of a schema, and what it means to records.
public struct SchemaChange: Hashable, Sendable {
    /// What a difference asks of a store.
    public enum Class: String, Hashable, Sendable, CaseIterable {
        /// Records stay as they are.
        case metadata = "0"
        /// Records are read by the new schema; their values are not written again.
        case mapped = "M"
        /// An index is built or a constraint is checked.
        case indexed = "I"
        /// Values or links are written again.
        case rewritten = "W"
        /// Lightweight migration refuses it, or would lose what it is about: a stage of a migration plan is needed.
        case refused = "X"
    }

    /// What has changed.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The schema has another version.
        case versionChanged
        /// An entity has come, gone, or has another name.
        case entityAdded, entityDropped, entityRenamed
        /// An entity inherits from another one.
        case superentityChanged
        /// A modifier, reserved names or another detail of an entity.
        case entityDetailsChanged
        /// Properties, constraints or indexes come in another order.
        case orderChanged
        /// A property has come or gone.
        case attributeAdded, relationshipAdded, propertyDropped
        /// A property has another name, takes the values of one that another takes too, or is declared by another entity.
        case propertyRenamed, propertyCopied, propertyMoved
        /// An attribute has another kind of value, or an attribute is a relationship or the other way round.
        case typeChanged, kindChanged
        /// A property has to have a value now, or need not have one any more.
        case madeRequired, madeOptional
        /// A relationship is to-many and was to-one or the other way round, leads to another entity, or has another inverse.
        case cardinalityChanged, destinationChanged, inverseChanged
        /// The links of a to-many relationship are kept on the other side.
        case keptSideChanged
        /// A relationship has another delete rule, or other limits for the number of members.
        case deleteRuleChanged, countsChanged
        /// A constraint or an index has come or gone.
        case uniqueAdded, uniqueRemoved, indexAdded, indexRemoved
        /// An attribute has another default value, is not stored any more, or is stored now.
        case defaultChanged, madeEphemeral, madeStored
        /// Other options of a property.
        case optionsChanged
        /// The stored form of values: by another transformer, or as `Codable`.
        case transformerChanged, codableChanged
        /// Another hash modifier, or another original name without a rename.
        case modifierChanged, originalNameChanged
        /// Other members of a coded attribute.
        case membersChanged
        /// The values that an attribute can have are fewer, or more.
        case valueRemoved, valueAdded
        /// The Swift type, documentation or another detail of a property.
        case detailsChanged
    }

    /// Which records of a store of the old schema a change is about. Names are those of the old schema.
    public struct Measure: Hashable, Sendable {
        /// What counts.
        public enum Condition: Hashable, Sendable {
            /// Every record.
            case all
            /// The property has a value, or members.
            case hasValue
            /// The property has no value.
            case hasNone
            /// The property has another value than these.
            case isNoneOf([StoredValue])
            /// Another record has the same values, none of them nil.
            case isDuplicate
        }
        /// The entities whose own records count, without those that inherit from them.
        public var entities: [String]
        /// The properties.
        public var properties: [String]
        /// What counts.
        public var condition: Condition

        init(_ condition: Condition, _ entities: [String], _ properties: [String] = []) {
            self.entities = entities
            self.properties = properties
            self.condition = condition
        }
    }

    /// What has changed.
    public internal(set) var kind: Kind
    /// The class, by the schemas alone; with the number of records once they are counted.
    public internal(set) var changeClass: Class
    /// The entity that it is about, by its new name, or by its old one if it is dropped; nil for the schema as a whole.
    public internal(set) var entity: String?
    /// The property, by its new name, or by its old one if it is dropped.
    public internal(set) var property: String?
    /// The old name of what was renamed or moved.
    public internal(set) var origin: String?
    /// What was and what is, in words.
    public internal(set) var detail: String
    /// What lightweight migration does.
    public internal(set) var effect: String
    /// What to do where lightweight migration does not do it; nil otherwise.
    public internal(set) var wayOut: String?
    /// Which records it is about; nil where it is about none.
    public internal(set) var measure: Measure?
    /// How many these are; nil until they are counted.
    public private(set) var records: Int?

    init(
        _ kind: Kind, _ changeClass: Class, entity: String? = nil, property: String? = nil, origin: String? = nil,
        _ detail: String, _ effect: String, wayOut: String? = nil, measure: Measure? = nil
    ) {
        self.kind = kind
        self.changeClass = changeClass
        self.entity = entity
        self.property = property
        self.origin = origin
        self.detail = detail
        self.effect = effect
        self.wayOut = wayOut
        self.measure = measure
    }

    /// Where it is: `Trip.cost`, `Trip`, or `schema`.
    public var subject: String { [entity, property].compactMap(\.self).joined(separator: ".").ifEmpty("schema") }

    /// Whether records are what decides: without any, nothing is refused.
    private var dependsOnRecords: Bool {
        switch kind {
        case .attributeAdded, .relationshipAdded, .madeStored, .madeRequired, .valueRemoved, .entityDropped: true
        default: false
        }
    }

    /// The change once its records are counted, which may show that nothing is in the way, or that something is.
    public func counted(_ records: Int) -> SchemaChange {
        var change = self
        change.records = records
        if changeClass == .refused, dependsOnRecords, records == 0 {
            change.changeClass = kind == .valueRemoved ? .metadata : .mapped
            change.effect = "no record is in the way"
            change.wayOut = nil
        }
        if kind == .uniqueAdded {
            change.changeClass = records > 0 ? .refused : .indexed
            if records > 0 { change.effect = "refused: records have the same values" } else { change.wayOut = nil }
        }
        return change
    }
}

extension String {
    fileprivate func ifEmpty(_ other: String) -> String { isEmpty ? other : self }
}
