import Dispatch
public import Foundation
public import Logging

extension ModelContainer {
    /// Opens stores in the background, so that an app shows that it works while a migration takes its time; else as
    /// `init(for:migrationPlan:configurations:logger:)`.
    ///
    ///     let container = try await ModelContainer.open(
    ///         for: Schema(versionedSchema: TripsV3.self), migrationPlan: TripsPlan.self, configurations: [configuration])
    ///
    /// The plan's closures run on a thread of the library, which blocks nobody; those of a plan that belongs to the main actor
    /// cannot be given. Cancelling the task, or the progress, ends a migration, with the stores as they were, as long as the
    /// outcome is not being written.
    ///
    /// A `Progress` shows how far the opening has come; it may be used again. Its units are set: as many for each store. Nil, the default,
    /// for none. `MigrationOptions.progress` tells in more detail. Off Apple a `Progress` has no lock: what another thread reads of
    /// it may be of a moment ago.
    /// - Throws: as the initializer; `CancellationError`.
    public nonisolated static func open(
        for givenSchema: Schema, migrationPlan: (any (SchemaMigrationPlan & SendableMetatype).Type)? = nil,
        configurations: [any DataStoreConfiguration & Sendable], progress: Progress? = nil,
        logger: Logger = Logger(label: "mortise")
    ) async throws -> ModelContainer {
        try Task.checkCancellation()
        let reporting = progress.map { MigrationMeter.Reporting($0, stores: configurations.count) }
        try reporting?.checkCancellation()
        return try await withTaskExecutorPreference(OpeningExecutor.shared) {
            let container = try MigrationMeter.$reporting.withValue(reporting) {
                try ModelContainer(
                    for: givenSchema, migrationPlan: migrationPlan, configurations: configurations, logger: logger)
            }
            reporting?.finish()
            return container
        }
    }
}

/// Runs what may block for long, apart from the threads that all tasks share.
private final class OpeningExecutor: TaskExecutor {
    static let shared = OpeningExecutor()
    private let queue = DispatchQueue(label: "mortise.opening", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
