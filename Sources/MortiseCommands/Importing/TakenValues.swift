#if Tool
import MortiseCore

/// Finds the records of a batch whose unique values another record has: one before them in the batch, or a stored one. The store
/// is asked for all of them at once, where its own error names one pair.
struct TakenValues {
    private struct Claim: Hashable {
        let entity: String
        let names: [String]
        let values: String
    }

    private let target: OpenStore
    /// How many alternatives of several values a query has at most.
    private static let alternatives = 100

    init(in target: OpenStore) { self.target = target }

    /// The places of the records in the batch, each with the properties. Values that lead to other records are left out.
    /// - Throws: what the store throws; `ToolError.unsupported` for a store with its own type of snapshots.
    func callAsFunction(_ batch: ImportBatch) throws -> [Int: [String]] {
        var found: [Int: [String]] = [:]
        var claims: [Int: [Claim]] = [:]
        let places = Dictionary(grouping: batch.elements.indices) { batch.elements[$0].record.entity }
        for (entity, places) in places {
            guard let layout = target.layouts[entity] else { continue }
            for (number, slots) in layout.uniqueConstraints.enumerated() {
                let names = slots.map { layout.slots[$0].name }
                let declaring = declaringEntity(of: names, entity)
                let claimed = places.map { place in (place, slots.map { batch.elements[place].record.values[$0] }) }
                    .filter { !$0.1.contains(where: \.isNeverUnique) }
                let stored = try stored(claimed.map(\.1), names, declaring, entity, number)
                for (place, values) in claimed {
                    let text = Self.text(values)
                    if stored.contains(text) { found[place] = found[place] ?? names }
                    claims[place, default: []].append(Claim(entity: declaring, names: names, values: text))
                }
            }
        }
        // Only a record that is not refused itself has its values before others.
        var taken: Set<Claim> = []
        for (place, claims) in claims.sorted(by: { $0.key < $1.key }) where found[place] == nil {
            if let claim = claims.first(where: taken.contains) {
                found[place] = claim.names
            } else {
                taken.formUnion(claims)
            }
        }
        return found
    }

    private static func text(_ values: [StoredValue]) -> String {
        values.map { "\($0.uniqueForm)" }.joined(separator: "\u{0}")
    }

    /// The entity that has the properties from itself, and not from one that it inherits from.
    private func declaringEntity(of names: [String], _ entity: String) -> String {
        var name = entity
        // No further than there are entities, even where they inherit from each other in a circle.
        for _ in target.schema.entities {
            guard let above = target.schema.entity(named: name)?.superentity, let layout = target.layouts[above],
                names.allSatisfy({ layout.slot(named: $0) != nil })
            else { break }
            name = above
        }
        return name
    }

    /// Which of the values stored records have.
    private func stored(
        _ claims: [[StoredValue]], _ names: [String], _ declaring: String, _ entity: String, _ constraint: Int
    ) throws -> Set<String> {
        if let version = target.versioned?.currentVersion {
            return Set(
                claims.filter { version.identifier(ofEntity: entity, constraint: constraint, values: $0) != nil }
                    .map(Self.text))
        }
        guard let layout = target.layouts[declaring] else { return [] }
        let properties = names.compactMap { name in
            layout.slot(named: name).map {
                QueryExpression.property(.variable(0), QueryProperty(entity: declaring, name: name, slot: $0))
            }
        }
        guard properties.count == names.count, !claims.isEmpty else { return [] }
        var conditions: [QueryExpression] = []
        if properties.count == 1 {
            conditions = [.contains(.list(claims.map { .constant($0[0]) }), properties[0])]
        } else {
            for first in stride(from: 0, to: claims.count, by: Self.alternatives) {
                let part = claims[first..<min(first + Self.alternatives, claims.count)].map { values in
                    QueryExpression.and(zip(properties, values).map { .compare(.equal, $0, .constant($1)) })
                }
                conditions.append(part.count == 1 ? part[0] : .or(part))
            }
        }
        var found: Set<String> = []
        for condition in conditions {
            for record in try target.records(StoreQuery(declaring, conjuncts: [condition])) {
                found.insert(Self.text(names.map { record[property: $0] ?? .null }))
            }
        }
        return found
    }
}
#endif
