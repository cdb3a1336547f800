/// What every `Optional` conforms to, so that code that holds only a type can see through it.
protocol OptionalValue {
    static var wrappedType: any Any.Type { get }
    static var none: Self { get }
    var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }
    var unwrapped: Any? { self }
}
