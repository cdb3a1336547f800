import Foundation

extension ModelContext {
    /// Finds the first model, in order of insertion, that has a value in each of several properties. Unsaved models and changes count.
    ///
    ///     let seat = try context.first(Seat.self, where: \.row, \.number, is: 7, 12)
    ///
    /// Where the properties have a `#Unique` or an `#Index` together, the model is looked up.
    /// - Parameters:
    ///   - type: the model's class; subclasses count.
    ///   - first: a stored attribute of the model itself. For anything else fetch by a predicate.
    ///   - second: another one.
    ///   - others: further ones.
    ///   - firstValue: the value of the first property. Nil finds models without one.
    ///   - secondValue: the value of the second property.
    ///   - otherValues: the values of the others, in the order of the key paths.
    /// - Returns: the model; nil if no model has all of the values.
    /// - Throws: what `fetch(_:)` throws; `SwiftDataError.unsupportedKeyPath` for another key path.
    public func first<
        T: PersistentModel, First: Equatable & Codable & Sendable, Second: Equatable & Codable & Sendable,
        each Other: Equatable & Codable & Sendable
    >(
        _ type: T.Type = T.self, where first: any KeyPath<T, First> & Sendable,
        _ second: any KeyPath<T, Second> & Sendable, _ others: repeat any KeyPath<T, each Other> & Sendable,
        is firstValue: First, _ secondValue: Second, _ otherValues: repeat each Other
    ) throws -> T? {
        var conditions = try [condition(of: first, firstValue), condition(of: second, secondValue)]
        repeat try conditions.append(condition(of: each others, each otherValues))
        var descriptor = FetchDescriptor<T>(predicate: conditions.dropFirst().reduce(conditions[0]) { $0.and($1) })
        descriptor.fetchLimit = 1
        return try fetch(descriptor).first
    }

    /// Finds the first model that has a value in each of several properties, or makes and inserts a new one.
    ///
    ///     let seat = try context.findOrCreate(Seat.self, where: \.row, \.number, is: 7, 12) { Seat(row: 7, number: 12) }
    ///
    /// Two contexts may create one at the same time; if the properties are unique together, the second save settles that as for any
    /// other unique values, by the context's `uniqueConflictPolicy`.
    /// - Parameters:
    ///   - type: the model's class.
    ///   - first: as for `first(_:where:_:_:is:_:_:)`.
    ///   - second: another property.
    ///   - others: further ones.
    ///   - firstValue: the value of the first property.
    ///   - secondValue: the value of the second property.
    ///   - otherValues: the values of the others.
    ///   - create: makes the model. It has to have the values, or the next call makes another one.
    /// - Returns: the model that was found or made.
    /// - Throws: as `first(_:where:_:_:is:_:_:)`; what `create` throws.
    public func findOrCreate<
        T: PersistentModel, First: Equatable & Codable & Sendable, Second: Equatable & Codable & Sendable,
        each Other: Equatable & Codable & Sendable
    >(
        _ type: T.Type = T.self, where first: any KeyPath<T, First> & Sendable,
        _ second: any KeyPath<T, Second> & Sendable, _ others: repeat any KeyPath<T, each Other> & Sendable,
        is firstValue: First, _ secondValue: Second, _ otherValues: repeat each Other, create: () throws -> T
    ) throws -> T {
        let found = try self.first(
            type, where: first, second, repeat each others, is: firstValue, secondValue, repeat each otherValues)
        if let found { return found }
        let model = try create()
        insert(model)
        return model
    }
}

/// Whether a stored attribute has a value.
/// - Throws: `SwiftDataError.unsupportedKeyPath` for what is no stored attribute.
private func condition<T: PersistentModel, Value: Equatable & Codable & Sendable>(
    of keyPath: any KeyPath<T, Value> & Sendable, _ value: Value
) throws -> Predicate<T> {
    let layout = ModelLayout.of(T.self)
    guard let slot = layout.slot(for: keyPath), layout.properties[slot] is Schema.Attribute else {
        throw SwiftDataError.noAttribute(keyPath, of: T.self)
    }
    return equality(of: keyPath, value)
}
