import Synchronization

/// A value that is made when it is first asked for, once, whichever threads ask.
final class Lazily<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case pending(@Sendable () -> Value)
        case made(Value)
    }
    private let state: Mutex<State>

    /// `make` is called with a lock held: it must not ask for the value that it makes.
    init(_ make: @escaping @Sendable () -> Value) { state = Mutex(.pending(make)) }

    var value: Value {
        state.withLock { state in
            switch state {
            case .made(let value): return value
            case .pending(let make):
                let value = make()
                state = .made(value)
                return value
            }
        }
    }
}
