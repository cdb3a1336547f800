/// A property as seen by its own `willSet` and `didSet`: access goes directly to the value, without calling the
/// observers again. Used by macro expansions.
public struct ObservedProperty<Value> {
    private let read: () -> Value
    private let write: (Value) -> Void

    /// Creates a property over two closures.
    /// - Parameters:
    ///   - example: a value of the property's type; serves type inference only.
    ///   - read: returns the current value.
    ///   - write: stores a new value.
    public init(like example: Value, read: @escaping () -> Value, write: @escaping (Value) -> Void) {
        self.read = read
        self.write = write
    }

    /// The property's value. Setting it marks the change but calls no observer.
    public var value: Value {
        get { read() }
        nonmutating set { write(newValue) }
    }
}
