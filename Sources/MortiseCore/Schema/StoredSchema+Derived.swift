import Synchronization

/// What follows from a schema's entities, worked out when it is first asked for. Copies of a schema have it in common, so that
/// a store that is opened again does not do the same work again.
final class DerivedFromSchema: Sendable {
    private let layouts = Mutex<[String: RecordLayout]?>(nil)
    private let subtrees = Mutex<[String: [String]]?>(nil)
    private let places = Mutex<[String: Int]?>(nil)
    private let storage = Mutex<StoredSchema.Storage?>(nil)
    private let order = Mutex<Bool?>(nil)
    private let closure = Mutex<Bool?>(nil)
    /// By type, what other modules make of the schema.
    private let others = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Takes the layouts of the entities where somebody else has made them.
    func know(layouts known: [String: RecordLayout]) { layouts.withLock { $0 = $0 ?? known } }
    func layouts(_ make: () -> [String: RecordLayout]) -> [String: RecordLayout] { Self.known(layouts, make) }
    func subtrees(_ make: () -> [String: [String]]) -> [String: [String]] { Self.known(subtrees, make) }
    /// Where each entity is, by name.
    func places(_ make: () -> [String: Int]) -> [String: Int] { Self.known(places, make) }
    func storage(_ make: () -> StoredSchema.Storage) -> StoredSchema.Storage { Self.known(storage, make) }
    func isSorted(_ find: () -> Bool) -> Bool { Self.known(order, find) }
    func isClosed(_ find: () -> Bool) -> Bool { Self.known(closure, find) }

    func other<Value: AnyObject & Sendable>(_ make: () -> Value) -> Value {
        others.withLock { others in
            if let known = others[ObjectIdentifier(Value.self)] as? Value { return known }
            let made = make()
            others[ObjectIdentifier(Value.self)] = made
            return made
        }
    }

    private static func known<Value: Sendable>(_ value: borrowing Mutex<Value?>, _ make: () -> Value) -> Value {
        value.withLock { value in
            if let value { return value }
            let made = make()
            value = made
            return made
        }
    }
}

extension StoredSchema {
    /// Whether the schema has every entity that its entities lead to or inherit from.
    var isClosed: Bool {
        derived.isClosed {
            let names = Set(entities.map(\.name))
            return entities.allSatisfy { entity in
                entity.superentity.map(names.contains) ?? true
                    && entity.properties.allSatisfy { $0.relationship.map { names.contains($0.destination) } ?? true }
            }
        }
    }

    /// What `make` has made of this schema or of a copy of it, one object of each type. It has to follow from the entities alone,
    /// and `make` may not ask for another such object.
    package func derived<Value: AnyObject & Sendable>(_ make: () -> Value) -> Value { derived.other(make) }
}
