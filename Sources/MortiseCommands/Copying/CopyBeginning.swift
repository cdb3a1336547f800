#if Tool
import MortiseCore

/// Makes sure that a target holds the beginning of a source, as a copy leaves it that was interrupted: nothing else, and
/// nothing other.
struct CopyBeginning {
    private let source: any StoreVersion
    private let target: any StoreVersion
    private let schema: StoredSchema
    private let layouts: [String: RecordLayout]

    init(
        _ source: any StoreVersion, _ target: any StoreVersion, _ schema: StoredSchema,
        _ layouts: [String: RecordLayout]
    ) {
        self.source = source
        self.target = target
        self.schema = schema
        self.layouts = layouts
    }

    /// Notes which records are there already.
    /// - Returns: how many.
    /// - Throws: `ToolError.notABeginning`; what `StoreVersion.check()` of either throws.
    func check(_ map: inout RecordMap, _ store: OpenStore) throws -> Int {
        let result = Result { try compare(&map, store) }
        // A record that cannot be read is missing or another only for that reason.
        try source.check()
        try target.check()
        return try result.get()
    }

    private func compare(_ map: inout RecordMap, _ store: OpenStore) throws -> Int {
        func fault(_ detail: String) -> ToolError { .notABeginning(store: store.name, detail: detail) }
        var count = 0
        var walk = IdentityWalk(source, schema)
        for found in IdentityWalk(target, schema) {
            guard let expected = walk.next() else { throw fault("it has more records, such as \(found.identifier)") }
            guard expected.entity == found.entity else {
                throw fault("expected \(expected.identifier), found \(found.identifier)")
            }
            map.set(schema.entities[found.entity].name, expected.row, found.identifier)
            count += 1
        }
        walk = IdentityWalk(source, schema)
        var others = IdentityWalk(target, schema)
        for _ in 0..<count {
            guard let expected = walk.next(), let found = others.next() else { break }
            let name = schema.entities[expected.entity].name
            guard let layout = layouts[name], let rows = source.rows(ofEntity: name),
                let copies = target.rows(ofEntity: name)
            else { continue }
            for (slot, property) in layout.slots.enumerated() where property.role != .toManyDerived {
                if property.property.attribute?.options.contains(.ephemeral) == true { continue }
                let (a, b) = (rows.value(row: expected.row, slot: slot), copies.value(row: found.row, slot: slot))
                if !Self.isBeginning(b, of: a, property.role, map) {
                    throw fault("\(found.identifier).\(property.name) differs from that of \(expected.identifier)")
                }
            }
        }
        return count
    }

    /// Whether a value is what a copy wrote, perhaps before later records were there that it leads to.
    private static func isBeginning(
        _ copy: StoredValue, of value: StoredValue, _ role: RecordLayout.Role, _ map: RecordMap
    ) -> Bool {
        guard role.isRelationship else { return value.isIdentical(to: copy) }
        if copy.isNull { return true }
        if case .identifiers(let members) = copy {
            guard case .identifiers(let all) = value else { return members.isEmpty }
            return Set(members).isSubset(of: all.compactMap { map.target(of: $0) })
        }
        return ContentComparison.areEqual(value, copy, map)
    }
}
#endif
