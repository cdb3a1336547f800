/// A property as its own observers see it: reading and writing go to the value directly, without calling the observers
/// again. Used by macro expansions.
public struct ObservedProperty<Value> {
    private let read: () -> Value
    private let write: (Value) -> Void

    /// - Parameter example: a value of the property's type, which is all that is known of the type where it is inferred.
    public init(like example: Value, read: @escaping () -> Value, write: @escaping (Value) -> Void) {
        self.read = read
        self.write = write
    }

    public var value: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
}
