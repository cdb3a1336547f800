// MARK: - Attributes

extension SchemaComparison {
    mutating func compare(_ a: StoredAttribute, _ b: StoredAttribute, _ pair: Pair) {
        if a.kind != b.kind { add(typeChange(a.kind, b.kind, pair)) }
        if a.defaultValue != b.defaultValue {
            add(
                pair.change(
                    .defaultChanged, .metadata, "another default value",
                    "records keep their values"))
        }
        if a.hashModifier != b.hashModifier {
            add(
                pair.change(
                    .modifierChanged, .metadata,
                    "modifier \(a.hashModifier ?? "none") is \(b.hashModifier ?? "none")",
                    "the storage differs, values stay"))
        }
        let changed = a.options.symmetricDifference(b.options)
        if changed.contains(.ephemeral) {
            add(
                pair.change(
                    .madeEphemeral, .mapped, "stored is ephemeral", "values are dropped; the store is copied before",
                    counting: .hasValue))
        }
        if changed.contains(.transformable) {
            add(
                pair.change(
                    .transformerChanged, .refused,
                    b.options.contains(.transformable) ? "made transformable" : "no longer transformable",
                    "is not noticed: values stay as they were written",
                    wayOut:
                        "convert the values in a stage: .converting(\"\(pair.after.declaringEntity).\(pair.after.name)\", "
                        + ".value { … })", counting: .hasValue))
        }
        // What is unique is said of the constraint.
        let others = SchemaWords.options.filter {
            changed.contains($0.option) && ![.ephemeral, .transformable, .unique].contains($0.option)
        }
        if !others.isEmpty {
            let words = others.map { (b.options.contains($0.option) ? "with " : "without ") + $0.word }
            add(
                pair.change(
                    .optionsChanged, .metadata, words.joined(separator: ", "),
                    "values stay as they are until they are set"))
        }
    }

    private func typeChange(_ a: StorageKind, _ b: StorageKind, _ pair: Pair) -> SchemaChange {
        let subject = "\"\(pair.after.declaringEntity).\(pair.after.name)\""
        let wayOut =
            if a.widens(to: b) {
                "convert it in a stage, which no value fails: .converting(\(subject), .exactly)"
            } else if a.isNumber && b.isNumber {
                "convert it in a stage: .converting(\(subject), .exactly), or .rounding, .clamping, .nilIfNot, .orDefault"
            } else if a.hasText && b == .string || a == .string && b.hasText || a.isNumber && b == .date
                || a == .date && b.isNumber || a == .bool && b.isNumber || a.isNumber && b == .bool
            {
                "convert it in a stage: .converting(\(subject), .exactly), or .nilIfNot, .orDefault"
            } else {
                "convert it in a stage with code: .converting(\(subject), .value { … }), or give it another name"
            }
        return pair.change(
            .typeChanged, .refused, "\(a.rawValue) is \(b.rawValue)", "refused: the kind of value has changed",
            wayOut: wayOut, counting: .hasValue)
    }
}

extension StorageKind {
    /// Bits of an integer, and whether it has a sign; nil for others.
    private var integer: (bits: Int, isSigned: Bool)? {
        switch self {
        case .int8: (8, true)
        case .int16: (16, true)
        case .int32: (32, true)
        case .int64: (64, true)
        case .uint8: (8, false)
        case .uint16: (16, false)
        case .uint32: (32, false)
        case .uint64: (64, false)
        default: nil
        }
    }

    package var isNumber: Bool { integer != nil || [.float, .double, .decimal].contains(self) }
    fileprivate var hasText: Bool { isNumber || [.bool, .date, .uuid, .url, .data].contains(self) }

    /// Whether the other kind has every value of this one.
    package func widens(to other: StorageKind) -> Bool {
        switch (self, other) {
        case (.float, .double): return true
        case (_, .decimal): return integer != nil
        case (_, .float), (_, .double):
            guard let integer else { return false }
            let bits = integer.isSigned ? integer.bits - 1 : integer.bits
            return bits <= (other == .float ? 24 : 53)
        default:
            guard let a = integer, let b = other.integer, self != other else { return false }
            if a.isSigned == b.isSigned { return a.bits < b.bits }
            return b.isSigned && a.bits < b.bits
        }
    }
}

// MARK: - Relationships

extension SchemaComparison {
    mutating func compare(_ a: StoredRelationship, _ b: StoredRelationship, _ pair: Pair) {
        let anew = "give it another name, and set it in a stage with code"
        if b.isToMany, isWidened(pair) {
            add(
                pair.change(
                    .cardinalityChanged, .rewritten, "to-one is to-many", "the record that it led to is its one member")
            )
        } else if a.isToMany != b.isToMany {
            add(
                pair.change(
                    .cardinalityChanged, .refused, a.isToMany ? "to-many is to-one" : "to-one is to-many",
                    "refused: links of one record do not become those of another number", wayOut: anew,
                    counting: .hasValue))
        } else if pair.before.role != pair.after.role {
            let isTakenOver =
                pair.before.role == .toManyDerived || isHandedOver(pair)
            add(
                pair.change(
                    .keptSideChanged, isTakenOver ? .rewritten : .refused,
                    pair.after.role == .toManyStored
                        ? "links are kept on this side" : "links are kept on the other side",
                    isTakenOver
                        ? "the links move, and are united with those that the other side has"
                        : "refused: the other side does not take the links over",
                    wayOut: isTakenOver ? nil : anew))
        }
        if currentName(a.destination) != b.destination {
            let isWider = new.schema.subtree(of: b.destination).contains(currentName(a.destination))
            add(
                isWider
                    ? pair.change(
                        .destinationChanged, .mapped, "led to \(a.destination), leads to \(b.destination)",
                        "links stay: \(b.destination) includes \(currentName(a.destination))")
                    : pair.change(
                        .destinationChanged, .refused, "led to \(a.destination), leads to \(b.destination)",
                        "refused: the relationship leads to another entity", wayOut: anew, counting: .hasValue))
        }
        if a.inverse != b.inverse {
            let isPair = pair.after.role == .toOne && b.inverse != nil && inverse(of: pair.after)?.slot.role == .toOne
            add(
                pair.change(
                    .inverseChanged, isPair ? .rewritten : .mapped,
                    "inverse \(a.inverse ?? "none") is \(b.inverse ?? "none")",
                    isPair
                        ? "references back are set; refused if a record would have several partners"
                        : "the side that keeps the links keeps them"))
        }
        if a.deleteRule != b.deleteRule {
            add(
                pair.change(
                    .deleteRuleChanged, .metadata,
                    "\(SchemaWords.word(for: a.deleteRule)) is \(SchemaWords.word(for: b.deleteRule))",
                    "holds from now on"))
        }
        if a.minimumCount != b.minimumCount || a.maximumCount != b.maximumCount {
            let words = { (relationship: StoredRelationship) in
                "\(relationship.minimumCount.map { "\($0)" } ?? "any") to "
                    + (relationship.maximumCount.map { "\($0)" } ?? "any")
            }
            add(
                pair.change(
                    .countsChanged, .metadata, "\(words(a)) members is \(words(b))", "holds from a record's next save"))
        }
        if a.isUnique != b.isUnique {
            add(
                pair.change(
                    .optionsChanged, .metadata, b.isUnique ? "unique" : "no longer unique",
                    "holds from a record's next save"))
        }
    }

    /// The other side of a relationship in the new schema, with the old slot that it comes from.
    private func inverse(of slot: RecordLayout.Slot) -> (slot: RecordLayout.Slot, origin: RecordLayout.Slot?)? {
        guard let relationship = slot.property.relationship, let name = relationship.inverse,
            let layout = newLayouts[relationship.destination], let place = layout.slot(named: name)
        else { return nil }
        // An entity that is new has the origins of its nearest ancestor that is not.
        var next: String? = relationship.destination
        var seen: Set<String> = []
        while let entity = next, seen.insert(entity).inserted {
            if let origins = origins[entity], let before = counterparts[entity].flatMap({ oldLayouts[$0] }) {
                guard place < origins.count else { break }
                return (layout.slots[place], origins[place].map { before.slots[$0] })
            }
            next = newLayouts[entity]?.superentityName
            guard let parent = next.flatMap({ newLayouts[$0] }), place < parent.slots.count else { break }
        }
        return (layout.slots[place], nil)
    }

    /// Whether the other side takes over the links that this one has kept. If it kept links of its own, because neither was the
    /// other's inverse, it has all of them then.
    private func isHandedOver(_ pair: Pair) -> Bool {
        guard pair.before.role == .toManyStored, pair.after.role == .toManyDerived,
            (pair.before.property.relationship?.destination).map(currentName)
                == pair.after.property.relationship?.destination,
            let other = inverse(of: pair.after), other.slot.role == .toManyStored
        else { return false }
        guard let origin = other.origin else { return true }
        switch origin.role {
        case .toOne, .toManyStored: return true
        case .toManyDerived: return origin.name == pair.before.property.relationship?.inverse
        case .attribute: return false
        }
    }

    /// Whether a to-one relationship becomes one to many that has the record it led to: on the side that keeps the links, or on the
    /// other, where that one has the same links or takes them over.
    private func isWidened(_ pair: Pair) -> Bool {
        guard pair.before.role == .toOne else { return false }
        if pair.after.role == .toManyStored { return true }
        guard pair.after.role == .toManyDerived,
            (pair.before.property.relationship?.destination).map(currentName)
                == pair.after.property.relationship?.destination,
            let other = inverse(of: pair.after)
        else { return false }
        guard let origin = other.origin else { return other.slot.role == .toManyStored }
        switch (other.slot.role, origin.role) {
        case (.toManyStored, .toOne), (.toManyStored, .toManyStored): return true
        case (.toManyStored, .toManyDerived): return origin.name == pair.before.property.relationship?.inverse
        case (.toOne, .toOne):
            return origin.name == pair.before.property.relationship?.inverse
                && origin.property.relationship?.inverse == pair.before.name
        default: return false
        }
    }
}

// MARK: - Constraints and indexes

extension SchemaComparison {
    mutating func compareConstraints(of entity: StoredEntity) {
        guard let source = counterparts[entity.name], let before = oldEntities[source],
            let layout = newLayouts[entity.name], let origins = origins[entity.name], let old = oldLayouts[source]
        else { return }
        // By name of the new property.
        let former = Dictionary(
            zip(layout.slots, origins).compactMap { slot, origin in origin.map { (slot.name, old.slots[$0].name) } },
            uniquingKeysWith: { first, _ in first })
        let current = Dictionary(former.map { ($1, $0) }, uniquingKeysWith: { min($0, $1) })
        let renamed = { (names: [String]) in names.map { current[$0] ?? $0 } }
        let constraints = Set(before.uniquenessConstraints.map { Set(renamed($0)) })
        var seen = constraints
        for names in entity.uniquenessConstraints where seen.insert(Set(names)).inserted {
            let list = names.joined(separator: ", ")
            let known = names.compactMap { former[$0] }
            // What is new and has no value is no duplicate.
            let hasNil = names.contains { name in
                former[name] == nil
                    && layout.slot(named: name).map { slot in
                        layout.slots[slot].property.attribute?.defaultValue?.isNull ?? true
                    } ?? true
            }
            let entities = self.old.schema.subtree(of: source)
            add(
                SchemaChange(
                    .uniqueAdded, .indexed, entity: entity.name, "unique: \(list)",
                    "the constraint is checked; refused if records have the same values",
                    wayOut: "say which record stays, in a stage: duplicates: [.keep(.first, on: \"\(entity.name)\", "
                        + "[\(names.map { "\"\($0)\"" }.joined(separator: ", "))])]",
                    measure: hasNil ? nil : .init(.isDuplicate, entities, known)))
        }
        let now = Set(entity.uniquenessConstraints.map(Set.init))
        for names in constraints.subtracting(now).map({ $0.sorted() }).sorted(by: { $0.lexicographicallyPrecedes($1) })
        {
            add(
                SchemaChange(
                    .uniqueRemoved, .metadata, entity: entity.name,
                    "no longer unique: \(names.joined(separator: ", "))",
                    "records stay as they are"))
        }
        let renamedIndices = before.indices.map { StoredIndex(kind: $0.kind, properties: renamed($0.properties)) }
        let renamedConstraints = before.uniquenessConstraints.map(renamed)
        let isReordered =
            renamedIndices != entity.indices && Set(renamedIndices) == Set(entity.indices)
            || renamedConstraints != entity.uniquenessConstraints && constraints == now
        if isReordered {
            add(
                SchemaChange(
                    .orderChanged, .metadata, entity: entity.name, "constraints or indexes in another order",
                    "records stay as they are"))
        }
        let indices = Set(renamedIndices)
        for index in entity.indices where !indices.contains(index) {
            add(
                SchemaChange(
                    .indexAdded, .indexed, entity: entity.name, "index: \(index.properties.joined(separator: ", "))",
                    "the index is built"))
        }
        for index in indices.subtracting(entity.indices)
            .sorted(by: { $0.properties.lexicographicallyPrecedes($1.properties) })
        {
            add(
                SchemaChange(
                    .indexRemoved, .metadata, entity: entity.name,
                    "no index: \(index.properties.joined(separator: ", "))",
                    "records stay as they are"))
        }
    }
}
