public import MortiseCore

/// How records of one schema become records of another without anybody's help: properties keep their name or are found by
/// their original name, new ones take their default or nil, removed ones are dropped.
public struct SchemaMapping: Sendable {
    /// What a slot of the new layout takes.
    enum Source: Sendable {
        case slot(Int)
        case value(StoredValue)
    }

    private let sources: [String: [Source]]

    /// - Throws: `EngineError.schemaMismatch` with every difference that cannot be bridged.
    public init(from old: StoredSchema, to new: StoredSchema, store: String) throws {
        let oldLayouts = old.recordLayouts()
        let newLayouts = new.recordLayouts()
        var sources: [String: [Source]] = [:]
        var differences: [String] = []
        for (name, layout) in newLayouts.sorted(by: { $0.key < $1.key }) {
            guard let before = oldLayouts[name] else { continue }
            if before.superentityName != layout.superentityName {
                differences.append("\(name) inherits from another entity than it did")
            }
            sources[name] = layout.slots.map { slot in
                switch Self.source(of: slot, in: before) {
                case .success(let source): return source
                case .failure(let difference):
                    differences.append("\(name).\(slot.name) \(difference.text)")
                    return .value(.null)
                }
            }
        }
        if !differences.isEmpty { throw EngineError.schemaMismatch(store: store, differences: differences) }
        self.sources = sources
    }

    private struct Difference: Error { let text: String }

    private static func source(
        of slot: RecordLayout.Slot, in old: RecordLayout
    ) -> Result<Source, Difference> {
        let found = [slot.name, slot.property.originalName].compactMap { old.slot(named: $0) }
        // What was ephemeral has no value anywhere.
        guard let place = found.first(where: { isEphemeral(slot) || !isEphemeral(old.slots[$0]) }) else {
            if slot.role.isToMany { return .success(.value(.identifiers([]))) }
            if let value = slot.property.attribute?.defaultValue { return .success(.value(value)) }
            if slot.property.isOptional { return .success(.value(.null)) }
            return .failure(Difference(text: "is new and required; give it a default value or make it optional"))
        }
        let before = old.slots[place]
        if before.role != slot.role {
            return .failure(Difference(text: "was \(describe(before)) and is \(describe(slot))"))
        }
        if let a = before.property.attribute, let b = slot.property.attribute, a.kind != b.kind {
            return .failure(Difference(text: "was of kind \(a.kind.rawValue) and is of kind \(b.kind.rawValue)"))
        }
        if let a = before.property.relationship, let b = slot.property.relationship, a.destination != b.destination {
            return .failure(Difference(text: "led to \(a.destination) and leads to \(b.destination)"))
        }
        if before.property.isOptional, !slot.property.isOptional, !slot.role.isToMany,
            slot.property.attribute?.defaultValue == nil
        {
            return .failure(Difference(text: "was optional and is required; give it a default value"))
        }
        return .success(.slot(place))
    }

    private static func isEphemeral(_ slot: RecordLayout.Slot) -> Bool {
        slot.property.attribute?.options.contains(.ephemeral) == true
    }

    private static func describe(_ slot: RecordLayout.Slot) -> String {
        switch slot.role {
        case .attribute: "an attribute"
        case .toOne: "a to-one relationship"
        case .toManyStored: "a to-many relationship kept on this side"
        case .toManyDerived: "a to-many relationship kept on the other side"
        }
    }

    /// The values of an old record by the slots of the new layout; nil where the new schema has no such entity.
    public func map(
        _ values: ContiguousArray<StoredValue>, ofEntity name: String, defaults layout: RecordLayout
    ) -> ContiguousArray<StoredValue>? {
        guard let sources = sources[name] else { return nil }
        var result: ContiguousArray<StoredValue> = []
        result.reserveCapacity(sources.count)
        for (index, source) in sources.enumerated() {
            switch source {
            case .value(let value): result.append(value)
            case .slot(let slot):
                let property = layout.slots[index].property
                if values[slot].isNull, !property.isOptional, let fallback = property.attribute?.defaultValue {
                    result.append(fallback)
                } else {
                    result.append(values[slot])
                }
            }
        }
        return result
    }
}
