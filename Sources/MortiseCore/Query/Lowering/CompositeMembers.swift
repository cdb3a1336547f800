/// What composite types say of their members, read once for each type.
enum CompositeMembers {
    /// @unchecked: key paths are immutable; the type does not say so.
    struct Member: @unchecked Sendable {
        let keyPath: AnyKeyPath
        let chained: AnyKeyPath?
        let name: String

        var valueType: any Any.Type { type(of: keyPath).valueType }
    }

    private static let known = TypeCache<[Member]>()

    /// Empty for a type that does not name its members, or that is not stored in coded form.
    static func of(_ type: any Any.Type) -> [Member] {
        known.value(of: type) { type in
            guard let composite = type as? any CompositeValue.Type, StorageKind(of: type) == .coded else { return [] }
            return members(of: composite)
        }
    }

    /// The key under which the property at a key path is coded; nil if the type does not name it.
    static func name(of keyPath: AnyKeyPath, in type: any Any.Type) -> String? {
        of(type).first { $0.keyPath == keyPath }?.name
    }

    private static func members<T: CompositeValue>(of type: T.Type) -> [Member] {
        type.compositeMembers.map { Member(keyPath: $0.keyPath, chained: $0.chained, name: $0.name) }
    }
}
