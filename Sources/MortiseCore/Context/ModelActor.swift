import Foundation

/// An actor with a model context of its own, for work on models away from the main actor.
public protocol ModelActor: Actor {
    nonisolated var modelContainer: ModelContainer { get }
    /// Runs the actor's code. Its context is for the actor alone: use `modelContext`.
    nonisolated var modelExecutor: any ModelExecutor { get }
}

extension ModelActor {
    nonisolated public var unownedExecutor: UnownedSerialExecutor {
        if let serial = modelExecutor as? any SerialModelExecutor { return serial.asUnownedSerialExecutor() }
        return MainActor.sharedUnownedExecutor
    }

    /// The actor's context.
    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The model with that identifier, if there is one of that type.
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as type: T.Type) -> T? {
        modelContext.model(for: id) as? T
    }
}

/// Runs the code of model actors and owns the context they use.
public protocol ModelExecutor: Executor {
    var modelContext: ModelContext { get }
}

/// A model executor that runs one job at a time.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs a model actor on a dispatch queue of its own, so that a store that blocks never holds up the threads on which
/// Swift's other tasks run.
///
/// @unchecked Sendable: the context is used only by jobs on the queue.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    public let modelContext: ModelContext
    private let queue = DispatchQueue(label: "mortise.model-actor")

    public init(modelContext: ModelContext) { self.modelContext = modelContext }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
