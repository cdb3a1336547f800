import MortiseCore

extension CaseContext {
    /// Stores one model for each value, and checks that the values are the same to the last bit in the context that
    /// saved them, in a fresh one, and after reopening where the subject claims that.
    func roundTrip<M: PersistentModel, Value>(
        _ values: [Value], of property: ReferenceWritableKeyPath<M, Value>, _ name: String, make: () -> M
    ) throws {
        let writer = try session()
        let models = values.map { value in
            let model = make()
            model[keyPath: property] = value
            return model
        }
        writer.change("insert \(values.count) \(M.self) with values of \(name)") {
            for model in models { writer.context.insert(model) }
        }
        try writer.save()
        for (model, value) in zip(models, values) {
            try expect(model[keyPath: property], is: value, "\(M.self).\(name) in the context that saved it:")
        }
        try compare(values, property, name, "in a fresh context")
        if subject.capabilities.contains(.reopening) {
            try reopen()
            try compare(values, property, name, "after reopening")
        }
    }

    private func compare<M: PersistentModel, Value>(
        _ values: [Value], _ property: ReferenceWritableKeyPath<M, Value>, _ name: String, _ place: String
    ) throws {
        let reader = try session()
        let models = try reader.all(M.self)
        try expect(models.count, is: values.count, "\(M.self)s \(place):")
        for (model, value) in zip(models, values) {
            try expect(model[keyPath: property], is: value, "\(M.self).\(name) \(place):")
        }
    }

    /// Gives a stored property one value after the other, each in a separate save, and checks it after each.
    func rewrite<M: PersistentModel, Value>(
        _ values: [Value], of property: ReferenceWritableKeyPath<M, Value>, _ name: String, make: () -> M
    ) throws {
        let writer = try session()
        let model = make()
        try writer.store(model)
        for value in values {
            writer.change("set \(name) to \(ExactForm.text(value))") { model[keyPath: property] = value }
            try writer.save()
            let found = try session().only(M.self)
            try expect(found[keyPath: property], is: value, "\(M.self).\(name) after the update:")
        }
    }
}
