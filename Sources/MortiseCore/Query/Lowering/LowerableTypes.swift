import Foundation
import Synchronization

/// Caches what is known of a type, for all expressions that contain it: asking the run-time for conformances is most of
/// the cost of lowering a predicate.
///
/// There are as many types as the program's source has, so nothing is ever dropped.
final class TypeCache<Value: Sendable>: Sendable {
    private let known = Mutex(ObjectTable<Value>())

    func value(of type: any Any.Type, _ find: (any Any.Type) -> Value) -> Value {
        let key = ObjectIdentifier(type)
        if let value = known.withLock({ $0[key] }) { return value }
        // Outside the lock: metadata of models runs their own code.
        let value = find(type)
        known.withLock { $0.add(value, for: key) }
        return value
    }
}

/// The properties that key paths into models lead to, by the objects that key paths are: a literal without captured values
/// is one object for the life of the program.
///
/// Key paths put together at run time are new objects each time, so the cache is emptied when it is full.
enum KnownKeyPaths {
    struct Property {
        let property: QueryProperty
        /// The kind as which the elements of a coded list are read.
        let decodedKind: StorageKind?

        func expression(on base: QueryExpression) -> QueryExpression {
            let plain = QueryExpression.property(base, property)
            return decodedKind.map { .decoded(plain, $0) } ?? plain
        }
    }
    private static let limit = 4096
    /// With the key paths, so that no other comes to lie at the address of one.
    private static let known = Mutex(ObjectTable<(keyPath: Shared, property: Property)>())

    /// @unchecked: key paths are immutable; the type does not say so.
    private struct Shared: @unchecked Sendable { let keyPath: AnyKeyPath }

    static func property(of keyPath: AnyKeyPath) -> Property? {
        known.withLock { $0[ObjectIdentifier(keyPath)]?.property }
    }

    static func remember(_ keyPath: AnyKeyPath, _ property: Property) {
        let shared = Shared(keyPath: keyPath)
        known.withLock { known in
            if known.count >= limit { known = ObjectTable() }
            known.add((shared, property), for: ObjectIdentifier(shared.keyPath))
        }
    }
}
