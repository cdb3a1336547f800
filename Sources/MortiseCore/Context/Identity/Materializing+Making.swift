extension Materializing {
    /// Makes one model.
    static func make<Model: PersistentModel>(_ type: Model.Type, _ state: consuming ModelState) -> Model {
        let outer = next
        next = identity(type)
        defer { next = outer }
        return type.init(_modelState: state)
    }

    /// Runs a body that makes models of one class, and calls what it is given before each of them.
    @inline(__always)
    static func makeMany<Model: PersistentModel, R>(_ type: Model.Type, _ body: (_ beginNext: () -> Void) -> R) -> R {
        let outer = next
        let identity = identity(type)
        defer { next = outer }
        return body { next = identity }
    }
}
