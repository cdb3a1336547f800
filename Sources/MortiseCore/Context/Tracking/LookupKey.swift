/// What a condition asks of one attribute: that it has one of some values.
struct LookupKey {
    let slot: Int
    let values: [StoredValue]

    private init?(_ expression: QueryExpression) {
        switch expression {
        case .compare(.equal, .property(.variable(0), let property), .constant(let value)),
            .compare(.equal, .constant(let value), .property(.variable(0), let property)):
            (slot, values) = (property.slot, [value])
        case .contains(.list(let elements), .property(.variable(0), let property)):
            slot = property.slot
            values = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
            guard values.count == elements.count else { return nil }
        default: return nil
        }
    }

    /// The keys that all have to be met where an expression holds.
    static func all(in expression: QueryExpression) -> [LookupKey] {
        if case .and(let parts) = expression { return parts.flatMap(all(in:)) }
        return LookupKey(expression).map { [$0] } ?? []
    }

    /// Whether the slot is an attribute of the values' kind.
    func fits(_ layout: RecordLayout) -> Bool {
        guard slot < layout.slots.count, layout.slots[slot].role == .attribute,
            let kind = layout.slots[slot].property.attribute?.kind
        else { return false }
        return LookupValue.isMade(of: kind) && values.allSatisfy { $0.fits(kind) }
    }
}
