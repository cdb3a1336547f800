import MortiseCore

extension StoreFault {
    /// What records of a family of three classes and of several relationships between the same entities show.
    static let wideModelFaults: [StoreFault] = familyFaults + relationshipEndFaults

    private static func children(_ entity: String, _ schema: StoredSchema) -> Set<String> {
        Set([entity] + schema.entities.filter { $0.superentity == entity }.map(\.name))
    }

    private static func root(_ entity: String, _ schema: StoredSchema) -> String {
        var name = entity
        while let parent = schema.entity(named: name)?.superentity { name = parent }
        return name
    }

    /// A record with something done to the values of some slots.
    private static func mapping(
        _ record: DefaultSnapshot, _ change: (StoredValue, RecordLayout.Slot) -> StoredValue
    ) -> DefaultSnapshot {
        DefaultSnapshot(
            persistentIdentifier: record.persistentIdentifier, layout: record.layout,
            values: ContiguousArray(zip(record.values, record.layout.slots).map(change)))
    }

    private static let familyFaults: [StoreFault] = [
        StoreFault("no-grandchildren", "leaves out records two classes below the one that is asked for") { steps in
            steps.family = { children($0, $1) }
        },
        StoreFault(
            "no-grandchildren-in-queries", "leaves out records two classes below the one of a query", in: .planning
        ) { steps in
            steps.queryFamily = { query, schema in
                query.includesSubentities ? children(query.entity, schema) : [query.entity]
            }
        },
        StoreFault("middle-is-everything", "finds the whole family where a class in its middle is asked for") { steps in
            steps.family = { entity, schema in Set(schema.subtree(of: root(entity, schema))) }
        },
        StoreFault(
            "middle-is-everything-in-queries", "finds the whole family where a query is for a class in its middle",
            in: .planning
        ) { steps in
            steps.queryFamily = { query, schema in
                query.includesSubentities ? Set(schema.subtree(of: root(query.entity, schema))) : [query.entity]
            }
        },
        StoreFault("middle-without-its-own", "leaves out the own records of a class that has a superclass") { steps in
            steps.family = { entity, schema in
                let below = Set(schema.subtree(of: entity))
                return schema.entity(named: entity)?.superentity == nil || below.count == 1
                    ? below : below.subtracting([entity])
            }
        },
        StoreFault(
            "batch-of-one-step", "deletes a class and the classes right below it in a batch, and no others",
            in: .planning
        ) { steps in
            steps.batchFamily = { entity, includesSubentities, schema in
                includesSubentities ? children(entity, schema) : [entity]
            }
        },
        StoreFault(
            "batch-of-the-whole-family", "deletes the whole family in a batch for a class in its middle", in: .planning
        ) { steps in
            steps.batchFamily = { entity, includesSubentities, schema in
                includesSubentities ? Set(schema.subtree(of: root(entity, schema))) : [entity]
            }
        },
        StoreFault("window-per-entity", "takes the window of each entity of a family for itself", in: .planning) {
            steps in
            steps.cut = { _, count in 0..<count }
            steps.found = { found, plan in
                guard plan.appliesLimit, plan.query.isLimited else { return found }
                var counts: [Int: Int] = [:]
                let places = plan.query.offset..<(plan.query.limit.map { plan.query.offset.addingClamped($0) } ?? .max)
                return found.filter { row in
                    counts[row.table, default: -1] += 1
                    return places.contains(counts[row.table] ?? 0)
                }
            }
        },
        StoreFault(
            "condition-on-one-entity", "puts conditions on a family to the records of the class that is asked for",
            in: .planning
        ) { steps in
            let family = steps.queryFamily
            steps.queryFamily = { query, schema in query.conjuncts.isEmpty ? family(query, schema) : [query.entity] }
        },
        StoreFault("counts-one-entity", "counts the records of the class that is asked for alone", in: .planning) {
            steps in
            let family = steps.queryFamily
            steps.queryFamily = { query, schema in
                query.purpose == .count ? children(query.entity, schema) : family(query, schema)
            }
        },
        StoreFault(
            "types-one-step-up", "takes a record for one of a type only if that is its own or the one above",
            in: .planning
        ) { steps in
            steps.rewrite = { part in
                if case .isKind(let a, "Animal") = part { return part }
                guard case .isKind(let a, let name) = part, name == "Dog" else { return nil }
                return .and([.isKind(a, name), .not(.isKind(a, "Puppy"))])
            }
        },
        StoreFault("writes-own-columns", "writes those changes that the record's own class declares") { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                guard old.layout.superentityName != nil else { return merge(old, new, slots) }
                return mapping(merge(old, new, slots)) { value, slot in
                    slot.declaringEntity == old.layout.entityName ? value : old[property: slot.name] ?? value
                }
            }
        },
        StoreFault("writes-inherited-columns", "writes no changes that the last of three classes declares") { steps in
            let merge = steps.merge
            steps.merge = { old, new, slots in
                mapping(merge(old, new, slots)) { value, slot in
                    let isLast = slot.declaringEntity == old.layout.entityName && old.layout.superentityName != nil
                    return isLast ? old[property: slot.name] ?? value : value
                }
            }
        },
        StoreFault("loses-the-middle", "keeps no values of a class between the first and the record's own") { steps in
            let insert = steps.remapInserted
            steps.remapInserted = { record, identifier, remapped in
                mapping(insert(record, identifier, remapped)) { value, slot in
                    let layout = record.layout
                    let isMiddle =
                        slot.declaringEntity != layout.entityName && slot.declaringEntity == layout.superentityName
                        && layout.entityName == "Puppy"
                    guard isMiddle, slot.role == .attribute else { return value }
                    return slot.property.isOptional ? .null : .integer(0)
                }
            }
        },
        StoreFault("reopens-as-superclass", "reads records of the last of three classes as those of the one above") {
            steps in
            steps.open = { state in
                for (number, record) in state.records where record.persistentIdentifier.entityName == "Puppy" {
                    let layout = state.schema?.recordLayouts()["Dog"] ?? record.layout
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: .numbered(
                            number, storeIdentifier: record.persistentIdentifier.storeIdentifier ?? "",
                            entityName: layout.entityName),
                        layout: layout, values: ContiguousArray(record.values.prefix(layout.slots.count)))
                }
            }
        },
        StoreFault("deletes-no-grandchildren", "passes over the deletion of records two classes down") { steps in
            let delete = steps.delete
            steps.delete = { number, state in
                if state.records[number]?.layout.superentityName != "Dog" { delete(number, &state) }
            }
        },
        StoreFault("loses-relationships-of-subclasses", "keeps no relationships that a subclass declares") { steps in
            let keep = steps.keep
            steps.keep = { value, slot in
                switch slot.role {
                case .attribute: keep(value, slot)
                case _ where !["Dog", "Puppy"].contains(slot.declaringEntity): keep(value, slot)
                case .toOne: .null
                case .toManyStored, .toManyDerived: .identifiers([])
                }
            }
        },
    ]

    /// A store that hands out other members of derived relationships.
    private static func deriving(
        _ id: String, _ summary: String,
        _ owners: @escaping @Sendable (PersistentIdentifier, DerivedEnd, InverseIndex) -> [PersistentIdentifier]
    ) -> StoreFault {
        StoreFault(id, summary) { $0.owners = owners }
    }

    private static func renamed(_ target: PersistentIdentifier, _ entity: String) -> PersistentIdentifier {
        .numbered(
            target.sequenceNumber ?? 0, storeIdentifier: target.storeIdentifier ?? "", entityName: entity)
    }

    private static let relationshipEndFaults: [StoreFault] = [
        StoreFault(
            "target-of-the-declared-class", "hands out targets under the entity that a to-one relationship declares"
        ) { steps in
            steps.handOut = { record in
                mapping(record) { value, slot in
                    guard case .identifier(let target) = value, let declared = slot.property.relationship?.destination
                    else { return value }
                    return .identifier(renamed(target, declared))
                }
            }
        },
        StoreFault("members-of-the-declared-class", "hands out members under the entity that the relationship declares")
        {
            steps in
            steps.handOut = { record in
                mapping(record) { value, slot in
                    guard case .identifiers(let targets) = value,
                        let declared = slot.property.relationship?.destination
                    else { return value }
                    return .identifiers(targets.map { renamed($0, declared) })
                }
            }
        },
        StoreFault("members-of-the-declared-class-only", "loses members that are of a subclass of the declared one") {
            steps in
            let keep = steps.keep
            steps.keep = { value, slot in
                guard slot.role == .toManyStored, case .identifiers(let members) = keep(value, slot) else {
                    return keep(value, slot)
                }
                return .identifiers(members.filter { $0.entityName == slot.property.relationship?.destination })
            }
        },
        StoreFault("target-of-the-declared-class-only", "loses targets that are of a subclass of the declared one") {
            steps in
            let keep = steps.keep
            steps.keep = { value, slot in
                guard case .identifier(let target) = value,
                    target.entityName != slot.property.relationship?.destination
                else { return keep(value, slot) }
                return .null
            }
        },
        deriving("owners-without-subentities", "derives relationships from the records of the declared class alone") {
            target, end, index in
            index.owners(of: target, through: end.inverse).filter {
                $0.entityName == end.slot.property.relationship?.destination
            }
        },
        deriving("owners-by-destination", "derives relationships from every reference between the two entities") {
            target, end, index in
            index.owners(of: target).filter { end.owners.contains($0.entityName) }
        },
        deriving(
            "self-pairs-both-ways", "shows both sides of a relationship of an entity with itself on the second one"
        ) {
            target, end, index in
            let owners = index.owners(of: target, through: end.inverse).filter { end.owners.contains($0.entityName) }
            guard end.slot.role == .toManyDerived, end.owners == [target.entityName] else { return owners }
            return Set(owners + index.targets(of: target, through: end.inverse)).sorted()
        },
        deriving("self-pairs-one-way", "derives nothing from an entity's references to itself") { target, end, index in
            if end.owners.contains(target.entityName) { return [] }
            return index.owners(of: target, through: end.inverse).filter { end.owners.contains($0.entityName) }
        },
        StoreFault(
            "pairs-of-the-first", "keeps the pairs of two many-to-many relationships of an entity as those of one"
        ) {
            steps in
            steps.finish = { _, state in
                for (number, record) in state.records {
                    let stored = record.layout.slots.indices.filter { place in
                        let slot = record.layout.slots[place]
                        return slot.role == .toManyStored && slot.property.relationship?.destination == "Writer"
                    }
                    guard stored.count > 1 else { continue }
                    let all = Set(stored.flatMap { record.values[$0].targets }).sorted()
                    var values = record.values
                    for place in stored { values[place] = .identifiers(all) }
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
        StoreFault("lists-by-property", "keeps the pairs of all lists of one name in one table") { steps in
            steps.finish = { _, state in
                var counts: [String: Int] = [:]
                var owners: [(number: UInt64, place: Int, key: String)] = []
                var pairs: [String: Set<PersistentIdentifier>] = [:]
                for (number, record) in state.records.sorted(by: { $0.key < $1.key }) {
                    // As tables number their rows.
                    let row = counts[record.layout.entityName, default: 0]
                    counts[record.layout.entityName] = row + 1
                    for (place, slot) in record.layout.slots.enumerated() where slot.role == .toManyStored {
                        let key = "\(slot.name) \(row)"
                        owners.append((number, place, key))
                        pairs[key, default: []].formUnion(record.values[place].targets)
                    }
                }
                for (number, place, key) in owners {
                    guard let record = state.records[number] else { continue }
                    let destination = record.layout.slots[place].property.relationship?.destination
                    var values = record.values
                    values[place] = .identifiers((pairs[key] ?? []).filter { $0.entityName == destination }.sorted())
                    state.records[number] = DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                }
            }
        },
        StoreFault("own-inverse-one-way", "keeps one direction of a relationship that is its own inverse") { steps in
            let finish = steps.finish
            steps.finish = { before, state in
                try finish(before, &state)
                for (number, record) in state.records {
                    state.records[number] = mapping(record) { value, slot in
                        guard slot.property.relationship?.inverse == slot.name, case .identifiers(let members) = value
                        else { return value }
                        return .identifiers(members.filter { ($0.sequenceNumber ?? 0) >= number })
                    }
                }
            }
        },
        StoreFault("twins-are-one", "keeps one reference for both sides of a one-to-one relationship of an entity") {
            steps in
            let merge = steps.merge
            @Sendable func twin(_ record: DefaultSnapshot) -> DefaultSnapshot {
                guard record.layout.entityName == "Node" else { return record }
                let known = [record[property: "twin"], record[property: "twinOf"]].compactMap { $0 }
                let either = known.first { !$0.isNull } ?? .null
                return mapping(record) { value, slot in ["twin", "twinOf"].contains(slot.name) ? either : value }
            }
            steps.merge = { twin(merge($0, $1, $2)) }
            let insert = steps.remapInserted
            steps.remapInserted = { twin(insert($0, $1, $2)) }
        },
    ]
}

extension Int {
    fileprivate func addingClamped(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
