extension PropertyAccess {
    static func members<Value: RelationshipCollection>(_ value: Value) -> [any PersistentModel] {
        (value as? [any PersistentModel]) ?? []
    }
}

extension PropertyValue {
    /// Called if a required property has no value and its type has no placeholder; ends the process. Fetched records have a
    /// value, and a schema in which they could lack one is refused. A model written by hand can be read before its
    /// initializer has set the property, and a custom store can refer to a record that it does not have.
    static func missing<T>(_ type: T.Type, slot: Int, of model: any PersistentModel) -> Never {
        let name = ModelLayout.of(Swift.type(of: model)).record.slots.dropFirst(slot).first?.name ?? "slot \(slot)"
        preconditionFailure(
            """
            Expected a value of \(Swift.type(of: model)).\(name), found none, and \(type) has no empty one to show. Set the \
            property before it is read, give it a default value, or declare it optional.
            """)
    }
}
