#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Lets go of models one after the other. Each may be the last to hold the next one, and a long list of them, released
/// from within each other, would use up the stack.
enum Releasing {
    private final class Queue {
        var pending: [any PersistentModel] = []
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Empties the array; the models that nobody else holds are gone when the outermost call on this thread returns.
    static func release(_ models: inout [any PersistentModel]) {
        if models.isEmpty { return }
        if let running = pthread_getspecific(key) {
            let queue = Unmanaged<Queue>.fromOpaque(running).takeUnretainedValue()
            queue.pending += models
            models = []
            return
        }
        let queue = Queue()
        swap(&queue.pending, &models)
        pthread_setspecific(key, Unmanaged.passUnretained(queue).toOpaque())
        while let model = queue.pending.popLast() { withExtendedLifetime(model) {} }
        pthread_setspecific(key, nil)
    }
}
