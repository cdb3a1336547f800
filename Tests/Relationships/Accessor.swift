import MortiseCore

/// Reads and writes one relationship of models whose classes are known at run time only, through what `@Model` calls.
struct Accessor {
    let slot: Int
    let kind: World.Kind
    /// Whether a to-many property is an optional array.
    let isOptionalArray: Bool
    /// Whether a subclass declares it: its initial values wait until it is used.
    let isOwn: Bool
    private let target: any GeneratedModel.Type

    init(slot: Int, end: World.End, target: any GeneratedModel.Type) {
        self.slot = slot
        kind = end.kind
        isOptionalArray = end.isOptionalArray
        isOwn = end.owner.level > 0
        self.target = target
    }

    func read(_ model: any GeneratedModel) -> [any GeneratedModel] {
        if isOwn { model._adoptInitialValues() }
        func open<Target: GeneratedModel>(_: Target.Type) -> [any GeneratedModel] {
            switch kind {
            case .optional:
                let value: Target? = model[optional: PropertyPath(slot: slot)]
                return value.map { [$0] } ?? []
            case .required:
                let value: Target = model[required: PropertyPath(slot: slot)]
                return [value]
            case .many where isOptionalArray:
                let value: [Target]? = model[optionalMany: PropertyPath(slot: slot)]
                return value ?? []
            case .many:
                let value: [Target] = model[many: PropertyPath(slot: slot)]
                return value
            }
        }
        return open(target)
    }

    func write(_ values: [any GeneratedModel], to model: any GeneratedModel) {
        if isOwn { model._adoptInitialValues() }
        func open<Target: GeneratedModel, Model: GeneratedModel>(_: Target.Type, _ model: Model) {
            let values = values.compactMap { $0 as? Target }
            switch kind {
            case .optional: model[optional: PropertyPath(slot: slot)] = values.first
            case .required: if let value = values.first { model[required: PropertyPath(slot: slot)] = value }
            // An array that is nil says the same as an empty one.
            case .many where isOptionalArray:
                model[optionalMany: PropertyPath(slot: slot)] = values.isEmpty ? nil : values
            case .many: model[many: PropertyPath(slot: slot)] = values
            }
        }
        open(target, model)
    }

    /// Adds to, or takes from, a to-many relationship in place.
    func update(
        _ model: any GeneratedModel, adding added: (any GeneratedModel)?, removing removed: (any GeneratedModel)?
    ) {
        if isOwn { model._adoptInitialValues() }
        func open<Target: GeneratedModel, Model: GeneratedModel>(_: Target.Type, _ model: Model) {
            let path = PropertyPath<Target>(slot: slot)
            if isOptionalArray {
                if let added = added as? Target {
                    model[optionalMany: path] = (model[optionalMany: path] ?? []) + [added]
                }
                if let removed { model[optionalMany: path]?.removeAll { $0 === removed } }
            } else {
                if let added = added as? Target { model[many: path].append(added) }
                if let removed { model[many: path].removeAll { $0 === removed } }
            }
        }
        open(target, model)
    }

    func initializer(for values: [any GeneratedModel]) -> any Initializer {
        func open<Target: GeneratedModel>(_: Target.Type) -> any Initializer {
            TargetInitializer<Target>(
                kind: kind, isOptionalArray: isOptionalArray, values: values.compactMap { $0 as? Target })
        }
        return open(target)
    }
}

private struct TargetInitializer<Target: GeneratedModel>: Initializer {
    let kind: World.Kind
    let isOptionalArray: Bool
    let values: [Target]

    func initialize(_ state: inout ModelState, at slot: Int) {
        switch kind {
        case .optional: state.initialize(at: slot, to: values.first)
        case .required: if let value = values.first { state.initialize(at: slot, to: value) }
        case .many where isOptionalArray: state.initialize(at: slot, to: values.isEmpty ? nil : values)
        case .many: state.initialize(at: slot, to: values)
        }
    }

    func initialize(_ state: inout InitialValues, at slot: Int) {
        switch kind {
        case .optional: state.initialize(at: slot, to: values.first)
        case .required: if let value = values.first { state.initialize(at: slot, to: value) }
        case .many where isOptionalArray: state.initialize(at: slot, to: values.isEmpty ? nil : values)
        case .many: state.initialize(at: slot, to: values)
        }
    }
}
