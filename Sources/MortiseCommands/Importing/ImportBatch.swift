#if Tool
import MortiseCore

/// Records of a file that are saved together, in the order of the file.
///
/// A record waits for those that it requires. What waits too long is set aside until the end of the file.
struct ImportBatch {
    struct Element {
        let line: Int
        /// The text of the record, for the file of rejected ones.
        let text: [UInt8]
        let record: ImportedRecord
        let temporary: PersistentIdentifier
    }

    private(set) var elements: [Element] = []
    private(set) var bytes = 0
    private let layouts: [String: RecordLayout]

    init(_ layouts: [String: RecordLayout]) { self.layouts = layouts }

    mutating func append(_ line: Int, _ text: [UInt8], _ record: ImportedRecord) {
        elements.append(
            Element(line: line, text: text, record: record, temporary: .temporary(entityName: record.entity)))
        bytes += 3 * text.count + 256
    }

    mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        bytes = 0
    }

    mutating func remove(at places: Set<Int>) {
        elements = elements.indices.filter { !places.contains($0) }.map { elements[$0] }
    }

    /// Keeps the first records.
    /// - Returns: the others.
    mutating func removed(first count: Int) -> ImportBatch {
        var rest = self
        rest.elements = Array(elements.dropFirst(count))
        elements = Array(elements.prefix(count))
        return rest
    }

    /// How many records the first of two parts takes, about half of them, so that no record requires one of the second; nil if
    /// the records cannot be parted.
    func halvingCount(_ keys: ImportedKeys) -> Int? {
        let middle = elements.count / 2
        for step in 0..<min(max(middle, 1), 50) {
            for count in [middle - step, middle + step] where count > 0 && count < elements.count {
                var first = self
                _ = first.removed(first: count)
                if first.isComplete(keys) { return count }
            }
        }
        return nil
    }

    /// Takes out the records that require one which is neither saved nor in here, and those that require them in turn.
    /// - Parameter keys: the records that are saved, by the numbers of the file.
    /// - Returns: each with the property and the number at fault.
    mutating func takeIncomplete(
        _ keys: ImportedKeys
    ) -> [(element: Element, property: String, key: String)] {
        var taken: [(element: Element, property: String, key: String)] = []
        while true {
            let here = here(keys)
            var kept: [Element] = []
            let before = taken.count
            for element in elements {
                if let missing = missing(element, keys, here) {
                    taken.append((element, missing.property, missing.key))
                } else {
                    kept.append(element)
                }
            }
            elements = kept
            if taken.count == before { return taken.sorted { $0.element.line < $1.element.line } }
        }
    }

    /// Whether every record has those that it requires.
    func isComplete(_ keys: ImportedKeys) -> Bool {
        let here = here(keys)
        return elements.allSatisfy { missing($0, keys, here) == nil }
    }

    private func here(_ keys: ImportedKeys) -> Set<ImportedKeys.Key> {
        Set(elements.compactMap { element in element.record.key.map { keys.key($0, element.record.entity) } })
    }

    private func missing(
        _ element: Element, _ keys: ImportedKeys, _ here: Set<ImportedKeys.Key>
    ) -> (property: String, key: String)? {
        guard let layout = layouts[element.record.entity] else { return nil }
        for (slot, targets) in element.record.targets {
            let property = layout.slots[slot].property
            guard layout.slots[slot].role == .toOne, !property.isOptional,
                let destination = property.relationship?.destination, let key = targets.first
            else { continue }
            if keys.identifier(key, destination) == nil, !here.contains(keys.key(key, destination)) {
                return (property.name, key)
            }
        }
        return nil
    }

    /// The records as the store takes them. What leads to records that are not there yet is left out and told.
    func snapshots(
        _ keys: ImportedKeys
    ) -> (snapshots: [DefaultSnapshot], later: [(element: Int, slot: Int, keys: [String])]) {
        var temporaries: [ImportedKeys.Key: PersistentIdentifier] = [:]
        for element in elements {
            if let key = element.record.key { temporaries[keys.key(key, element.record.entity)] = element.temporary }
        }
        var later: [(element: Int, slot: Int, keys: [String])] = []
        let snapshots = elements.enumerated().map { place, element in
            let layout = layouts[element.record.entity] ?? RecordLayout.empty(element.record.entity)
            var values = element.record.values
            for (slot, targets) in element.record.targets {
                let destination = layout.slots[slot].property.relationship?.destination ?? ""
                let found = targets.compactMap {
                    keys.identifier($0, destination) ?? temporaries[keys.key($0, destination)]
                }
                if found.count < targets.count { later.append((place, slot, targets)) }
                values[slot] =
                    layout.slots[slot].role == .toOne
                    ? found.first.map { .identifier($0) } ?? .null : .identifiers(found)
            }
            return DefaultSnapshot(persistentIdentifier: element.temporary, layout: layout, values: values)
        }
        return (snapshots, later)
    }
}

/// The records that were imported, by the numbers that the file gives them.
///
/// Entities that inherit from each other have numbers in common.
struct ImportedKeys {
    struct Key: Hashable {
        let root: Int
        let text: String
    }

    private var roots: [String: Int] = [:]
    /// The families that some relationship leads to; of others, no numbers have to be known.
    private var isTarget: Set<Int> = []
    /// Nil for a record that was read and is not saved, or not yet.
    private var all: [Key: PersistentIdentifier?] = [:]

    init(_ schema: StoredSchema) {
        let superentities = Dictionary(
            schema.entities.map { ($0.name, $0.superentity) }, uniquingKeysWith: { first, _ in first })
        let places = Dictionary(
            schema.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in schema.entities {
            var root = entity.name
            // No deeper than there are entities, even where they inherit from each other in a circle.
            for _ in schema.entities { if let next = superentities[root] ?? nil { root = next } }
            roots[entity.name] = places[root] ?? 0
        }
        for property in schema.entities.flatMap(\.properties) {
            if let destination = property.relationship?.destination, let root = roots[destination] {
                isTarget.insert(root)
            }
        }
    }

    func key(_ text: String, _ entity: String) -> Key { Key(root: roots[entity] ?? -1, text: text) }

    func identifier(_ text: String, _ entity: String) -> PersistentIdentifier? { all[key(text, entity)] ?? nil }

    /// Notes that a record was read.
    /// - Returns: false if an earlier record of the file has the number.
    mutating func note(_ text: String, _ entity: String) -> Bool {
        let key = key(text, entity)
        guard isTarget.contains(key.root) else { return true }
        if all[key] != nil { return false }
        all[key] = .some(nil)
        return true
    }

    mutating func set(_ text: String, _ entity: String, _ identifier: PersistentIdentifier) {
        let key = key(text, entity)
        if isTarget.contains(key.root) { all[key] = .some(identifier) }
    }
}
#endif
