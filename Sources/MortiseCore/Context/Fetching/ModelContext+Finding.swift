import Foundation

extension ModelContext {
    /// The first of the matching models, in the requested order; nil if none matches. Where an index leads to it, few others are looked at.
    ///
    /// The descriptor's limit does not matter, unless it is 0.
    /// - Throws: what `fetch(_:)` throws.
    public func fetchFirst<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> T? {
        try fetch(descriptor.limited(to: 1)).first
    }

    /// The only matching model; nil if none matches.
    ///
    /// The descriptor's limit does not matter, unless it is 0.
    /// - Throws: `ModelContextError.severalModels` if more than one matches; what `fetch(_:)` throws.
    public func fetchOne<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> T? {
        let found = try fetch(descriptor.limited(to: 2))
        guard found.count < 2 else {
            throw ModelContextError.severalModels(entity: Schema.entityName(for: T.self))
        }
        return found.first
    }

    /// Finds the first model, in order of insertion, whose property has a value. Unsaved models and changes count.
    ///
    ///     let lisbon = try context.first(City.self, where: \.code, is: "LIS")
    ///
    /// A property with `#Unique`, `@Attribute(.unique)` or `#Index` is looked up, in the store and among unsaved models alike.
    /// - Parameters:
    ///   - type: the model's class; subclasses count.
    ///   - keyPath: a stored attribute of the model itself. For anything else fetch by a predicate.
    ///   - value: the value. Nil finds models without one.
    /// - Returns: the model; nil if no model has the value.
    /// - Throws: what `fetch(_:)` throws; `SwiftDataError.unsupportedKeyPath` for another key path.
    public func first<T: PersistentModel, Value: Equatable & Codable & Sendable>(
        _ type: T.Type = T.self, where keyPath: any KeyPath<T, Value> & Sendable, is value: Value
    ) throws -> T? {
        let layout = ModelLayout.of(T.self)
        let slot = layout.slot(for: keyPath)
        if let slot, let kind = layout.record.slots[slot].property.attribute?.kind, kind != .coded,
            let value = StoredValue(property: value, kind: kind),
            let lookup = KeyLookup(layout.record, slot: slot, value: value),
            let found = try state.lookUp(lookup, of: T.self, window: { 0..<min($0, 1) })
        {
            return found.models(0..<min(found.count, 1), as: T.self).first
        }
        // A predicate takes key paths with one component, and ends the process at others.
        guard let slot, layout.properties[slot] is Schema.Attribute else {
            throw SwiftDataError.noAttribute(keyPath, of: T.self)
        }
        var descriptor = FetchDescriptor<T>(predicate: equality(of: keyPath, value))
        descriptor.fetchLimit = 1
        return try fetch(descriptor).first
    }

    /// Finds the first model whose property has a value, or makes and inserts a new one.
    ///
    ///     let tag = try context.findOrCreate(Tag.self, where: \.name, is: "sea") { Tag(name: "sea") }
    ///
    /// Two contexts may create one at the same time; if the property is unique, the second save settles that as for any
    /// other unique value, by the context's `uniqueConflictPolicy`.
    /// - Parameters:
    ///   - type: the model's class.
    ///   - keyPath: as for `first(_:where:is:)`.
    ///   - value: the value.
    ///   - create: makes the model. It has to have the value, or the next call makes another one.
    /// - Returns: the model that was found or made.
    /// - Throws: as `first(_:where:is:)`; what `create` throws.
    public func findOrCreate<T: PersistentModel, Value: Equatable & Codable & Sendable>(
        _ type: T.Type = T.self, where keyPath: any KeyPath<T, Value> & Sendable, is value: Value,
        create: () throws -> T
    ) throws -> T {
        if let found = try first(type, where: keyPath, is: value) { return found }
        let model = try create()
        insert(model)
        return model
    }
}

extension FetchDescriptor {
    fileprivate func limited(to most: Int) -> FetchDescriptor<T> {
        var descriptor = self
        if fetchLimit ?? most > 0 { descriptor.fetchLimit = most }
        return descriptor
    }
}

extension SwiftDataError {
    /// What is thrown for a key path by which no model is looked up.
    static func noAttribute<T: PersistentModel>(_ keyPath: AnyKeyPath, of type: T.Type) -> SwiftDataError {
        SwiftDataError(
            .unsupportedKeyPath,
            "\(KeyPathText.named("\(keyPath)")) is no stored attribute of \(T.self). Fetch by a predicate instead.")
    }
}

/// Whether a property has a value.
func equality<T: PersistentModel, Value: Equatable & Codable & Sendable>(
    of keyPath: any KeyPath<T, Value> & Sendable, _ value: Value
) -> Predicate<T> {
    Predicate<T> { model in
        PredicateExpressions.build_Equal(
            lhs: PredicateExpressions.build_KeyPath(root: model, keyPath: keyPath),
            rhs: PredicateExpressions.build_Arg(value))
    }
}
