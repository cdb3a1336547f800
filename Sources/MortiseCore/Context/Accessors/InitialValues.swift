/// Initial values of types that are only `Codable`.
///
/// A protocol extension, because a type whose conformance is isolated to the main actor can be passed to one from a
/// nonisolated initializer.
public protocol CodedInitialValues: ~Copyable {
    /// Used by macro expansions: gives a new model's coded attribute its first value, by slot.
    mutating func _initializeCoded<T: Codable>(at slot: Int, to value: T)
}

extension CodedInitialValues where Self: ~Copyable {
    /// Used by macro expansions: gives a new model's coded attribute its first value.
    @_disfavoredOverload
    public mutating func initialize<T: Codable>(at slot: Int, to value: T) { _initializeCoded(at: slot, to: value) }
}

extension ModelState: CodedInitialValues {
    /// Used by macro expansions: gives a new model's attribute its first value.
    @inlinable
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T) {
        initialize(stored: value.storedValue, at: slot)
    }
    /// Used by macro expansions: gives a new model's optional attribute its first value.
    @inlinable
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T?) {
        initialize(stored: value?.storedValue ?? .null, at: slot)
    }
    /// Used by macro expansions: gives a new model's enum its first value.
    @inlinable
    public mutating func initialize<T: RawRepresentable & Codable>(at slot: Int, to value: T)
    where T.RawValue: PersistentScalar {
        initialize(stored: value.rawValue.storedValue, at: slot)
    }
    /// Used by macro expansions: gives a new model's optional enum its first value.
    @inlinable
    public mutating func initialize<T: RawRepresentable & Codable>(at slot: Int, to value: T?)
    where T.RawValue: PersistentScalar {
        initialize(stored: value?.rawValue.storedValue ?? .null, at: slot)
    }
    /// Used by macro expansions: gives a new model's coded attribute its first value.
    public mutating func _initializeCoded<T: Codable>(at slot: Int, to value: T) {
        if flags.contains(.ignoresInitialValues) { return }
        initialize(Draft.Value(coding: value), at: slot)
    }
    /// Used by macro expansions: gives a new model's to-one relationship its first target.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T) {
        initialize(.model(value), at: slot)
    }
    /// Used by macro expansions: gives a new model's optional to-one relationship its first target.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T?) {
        initialize(.model(value), at: slot)
    }
    /// Used by macro expansions: gives a new model's to-many relationship its first members.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]) {
        initialize(.models(MemberChanges(value)), at: slot)
    }
    /// Used by macro expansions: gives a new model's optional to-many relationship its first members.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]?) {
        initialize(.models(MemberChanges(value ?? [])), at: slot)
    }
    /// Used by macro expansions: gives a new model's transformable property its first value.
    public mutating func initializeTransformable<T>(at slot: Int, to value: T) {
        initialize(.transformable(value), at: slot)
    }
}

extension InitialValues: CodedInitialValues {
    /// Used by macro expansions: gives a new model's attribute its first value.
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T) {
        initialize(.value(value.storedValue), at: slot)
    }
    /// Used by macro expansions: gives a new model's optional attribute its first value.
    public mutating func initialize<T: PersistentScalar>(at slot: Int, to value: T?) {
        initialize(.value(value?.storedValue ?? .null), at: slot)
    }
    /// Used by macro expansions: gives a new model's enum its first value.
    public mutating func initialize<T: RawRepresentable & Codable>(at slot: Int, to value: T)
    where T.RawValue: PersistentScalar {
        initialize(.value(value.rawValue.storedValue), at: slot)
    }
    /// Used by macro expansions: gives a new model's optional enum its first value.
    public mutating func initialize<T: RawRepresentable & Codable>(at slot: Int, to value: T?)
    where T.RawValue: PersistentScalar {
        initialize(.value(value?.rawValue.storedValue ?? .null), at: slot)
    }
    /// Used by macro expansions: gives a new model's coded attribute its first value.
    public mutating func _initializeCoded<T: Codable>(at slot: Int, to value: T) {
        initialize(Draft.Value(coding: value), at: slot)
    }
    /// Used by macro expansions: gives a new model's to-one relationship its first target.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T) {
        initialize(.model(value), at: slot)
    }
    /// Used by macro expansions: gives a new model's optional to-one relationship its first target.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: T?) {
        initialize(.model(value), at: slot)
    }
    /// Used by macro expansions: gives a new model's to-many relationship its first members.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]) {
        initialize(.models(MemberChanges(value)), at: slot)
    }
    /// Used by macro expansions: gives a new model's optional to-many relationship its first members.
    public mutating func initialize<T: PersistentModel>(at slot: Int, to value: [T]?) {
        initialize(.models(MemberChanges(value ?? [])), at: slot)
    }
    /// Used by macro expansions: gives a new model's transformable property its first value.
    public mutating func initializeTransformable<T>(at slot: Int, to value: T) {
        initialize(.transformable(value), at: slot)
    }
}

extension MemberChanges {
    convenience init(_ models: [some PersistentModel]) {
        self.init()
        for model in models { add(model) }
    }
}
