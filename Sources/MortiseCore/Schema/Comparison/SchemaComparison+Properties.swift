extension SchemaComparison {
    /// A property of the records of one entity in both versions.
    struct Pair {
        let entity: String
        let before: RecordLayout.Slot
        let after: RecordLayout.Slot
        /// The old entity.
        let source: String

        func change(
            _ kind: SchemaChange.Kind, _ changeClass: SchemaChange.Class, _ detail: String, _ effect: String,
            wayOut: String? = nil, counting condition: SchemaChange.Measure.Condition? = nil
        ) -> SchemaChange {
            SchemaChange(
                kind, changeClass, entity: after.declaringEntity, property: after.name,
                origin: before.name == after.name ? nil : before.name, detail, effect, wayOut: wayOut,
                measure: condition.map { .init($0, [source], [before.name]) })
        }
    }

    mutating func compareProperties(of entity: String) {
        guard let layout = newLayouts[entity], let origins = origins[entity], let source = counterparts[entity],
            let old = oldLayouts[source]
        else { return }
        var takers: [Int: Int] = [:]
        for origin in origins.compactMap(\.self) { takers[origin, default: 0] += 1 }
        for (slot, origin) in zip(layout.slots, origins) {
            guard let origin else {
                addNew(slot, in: old, source: source)
                continue
            }
            let pair = Pair(entity: entity, before: old.slots[origin], after: slot, source: source)
            compareNames(pair, isShared: (takers[origin] ?? 0) > 1)
            compareContents(pair)
        }
        for (place, slot) in old.slots.enumerated() where takers[place] == nil {
            // Another of that name may have taken its place.
            if slot.property.attribute?.options.contains(.ephemeral) == true, layout.slot(named: slot.name) != nil {
                continue
            }
            let isDerived = slot.role == .toManyDerived
            add(
                SchemaChange(
                    .propertyDropped, isDerived ? .metadata : .mapped, entity: slot.declaringEntity,
                    property: slot.name, "dropped",
                    isDerived
                        ? "the other side keeps its links"
                        : "values are dropped; the store is copied before",
                    measure: isDerived ? nil : .init(.hasValue, [source], [slot.name])))
        }
    }

    private mutating func addNew(_ slot: RecordLayout.Slot, in old: RecordLayout, source: String) {
        let property = slot.property
        let isEphemeral = property.attribute?.options.contains(.ephemeral) == true
        let wasEphemeral = old.slot(named: slot.name).map {
            old.slots[$0].property.attribute?.options.contains(.ephemeral) == true
        }
        let kind: SchemaChange.Kind =
            wasEphemeral == true ? .madeStored : property.attribute == nil ? .relationshipAdded : .attributeAdded
        let what = property.words
        func change(
            _ changeClass: SchemaChange.Class, _ effect: String, wayOut: String? = nil,
            measure: SchemaChange.Measure? = nil
        ) -> SchemaChange {
            SchemaChange(
                kind, changeClass, entity: slot.declaringEntity, property: slot.name, "new: \(what)", effect,
                wayOut: wayOut,
                measure: measure)
        }
        if isEphemeral { return add(change(.metadata, "is not stored")) }
        if slot.role.isToMany { return add(change(.mapped, "begins without members")) }
        if let value = property.attribute?.defaultValue, !value.isNull {
            return add(change(.mapped, "records take the default, the same for all"))
        }
        if property.isOptional { return add(change(.mapped, "records have no value")) }
        let subject = "\(slot.declaringEntity).\(slot.name)"
        add(
            change(
                .refused, "refused if there are records, which would have no value",
                wayOut: property.attribute == nil
                    ? "make it optional, or set it in a stage with code"
                    : "give it a default, make it optional, or fill it in a stage: .filling(\"\(subject)\", with: …)",
                measure: .init(.all, [source])))
    }

    private mutating func compareNames(_ pair: Pair, isShared: Bool) {
        if pair.before.name != pair.after.name {
            add(
                isShared
                    ? pair.change(
                        .propertyCopied, .mapped, "takes the values of \(pair.before.name), as another does",
                        "both have the values")
                    : pair.change(
                        .propertyRenamed, .mapped, "\(pair.before.name) is \(pair.after.name)",
                        "values, indexes and constraints follow"))
        } else if pair.before.property.originalName != pair.after.property.originalName {
            add(
                pair.change(
                    .originalNameChanged, .metadata,
                    "original name \(pair.before.property.originalName) is \(pair.after.property.originalName)",
                    "records stay as they are"))
        }
        let declared = counterparts[pair.after.declaringEntity] ?? pair.after.declaringEntity
        if declared != pair.before.declaringEntity {
            add(
                pair.change(
                    .propertyMoved, .mapped,
                    "declared by \(pair.after.declaringEntity), was declared by \(pair.before.declaringEntity)",
                    "records of \(pair.entity) keep their values"))
        }
    }

    private mutating func compareContents(_ pair: Pair) {
        let (before, after) = (pair.before.property, pair.after.property)
        if before.isOptional != after.isOptional { add(optionality(pair)) }
        switch (before.content, after.content) {
        case (.attribute(let a), .attribute(let b)): compare(a, b, pair)
        case (.relationship(let a), .relationship(let b)): compare(a, b, pair)
        default:
            add(
                pair.change(
                    .kindChanged, .refused, "\(before.words) is \(after.words)",
                    "refused: an attribute does not become a relationship, nor the other way round",
                    wayOut: "give it another name, and set it in a stage with code", counting: .hasValue))
        }
        let (then, now) = (
            old.details(of: before.name, in: pair.before.declaringEntity),
            new.details(of: after.name, in: pair.after.declaringEntity)
        )
        compare(then, now, pair)
    }

    private func optionality(_ pair: Pair) -> SchemaChange {
        let after = pair.after.property
        if pair.after.role.isToMany {
            return pair.change(
                after.isOptional ? .madeOptional : .madeRequired, .metadata,
                after.isOptional ? "required is optional" : "optional is required", "no list is an empty one")
        }
        if after.isOptional {
            return pair.change(.madeOptional, .mapped, "required is optional", "records keep their values")
        }
        if after.attribute?.options.contains(.ephemeral) == true {
            return pair.change(.madeRequired, .metadata, "optional is required", "is not stored")
        }
        if let value = after.attribute?.defaultValue, !value.isNull {
            return pair.change(
                .madeRequired, .mapped, "optional is required", "records without a value take the default",
                counting: .hasNone)
        }
        let subject = "\(pair.after.declaringEntity).\(pair.after.name)"
        return pair.change(
            .madeRequired, .refused, "optional is required", "refused if a record has no value",
            wayOut: after.attribute == nil
                ? "leave it optional, or set it in a stage with code"
                : "give it a default, or fill it in a stage: .filling(\"\(subject)\", with: …)", counting: .hasNone)
    }

    private mutating func compare(
        _ then: SchemaDocument.PropertyDetails, _ now: SchemaDocument.PropertyDetails, _ pair: Pair
    ) {
        let subject = "\(pair.after.declaringEntity).\(pair.after.name)"
        if then.transformer != now.transformer {
            add(
                pair.change(
                    .transformerChanged, .refused,
                    "transformer \(then.transformer ?? "none") is \(now.transformer ?? "none")",
                    "values stay as the old transformer wrote them; a plan with classes refuses those that the new one cannot read",
                    wayOut: "convert the values in a stage: .converting(\"\(subject)\", .value { … })",
                    counting: .hasValue))
        }
        if then.isCodable != now.isCodable {
            add(
                pair.change(
                    .codableChanged, .rewritten, now.isCodable ? "stored as Codable" : "no longer stored as Codable",
                    "values have another form", counting: .hasValue))
        }
        if then.members != now.members {
            add(pair.change(.membersChanged, .mapped, "other members", "trees stay as they are", counting: .hasValue))
        }
        if then.allowedValues != now.allowedValues, !now.allowedValues.isEmpty {
            let removed = Set(then.allowedValues).subtracting(now.allowedValues)
            add(
                removed.isEmpty && !then.allowedValues.isEmpty
                    ? pair.change(.valueAdded, .metadata, "more values are allowed", "records stay as they are")
                    : pair.change(
                        .valueRemoved, .refused,
                        then.allowedValues.isEmpty
                            ? "only some values are allowed" : "\(removed.count) values are not allowed any more",
                        "is not noticed: a record that has another value cannot be read as its type",
                        wayOut: "replace them in a stage: .converting(\"\(subject)\", .rawValues([\"old\": \"new\"]))",
                        counting: .isNoneOf(now.allowedValues)))
        }
        var details: [String] = []
        if then.swiftType != now.swiftType { details.append("Swift type") }
        if then.documentation != now.documentation { details.append("documentation") }
        if then.isKeptHere != now.isKeptHere { details.append("side that keeps the links") }
        if then.isOrdered != now.isOrdered { details.append("order of members") }
        if then.hashModifier != now.hashModifier { details.append("modifier") }
        if !then.allowedValues.isEmpty, now.allowedValues.isEmpty { details.append("list of allowed values") }
        if !details.isEmpty {
            add(
                pair.change(
                    .detailsChanged, .metadata, "another " + details.joined(separator: ", "),
                    "records stay as they are"))
        }
    }
}

extension StoredProperty {
    /// The property's type in words: `optional double`, `to-many Trip`.
    package var words: String {
        let type =
            switch content {
            case .attribute(let attribute): attribute.kind.rawValue
            case .relationship(let relationship):
                (relationship.isToMany ? "to-many " : "to-one ") + relationship.destination
            }
        return (isOptional ? "optional " : "") + type
    }
}
