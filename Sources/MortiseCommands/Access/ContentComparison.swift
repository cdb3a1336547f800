#if Tool
import MortiseCore

/// Compares the records of two stores of one schema: values, relationships and order. Numbers may be others on both sides.
struct ContentComparison {
    /// Where two stores differ, in words.
    private(set) var differences: [String] = []
    private(set) var differing = 0
    private(set) var compared = 0
    /// Maps each record of the first store to the record of the second at the same position.
    private(set) var places = RecordMap()
    private static let listed = 5

    var isEqual: Bool { differing == 0 }

    /// Compares two versions record by record. Calls `progress` with the number of records compared so far.
    /// - Throws: what `StoreVersion.check()` of either throws.
    init(
        _ a: any StoreVersion, _ b: any StoreVersion, _ schema: StoredSchema, _ layouts: [String: RecordLayout],
        showingValues: Bool = false, progress: (Int) -> Void = { _ in }
    ) throws {
        var map = RecordMap(a, schema)
        var pairs = 0
        var others = IdentityWalk(b, schema)
        var walk = IdentityWalk(a, schema)
        while true {
            let (left, right) = (walk.next(), others.next())
            guard let left, let right else {
                if let left { note("\(left.identifier) and all records after it are missing in the second") }
                if let right { note("\(right.identifier) and all records after it are missing in the first") }
                break
            }
            let (name, other) = (schema.entities[left.entity].name, schema.entities[right.entity].name)
            guard name == other else {
                note("the first has \(left.identifier) where the second has \(right.identifier)")
                break
            }
            map.set(name, left.row, right.identifier)
            pairs += 1
        }
        walk = IdentityWalk(a, schema)
        others = IdentityWalk(b, schema)
        for number in 0..<pairs {
            guard let left = walk.next(), let right = others.next() else { break }
            let name = schema.entities[left.entity].name
            guard let layout = layouts[name], let source = a.rows(ofEntity: name), let target = b.rows(ofEntity: name)
            else { continue }
            for (slot, property) in layout.slots.enumerated() {
                let one = source.value(row: left.row, slot: slot)
                let two = target.value(row: right.row, slot: slot)
                if property.property.attribute?.options.contains(.ephemeral) == true { continue }
                if Self.areEqual(one, two, map) { continue }
                let values = showingValues ? ": \(one) and \(two)" : ""
                note("\(left.identifier).\(property.name) differs\(values)")
            }
            compared = number + 1
            progress(compared)
        }
        places = map
        try a.check()
        try b.check()
    }

    private mutating func note(_ difference: String) {
        differing += 1
        if differences.count < Self.listed { differences.append(difference) }
    }

    /// Whether two values are the same to the last bit, records of the first store being what the map says in the second.
    static func areEqual(_ a: StoredValue, _ b: StoredValue, _ map: RecordMap) -> Bool {
        switch (a, b) {
        case (.identifier(let x), .identifier(let y)): return map.target(of: x) == y
        case (.identifiers(let x), .identifiers(let y)):
            guard x.count == y.count else { return false }
            // Both come in identity order, which the two stores share; where they do not, the sets still have to agree.
            if zip(x, y).allSatisfy({ map.target(of: $0) == $1 }) { return true }
            return Set(x.compactMap { map.target(of: $0) }) == Set(y)
        case (.identifiers(let x), .null), (.null, .identifiers(let x)): return x.isEmpty
        default: return a.isIdentical(to: b)
        }
    }
}
#endif
