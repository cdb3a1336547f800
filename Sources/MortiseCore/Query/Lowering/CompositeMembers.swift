import Foundation
import Synchronization

/// The names under which the members of a composite value are stored.
///
/// A type may code a member under another name, or in another form, and neither a key path nor the type says so. So values
/// of the type are made up, and a coded member is a property's own only where the two agreed in all of them, read and
/// written, and no other member did.
enum CompositeMembers {
    /// The coded member that a key path into a composite leads to; nil if that is not certain: the key path is not one
    /// stored property of a struct, the type codes it in another form, or sample values of the type cannot be
    /// constructed.
    static func name(of keyPath: AnyKeyPath, in type: any Any.Type) -> String? {
        if let known = known.withLock({ $0[ObjectIdentifier(keyPath)]?.name }) { return known }
        guard let codable = type as? any Codable.Type else { return nil }
        let name = find(keyPath, in: codable)
        let shared = Shared(keyPath: keyPath, name: name)
        known.withLock { known in
            if known.count >= limit { known.removeAll() }
            known[ObjectIdentifier(shared.keyPath)] = shared
        }
        return name
    }

    /// The same for a stored property by its name, and the property's type.
    static func member(
        ofStoredProperty property: Substring, in type: any Any.Type
    ) -> (name: String, type: any Any.Type)? {
        guard let codable = type as? any Codable.Type else { return nil }
        return find(property, in: codable)
    }

    private static let limit = 4096
    /// With the key paths, so that no other comes to lie at the address of one.
    private static let known = Mutex<[ObjectIdentifier: Shared]>([:])

    /// @unchecked: key paths are immutable; the type does not say so.
    private struct Shared: @unchecked Sendable {
        let keyPath: AnyKeyPath
        let name: String?
    }

    private static func find<T: Codable>(_ keyPath: AnyKeyPath, in type: T.Type) -> String? {
        // What is computed may agree with a member by chance.
        guard let path = keyPath as? PartialKeyPath<T>, MemoryLayout<T>.offset(of: path) != nil else { return nil }
        return name(in: type) { $0[keyPath: path] }
    }

    private static func find<T: Codable>(
        _ property: Substring, in type: T.Type
    ) -> (name: String, type: any Any.Type)? {
        var found: (any Any.Type)?
        let name = name(in: type) { value in
            let mirror = Mirror(reflecting: value)
            guard mirror.displayStyle == .struct,
                let child = mirror.children.first(where: { $0.label == String(property) })
            else { return nil }
            found = Swift.type(of: child.value)
            return child.value
        }
        return name.flatMap { name in found.map { (name, $0) } }
    }

    private static func name<T: Codable>(in type: T.Type, _ read: (T) -> Any?) -> String? {
        var names: Set<String>?
        for round in CompositeProbe.Round.all {
            guard let sample = CompositeProbe.sample(of: type, round), let value = read(sample.value),
                let coded = CompositeProbe.coded(value)
            else { return nil }
            let equal = sample.members.filter { $0.value.isIdentical(to: coded) }.keys
            names = names.map { $0.intersection(equal) } ?? Set(equal)
        }
        return names?.count == 1 ? names?.first : nil
    }
}
