/// How records come from one version of a schema to the next where the schemas alone do not say it: which properties are renamed
/// or change their type, and which values new ones begin with.
///
/// Properties are named as in the new schema, `"Trip.cost"`, with the entity that declares them. A rule may name each property once.
public struct MigrationMapping: Sendable {
    enum Rule: Sendable {
        case renaming(from: String)
        case converting(Conversion)
        case filling(@Sendable (StoredRecord) throws -> StoredValue)
        case fresh
    }

    /// Properties and entities of the old schema that may go.
    private(set) var dropped: Set<String> = []
    /// By name of the new property.
    private(set) var rules: [(property: String, rule: Rule)] = []

    /// What the schemas alone say, by names and original names.
    public static let inferred = MigrationMapping()

    private func adding(_ property: String, _ rule: Rule) -> Self {
        var mapping = self
        mapping.rules.append((property, rule))
        return mapping
    }

    /// Takes a property's values from the one that had another name in the old schema. Both have to store the same kind of value,
    /// unless a rule converts it too.
    public func renaming(_ property: String, from original: String) -> Self {
        adding(property, .renaming(from: original))
    }

    /// Takes a property's values from the one that it comes from, which stores another kind of value.
    public func converting(_ property: String, _ conversion: Conversion) -> Self {
        adding(property, .converting(conversion))
    }

    /// Gives a value to each record in which a property has none: a new property, or one that was optional.
    public func filling(_ property: String, with value: StoredValue) -> Self {
        adding(property, .filling({ _ in value }))
    }

    /// Gives a value to each record in which a property has none, made of the record as it was.
    public func filling(
        _ property: String, with value: @escaping @Sendable (_ record: StoredRecord) throws -> StoredValue
    ) -> Self {
        adding(property, .filling(value))
    }

    /// Has a property begin new, although the old schema has one of that name, or of its original name. A relationship begins without
    /// targets, and so does its inverse: code gives it some where they were a value before, or kept in another way.
    public func fresh(_ property: String) -> Self { adding(property, .fresh) }

    /// Says that a property of the old schema, `"Trip.note"`, or all records of an entity, `"Note"`, go with this stage. It changes
    /// nothing but what `MigrationOptions.LossPolicy.declared` takes.
    public func dropping(_ name: String) -> Self {
        var mapping = self
        mapping.dropped.insert(name)
        return mapping
    }

    /// How values of one kind become values of another.
    public struct Conversion: Sendable {
        enum Way: Sendable {
            case exactly
            case rounding
            case clamping
            case nilIfNot
            case orDefault
            case rawValues([String: String])
            case made(@Sendable (StoredRecord) throws -> StoredValue)
        }
        let way: Way
        /// Whether the old values can be had back from the new ones.
        var isLossless: Bool {
            switch way {
            case .exactly: true
            case .rawValues, .rounding, .clamping, .nilIfNot, .orDefault, .made: false
            }
        }

        /// Values that the new kind can have exactly: numbers of other sizes and kinds, numbers, dates, identifiers and URLs as
        /// text and back. If a record has another, the migration fails and says how many do.
        ///
        /// Numbers as text are in plain notation with a point, dates in ISO 8601 in UTC, or numbers of seconds since 2001.
        public static let exactly = Conversion(way: .exactly)
        /// As `exactly`, and numbers are rounded to the nearest that the new kind has, to even ones at the middle.
        public static let rounding = Conversion(way: .rounding)
        /// As `rounding`, and numbers beyond the new kind's become its least or greatest.
        public static let clamping = Conversion(way: .clamping)
        /// As `exactly`, and other values become nil.
        public static let nilIfNot = Conversion(way: .nilIfNot)
        /// As `exactly`, and other values become the new property's default.
        public static let orDefault = Conversion(way: .orDefault)
        /// Texts, such as the raw values of an enum, by a table; those that it lacks stay.
        public static func rawValues(_ table: [String: String]) -> Conversion { Conversion(way: .rawValues(table)) }
        /// Values that a closure makes of the record as it was.
        public static func value(
            _ make: @escaping @Sendable (_ record: StoredRecord) throws -> StoredValue
        ) -> Conversion { Conversion(way: .made(make)) }
    }
}

/// What becomes of records that would have the same unique values in the next version.
///
/// References to records that go lead to the one that stays, and their to-many relationships are united with its.
public struct DuplicateRule: Sendable {
    /// Which record of several stays.
    public enum Keep: Sendable {
        /// The one that was inserted first.
        case first
        /// The one that was inserted last.
        case last
        /// None: the migration fails and says which there are.
        case report
    }

    let entity: String
    let properties: [String]
    let keep: Keep
    let merge: (@Sendable (_ survivor: StoredRecord, _ other: StoredRecord) throws -> [String: StoredValue])?

    /// Keeps one record of each group of those that have the same values, none of them nil.
    /// - Parameters:
    ///   - keep: which one.
    ///   - entity: the entity that has the constraint, in the new schema. Those that inherit from it belong to it.
    ///   - properties: the constraint's properties, attributes of that entity in the new schema.
    /// - Returns: the rule.
    public static func keep(_ keep: Keep, on entity: String, _ properties: [String]) -> Self {
        Self(entity: entity, properties: properties, keep: keep, merge: nil)
    }

    /// Keeps the first record of each group, with values that a closure makes of it and of each of the others.
    public static func merge(
        on entity: String, _ properties: [String],
        _ merge: @escaping @Sendable (_ survivor: StoredRecord, _ other: StoredRecord) throws -> [String: StoredValue]
    ) -> Self {
        Self(entity: entity, properties: properties, keep: .first, merge: merge)
    }
}
