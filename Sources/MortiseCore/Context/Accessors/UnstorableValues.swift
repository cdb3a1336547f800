// Overloads for properties that cannot be kept, so that the compiler names the cause: it would list each sort of property
// that the type is not. One mistake is one error: the setter has it, and the other accessors compile. It is the setter
// because nothing is converted there; a getter would take `[Model]` for `[Model?]`.

extension PersistentModel {
    /// Used by macro expansions: sets nothing.
    @_disfavoredOverload
    @available(*, unavailable, message: "cannot be stored: make its type Codable, or mark the property '@Transient'")
    public func _setValue<T>(_ value: T, at slot: Int) {}
    /// Used by macro expansions: sets nothing.
    @available(
        *, unavailable, message: "a to-many relationship is an array of models: write '[Model]', not '[Model?]'"
    )
    public func _setValue<T: PersistentModel>(_ value: [T?], at slot: Int) {}
    /// Used by macro expansions: sets nothing.
    @available(
        *, unavailable, message: "a to-many relationship is an array of models: write '[Model]', not '[Model?]'"
    )
    public func _setValue<T: PersistentModel>(_ value: [T?]?, at slot: Int) {}
    /// Used by macro expansions: sets nothing.
    @available(
        *, unavailable, message: "a to-many relationship is an array of models: write '[Model]', not 'Set<Model>'"
    )
    public func _setValue<T: PersistentModel>(_ value: Set<T>, at slot: Int) {}
    /// Used by macro expansions: sets nothing.
    @available(
        *, unavailable, message: "a to-many relationship is an array of models: write '[Model]', not 'Set<Model>'"
    )
    public func _setValue<T: PersistentModel>(_ value: Set<T>?, at slot: Int) {}
    /// Used by macro expansions: sets nothing.
    @available(
        *, unavailable, message: "a to-many relationship is an array of models: write '[Model]', not a dictionary"
    )
    public func _setValue<Key, T: PersistentModel>(_ value: [Key: T], at slot: Int) {}

    /// Used by macro expansions. The setter does not compile, so that nothing reads.
    @_disfavoredOverload
    public func _value<T>(at slot: Int) -> T { PropertyValue.missing(T.self, slot: slot, of: self) }
}

extension CodedInitialValues where Self: ~Copyable {
    /// Used by macro expansions: sets nothing. The setter does not compile.
    @_disfavoredOverload
    public mutating func initialize<T>(at slot: Int, to value: T) {}
}
