import Foundation

/// Runs the code of model actors and owns the context they use.
public protocol ModelExecutor: Executor {
    /// The context that the executed code uses. It is used by one job at a time.
    var modelContext: ModelContext { get }
}

/// A model executor that runs one job at a time.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// Runs a model actor on its own dispatch queue, so that a store that blocks never blocks the threads of Swift's other
/// tasks.
///
/// @unchecked Sendable: the context is used only by jobs on the queue.
public final class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
    /// The context that the actor's methods use. Only code that runs on this executor may touch it.
    public let modelContext: ModelContext
    private let queue = DispatchQueue(label: "mortise.model-actor")

    /// Makes an executor with its own serial queue. The context must not be used elsewhere afterwards.
    public init(modelContext: ModelContext) {
        self.modelContext = modelContext
        modelContext.autosave.attach(to: self)
    }

    /// Runs a job on the executor's queue, after all jobs that were enqueued before it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    /// A reference to the executor that does not retain it.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
