#if Tool
import MortiseCore

/// Counts the records of a store that changes of its schema are about. Records are read once for each change.
struct ChangeCount {
    private let version: any StoreVersion
    private let layouts: [String: RecordLayout]

    init(_ store: OpenStore) throws {
        version = try store.walkedVersion()
        layouts = store.layouts
    }

    /// The changes with their numbers.
    /// - Throws: what reading throws.
    func counted(_ changes: [SchemaChange]) throws -> [SchemaChange] {
        let counted = try changes.map { change in
            try change.measure.map { change.counted(try count($0)) } ?? change
        }
        try version.check()
        return counted
    }

    private func count(_ measure: SchemaChange.Measure) throws -> Int {
        var count = 0
        var seen: [[StoredValue]: Bool] = [:]
        for entity in Set(measure.entities).sorted() {
            guard let rows = version.rows(ofEntity: entity), let layout = layouts[entity] else { continue }
            if measure.condition == .all {
                count += rows.count
                continue
            }
            let slots = measure.properties.compactMap { layout.slot(named: $0) }
            for row in 0..<rows.endRow where rows.contains(row: row) {
                let values = try slots.map { try rows.readValue(row: row, slot: $0) }
                switch measure.condition {
                case .all: break
                case .hasValue: count += values.contains { !$0.isEmpty } ? 1 : 0
                case .hasNone: count += values.contains { $0.isNull } ? 1 : 0
                case .isNoneOf(let allowed): count += values.contains { !$0.isNull && !allowed.contains($0) } ? 1 : 0
                case .isDuplicate:
                    if values.contains(where: \.isNeverUnique) { continue }
                    let key = values.map(\.uniqueForm)
                    // The first of a group counts with the second.
                    guard let isCounted = seen[key] else {
                        seen[key] = false
                        continue
                    }
                    count += isCounted ? 1 : 2
                    seen[key] = true
                }
            }
        }
        return count
    }
}

extension StoredValue {
    /// Whether nothing is lost with it.
    fileprivate var isEmpty: Bool {
        switch self {
        case .null: true
        case .identifiers(let members): members.isEmpty
        default: false
        }
    }
}
#endif
