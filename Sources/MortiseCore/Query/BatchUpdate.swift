public import Foundation

/// The changes that `ModelContext.update(_:where:includeSubclasses:_:)` makes to every matching model.
///
/// All values are read from the model as it was before, so that two properties can be exchanged. Setters are not
/// called. The first property that cannot be set makes the update throw a `BatchError`.
public struct BatchUpdate<Model: PersistentModel> {
    private(set) var assignments: [StoreBatch.Assignment] = []
    /// The models that relationships are set to and that are not saved yet.
    private(set) var unsaved: [PersistentIdentifier: any PersistentModel] = [:]
    private(set) var failure: BatchError?
    private let layout = ModelLayout.of(Model.self)
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// Sets an attribute.
    public mutating func set<Value: Codable>(_ property: ReferenceWritableKeyPath<Model, Value>, to value: Value) {
        assign(property) { layout, slot in
            if layout.isTransformable(slot) {
                guard let stored = layout.transformed(value, at: slot) else { throw BatchError.Reason.unencodable }
                return .constant(stored)
            }
            guard let stored = PropertyAccess.storedForm(of: value) else { throw BatchError.Reason.unencodable }
            return .constant(stored)
        }
    }

    /// Sets a to-one relationship.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target?>, to target: Target?
    ) { relate(property, to: target) }

    /// Sets a required to-one relationship.
    public mutating func set<Target: PersistentModel>(
        _ property: ReferenceWritableKeyPath<Model, Target>, to target: Target
    ) { relate(property, to: target) }

    /// Sets a property to the value of another.
    public mutating func set<Value>(
        _ property: ReferenceWritableKeyPath<Model, Value>, from other: KeyPath<Model, Value>
    ) { copy(property, other) }

    /// Sets an optional property to the value of another property that is not optional.
    public mutating func set<Value>(
        _ property: ReferenceWritableKeyPath<Model, Value?>, from other: KeyPath<Model, Value>
    ) { copy(property, other) }

    /// Sets an attribute to the value of an expression for the model. `#Expression` accepts what `#Predicate` accepts.
    public mutating func set<Value: Codable>(
        _ property: ReferenceWritableKeyPath<Model, Value>, to expression: Expression<Model, Value>
    ) {
        assign(property) { layout, slot in
            guard layout.record.slots[slot].property.attribute?.kind != .coded, !layout.isTransformable(slot) else {
                throw BatchError.Reason.expression("only attributes of a scalar type can be set to an expression")
            }
            var lowering = Lowering(root: expression.variable.key)
            do {
                return try lowering.lower(expression.expression)
            } catch let error as NotLowerable {
                throw BatchError.Reason.expression(KeyPathText.named(error.reason))
            } catch {
                throw BatchError.Reason.expression(KeyPathText.named("\(error)"))
            }
        }
    }

    /// Adds to a number. The update throws `QueryEvaluationError.arithmeticOverflow` if a result does not fit.
    public mutating func increment<Value: AdditiveArithmetic & PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value>, by amount: Value
    ) { calculate(property, .add, amount) }

    /// Adds to a number; nil stays nil. The update throws `QueryEvaluationError.arithmeticOverflow` if a result does
    /// not fit.
    public mutating func increment<Value: AdditiveArithmetic & PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value?>, by amount: Value
    ) { calculate(property, .add, amount) }

    /// Multiplies a number. The update throws `QueryEvaluationError.arithmeticOverflow` if a result does not fit.
    public mutating func multiply<Value: Numeric & PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value>, by factor: Value
    ) { calculate(property, .multiply, factor) }

    /// Multiplies a number; nil stays nil. The update throws `QueryEvaluationError.arithmeticOverflow` if a result does
    /// not fit.
    public mutating func multiply<Value: Numeric & PersistentScalar>(
        _ property: ReferenceWritableKeyPath<Model, Value?>, by factor: Value
    ) { calculate(property, .multiply, factor) }

    // MARK: Assignments

    private mutating func relate(_ property: AnyKeyPath, to target: (any PersistentModel)?) {
        assign(property) { _, _ in
            .constant(target.map { .identifier($0.persistentModelID) } ?? .null)
        }
        if let target, target.persistentModelID.isTemporary { unsaved[target.persistentModelID] = target }
    }

    private mutating func copy(_ property: AnyKeyPath, _ other: AnyKeyPath) {
        assign(property) { layout, slot in
            guard let source = layout.slot(for: other), layout.isStoredAsItIs(source) else {
                throw BatchError.Reason.expression("\(other) is stored in another form")
            }
            let (mine, theirs) = (layout.record.slots[slot].property, layout.record.slots[source].property)
            let isAlike =
                mine.relationship?.destination == theirs.relationship?.destination
                && mine.attribute?.kind == theirs.attribute?.kind && !layout.record.slots[source].role.isToMany
            guard isAlike else { throw BatchError.Reason.expression("\(theirs.name) is stored in another form") }
            return .property(.variable(0), layout.queryProperty(source))
        }
    }

    private mutating func calculate<Value: PersistentScalar>(
        _ property: AnyKeyPath, _ operation: QueryExpression.Arithmetic, _ operand: Value
    ) {
        assign(property) { layout, slot in
            guard let kind = try? Lowering.numericKind(Value.self), layout.isStoredAsItIs(slot) else {
                throw BatchError.Reason.expression("there is no arithmetic on \(Value.self)")
            }
            let own = QueryExpression.property(.variable(0), layout.queryProperty(slot))
            let result = QueryExpression.arithmetic(operation, .variable(1), .constant(operand.storedValue), kind)
            return .flatMap(own, variable: 1, result)
        }
    }

    private mutating func assign(
        _ property: AnyKeyPath,
        _ value: (ModelLayout, Int) throws -> QueryExpression
    ) {
        if failure != nil { return }
        guard let slot = layout.slot(for: property) else {
            failure = .unassignable(entity: layout.entityName, property: "\(property)", reason: .notPersisted)
            return
        }
        let name = layout.properties[slot].name
        do {
            try layout.checkAssignable(slot, in: schema)
            if assignments.contains(where: { $0.property.slot == slot }) { throw BatchError.Reason.assignedTwice }
            assignments.append(.init(property: layout.queryProperty(slot), value: try value(layout, slot)))
        } catch let reason as BatchError.Reason {
            failure = .unassignable(entity: layout.entityName, property: name, reason: reason)
        } catch {
            failure = .unassignable(entity: layout.entityName, property: name, reason: .expression("\(error)"))
        }
    }
}

/// Why a batch cannot be carried out. Nothing was changed.
public enum BatchError: Error, Hashable, Sendable {
    /// A property cannot be set in a batch.
    case unassignable(entity: String, property: String, reason: Reason)

    /// Why a property cannot be set.
    public enum Reason: Error, Hashable, Sendable {
        /// The key path does not lead to a property of the schema.
        case notPersisted
        /// The attribute is never stored.
        case ephemeral
        /// The relationship is derived from another model's, or would change the members of another model's.
        case toMany
        /// The relationship's inverse is to-one too, so that several records cannot have one target.
        case oneToOne
        /// Other relationships name the same inverse, or have it in part: models alone keep both sides in step.
        case sharedInverse
        /// The batch sets it twice.
        case assignedTwice
        /// The value could not be encoded for the store.
        case unencodable
        /// The value's expression cannot be evaluated on stored values, with the reason.
        case expression(String)
    }
}

extension BatchError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The property that cannot be set, why, and the way out, in one line.
    public var description: String {
        switch self {
        case .unassignable(let entity, let property, let reason): "A batch cannot set \(entity).\(property): \(reason)."
        }
    }
    /// The error of SwiftData that this one matches.
    public var swiftDataError: SwiftDataError {
        switch self {
        case .unassignable(_, _, .notPersisted): .unsupportedKeyPath
        case .unassignable(_, _, .expression): .unsupportedPredicate
        default: .modelValidationFailure
        }
    }
}

extension BatchError.Reason: CustomStringConvertible {
    /// The reason and the way out.
    public var description: String {
        switch self {
        case .notPersisted: "it is not a persisted property. Name one that the schema has"
        case .ephemeral: "it is ephemeral, so no store holds it. Set it on the models"
        case .toMany: "it is a to-many relationship. Set its inverse, or set it on the models"
        case .oneToOne: "its inverse is a to-one relationship too. Set it on the models"
        case .sharedInverse: "models alone keep it in step with its inverse. Set it on the models"
        case .assignedTwice: "it is set twice. Keep one"
        case .unencodable: "the value cannot be encoded. Correct its encode(to:), or register its transformer"
        case .expression(let reason): "\(reason). Set it on the models"
        }
    }
}

extension ModelLayout {
    func isTransformable(_ slot: Int) -> Bool { (properties[slot] as? Schema.Attribute)?.isTransformable == true }

    func isStoredAsItIs(_ slot: Int) -> Bool {
        guard let attribute = properties[slot] as? Schema.Attribute else { return true }
        return !attribute.isTransformable && !attribute.options.contains(.ephemeral)
    }

    /// - Throws: the reason why a batch must not write the property.
    func checkAssignable(_ slot: Int, in schema: Schema, allowsStoredToMany: Bool = false) throws {
        if isKeptInStepByModels(slot, among: schema.layouts.values) { throw BatchError.Reason.sharedInverse }
        switch record.slots[slot].role {
        case .attribute:
            if record.slots[slot].property.attribute?.options.contains(.ephemeral) == true {
                throw BatchError.Reason.ephemeral
            }
        case .toOne:
            if let inverse = partnerSlots[slot], let destination = destinations[slot],
                destination.record.slots[inverse].role == .toOne
            {
                throw BatchError.Reason.oneToOne
            }
        case .toManyStored: if !allowsStoredToMany { throw BatchError.Reason.toMany }
        case .toManyDerived: throw BatchError.Reason.toMany
        }
    }

    /// Whether writing a relationship may violate a limit on the number of members, on this side or the other.
    func hasBounds(_ slot: Int) -> Bool {
        func isBounded(_ relationship: StoredRelationship?) -> Bool {
            relationship?.minimumCount != nil || relationship?.maximumCount != nil
        }
        if isBounded(record.slots[slot].property.relationship) { return true }
        guard let inverse = partnerSlots[slot], let destination = destinations[slot] else { return false }
        return isBounded(destination.record.slots[inverse].property.relationship)
    }
}
