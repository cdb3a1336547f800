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
    /// What waits on one thread, kept for the thread's next time.
    private final class Queue {
        var pending: [any PersistentModel] = []
        var isRunning = false

        // Never inlined: nothing but the queue may hold the model afterwards.
        @inline(never)
        func take(_ model: inout (any PersistentModel)?) {
            if let model { pending.append(model) }
            model = nil
        }

        func run() {
            isRunning = true
            while let model = pending.popLast() { withExtendedLifetime(model) {} }
            isRunning = false
            // The room for a million models is not kept.
            if pending.capacity > 1024 { pending = [] }
        }
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { queue in
            #if canImport(Darwin)
            Unmanaged<Queue>.fromOpaque(queue).release()
            #else
            if let queue { Unmanaged<Queue>.fromOpaque(queue).release() }
            #endif
        }
        return key
    }()

    private static var queue: Queue {
        if let known = pthread_getspecific(key) { return Unmanaged<Queue>.fromOpaque(known).takeUnretainedValue() }
        let queue = Queue()
        pthread_setspecific(key, Unmanaged.passRetained(queue).toOpaque())
        return queue
    }

    /// Empties the array; its models, if not retained elsewhere, are released when the outermost call on this thread
    /// returns.
    static func release(_ models: inout [any PersistentModel]) {
        if models.isEmpty { return }
        let queue = queue
        queue.pending += models
        models = []
        if !queue.isRunning { queue.run() }
    }

    /// Like the variant for several models.
    static func release(_ model: inout (any PersistentModel)?) {
        let queue = queue
        queue.take(&model)
        if !queue.isRunning { queue.run() }
    }
}

/// The models whose `deinit` runs on a thread, and those that have gone meanwhile. No relationship leads to one of them, as
/// no weak reference does: another object would be made for its record, whose own `deinit` would ask for it again.
enum Going {
    private struct Key: Hashable {
        let state: ObjectIdentifier
        let identifier: PersistentIdentifier
    }

    private final class List {
        /// All since the outermost `deinit` began: what is gone already is not made again by the next that asks for it.
        var models = Set<Key>()
        var depth = 0
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { list in
            #if canImport(Darwin)
            Unmanaged<List>.fromOpaque(list).release()
            #else
            if let list { Unmanaged<List>.fromOpaque(list).release() }
            #endif
        }
        return key
    }()

    private static var list: List? {
        pthread_getspecific(key).map { Unmanaged<List>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether any model's `deinit` runs on this thread.
    static var isActive: Bool { list.map { $0.depth > 0 } ?? false }

    static func contains(_ identifier: PersistentIdentifier, in state: ObjectIdentifier) -> Bool {
        guard let list, list.depth > 0 else { return false }
        return list.models.contains(Key(state: state, identifier: identifier))
    }

    static func begin(_ identifier: PersistentIdentifier, in state: ObjectIdentifier) {
        let known = list
        let list = known ?? List()
        if known == nil { pthread_setspecific(key, Unmanaged.passRetained(list).toOpaque()) }
        list.models.insert(Key(state: state, identifier: identifier))
        list.depth += 1
    }

    static func end() {
        guard let list, list.depth > 0 else { return }
        list.depth -= 1
        if list.depth == 0 { list.models = [] }
    }
}
