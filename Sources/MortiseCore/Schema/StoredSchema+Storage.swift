extension StoredSchema {
    /// What decides on how records are stored: names and inheritance of entities; names, kinds and optionality of properties;
    /// destinations and inverses; unique constraints; hash modifiers. The order of properties, default values, delete rules,
    /// counts, indexes, original names and the version are no part of it.
    struct Storage: Hashable {
        fileprivate struct Property: Hashable {
            let isOptional: Bool
            let kind: StorageKind?
            let isEphemeral: Bool
            let hashModifier: String?
            let destination: String?
            let isToMany: Bool
            let inverse: String?
        }

        fileprivate struct Entity: Hashable {
            let superentity: String?
            let properties: [String: Property]
            let constraints: Set<[String]>
        }

        fileprivate let entities: [String: Entity]
    }

    /// The part of the schema that two versions have to share for a store of one to be a store of the other.
    var storage: Storage { derived.storage(makeStorage) }

    private func makeStorage() -> Storage {
        Storage(
            entities: Dictionary(
                entities.map { entity in
                    (
                        entity.name,
                        Storage.Entity(
                            superentity: entity.superentity,
                            properties: Dictionary(
                                entity.properties.map { ($0.name, Storage.Property($0)) },
                                uniquingKeysWith: { first, _ in first }),
                            constraints: Set(entity.uniquenessConstraints.map { $0.sorted() }))
                    )
                }, uniquingKeysWith: { first, _ in first }))
    }

    /// Whether an entity or a property of this schema has another name in the older one, although both have the same storage: two
    /// that exchange their names are one case.
    func hasPendingRenames(from older: StoredSchema) -> Bool {
        if renamesEntities(of: older) { return true }
        let layouts = older.recordLayouts()
        return recordLayouts().contains { name, layout in
            guard let before = layouts[name] else { return false }
            return zip(layout.slots, layout.origins(in: before)).contains { slot, origin in
                origin.map { before.slots[$0].name != slot.name } ?? (before.slot(named: slot.name) != nil)
            }
        }
    }
}

extension StoredSchema.Storage.Property {
    fileprivate init(_ property: StoredProperty) {
        isOptional = property.isOptional
        kind = property.attribute?.kind
        isEphemeral = property.attribute?.options.contains(.ephemeral) ?? false
        hashModifier = property.attribute?.hashModifier
        destination = property.relationship?.destination
        isToMany = property.relationship?.isToMany ?? false
        inverse = property.relationship?.inverse
    }

    /// The property as differences name it.
    fileprivate var description: String {
        var words = isOptional ? ["optional"] : []
        if isEphemeral { words.append("ephemeral") }
        if let kind { words.append(kind.rawValue) }
        if let destination { words.append("\(isToMany ? "to-many" : "to-one") \(destination)") }
        if let inverse { words.append("with the inverse \(inverse)") }
        if let hashModifier { words.append("with the modifier \"\(hashModifier)\"") }
        return words.joined(separator: " ")
    }
}

extension StoredSchema.Storage {
    /// What differs here from what was expected, in words, by entity and property; empty if nothing does.
    func differences(fromExpected expected: Self) -> [String] {
        var found: [String] = []
        for name in Set(entities.keys).union(expected.entities.keys).sorted() {
            guard let entity = entities[name] else {
                found.append("\(name) is missing")
                continue
            }
            guard let other = expected.entities[name] else {
                found.append("\(name) is not expected")
                continue
            }
            if entity.superentity != other.superentity {
                found.append(
                    "\(name): expected \(other.superentity.map { "the superentity \($0)" } ?? "no superentity"), found "
                        + (entity.superentity ?? "none"))
            }
            for property in Set(entity.properties.keys).union(other.properties.keys).sorted() {
                let (mine, theirs) = (entity.properties[property], other.properties[property])
                if mine == theirs { continue }
                switch (mine, theirs) {
                case (nil, let theirs?): found.append("\(name).\(property) (\(theirs.description)) is missing")
                case (let mine?, nil): found.append("\(name).\(property) (\(mine.description)) is not expected")
                default:
                    found.append(
                        "\(name).\(property): expected \(theirs?.description ?? ""), found \(mine?.description ?? "")")
                }
            }
            if entity.constraints != other.constraints {
                found.append("\(name) has other unique constraints than expected")
            }
        }
        return found
    }
}
