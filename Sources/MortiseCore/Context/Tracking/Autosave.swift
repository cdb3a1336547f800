import Dispatch
import Foundation
import Logging

/// Saves a context by itself, once for all that one stretch of synchronous code has changed, and never in the middle of it.
///
/// The save is a separate job on the executor on which the changes are made: the main actor's, or that of a model
/// actor. Elsewhere the end of the code that changes the context cannot be detected, so nothing is saved there, and the
/// log says so.
///
/// @unchecked Sendable: apart from being referred to, it is used only where its context is used.
final class Autosave: @unchecked Sendable {
    private weak var context: ModelContext?
    private weak var executor: (any SerialModelExecutor)?
    private var isMain = false
    /// The context while a job is going to save it: changes are saved even if nothing else retains the context.
    private var held: ModelContext?
    private var isScheduled = false
    /// How many calls are at work that no save may interrupt. They may turn a run loop, and the job runs then.
    private var holds = 0
    private var isOverdue = false
    private var failures = 0
    private var isRetrying = false
    private var hasWarned = false
    /// Waits before the next attempt after a failure.
    var wait: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }

    /// Prepares saving a context. The main context is saved only from the main actor.
    func attach(to context: ModelContext) { self.context = context }
    func attachToMainActor() { isMain = true }

    var needsExecutor: Bool { executor == nil && !isMain }

    /// From now on the context's changes are made on this executor.
    func attach(to executor: any SerialModelExecutor) {
        if !isMain, self.executor == nil { self.executor = executor }
    }

    // MARK: Scheduling

    /// Called for every change; schedules at most one job.
    func schedule() {
        if isScheduled {
            if held == nil { held = context }
            return
        }
        guard let context else { return }
        guard executor != nil || isMain || Self.isOnMainActor else {
            warn(context)
            return
        }
        isScheduled = true
        held = context
        enqueue { $0.run() }
    }

    private func enqueue(_ body: @escaping @Sendable (Autosave) -> Void) {
        if let executor {
            Task.detached { await ExecutorActor(executor).run { body(self) } }
        } else {
            Task.detached { @MainActor in
                // A model actor may have taken the context over meanwhile.
                if self.executor == nil { body(self) } else { self.enqueue(body) }
            }
        }
    }

    /// Runs a body on the executor of the context's model actor, after the present code.
    /// - Returns: false if no model actor has the context.
    func schedule(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let executor else { return false }
        Task.detached { await ExecutorActor(executor).run(body) }
        return true
    }

    /// See `CurrentIsolation.isMainActor`.
    static var isOnMainActor: Bool { CurrentIsolation.isMainActor }

    // MARK: Saving

    private func run() {
        isScheduled = false
        guard let context = held ?? context else { return }
        held = nil
        if holds > 0 {
            isOverdue = true
        } else {
            save(context)
        }
    }

    private func save(_ context: ModelContext) {
        guard context.autosaveEnabled, context.hasChanges else { return }
        if let error = context.state.latchedError {
            failed(context, error)
            return
        }
        do {
            try context.save()
            failures = 0
        } catch {
            context.state.latchAutosave(error)
            failed(context, error)
        }
    }

    /// Tries again later, because what is in the way may go: a full disk, another process's lock, a value that is missing.
    private func failed(_ context: ModelContext, _ error: any Error) {
        context.container.logger.error(
            "autosave failed",
            metadata: ["error": "\(error)", "unsaved": "\(context.state.tracker?.count ?? 0)"])
        if case ModelContextError.containerClosed = error { return }
        let delay = Duration.seconds(1 << min(failures, 6))
        failures += 1
        // One at a time: each change that fails would begin another series.
        if isRetrying { return }
        isRetrying = true
        Task.detached { [weak self, wait] in
            await wait(delay)
            self?.enqueue {
                $0.isRetrying = false
                if $0.failures > 0 { $0.schedule() }
            }
        }
    }

    /// Saves now what a job would have saved, because the job will not run.
    /// - Throws: what a save throws.
    func saveNow() throws {
        guard let context, context.autosaveEnabled, context.hasChanges else { return }
        try context.save()
    }

    /// Keeps jobs from saving until `end` is called.
    func begin() { holds += 1 }

    func end() {
        holds -= 1
        guard holds == 0 else { return }
        if context?.state.hasChanges != true {
            held = nil
        } else if isOverdue {
            schedule()
        }
        isOverdue = false
    }

    private func warn(_ context: ModelContext) {
        if hasWarned { return }
        hasWarned = true
        context.container.logger.warning(
            """
            autosaveEnabled has no effect here: the context is used neither on the main actor nor by a model actor. \
            Call save(), or use the context in a model actor.
            """)
    }
}

/// Runs jobs where a model actor's run.
private actor ExecutorActor {
    private let executor: any SerialModelExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ executor: any SerialModelExecutor) { self.executor = executor }

    func run(_ body: @Sendable () -> Void) { body() }
}
