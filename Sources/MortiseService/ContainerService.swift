#if ServiceLifecycle
import Dispatch
public import Logging
public import MortiseCore
public import ServiceLifecycle

/// Keeps a container's stores open as long as a service group runs, watches them, and closes them at the end.
///
///     let group = ServiceGroup(
///         services: [ContainerService(container), server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
///     try await group.run()
///
/// A service group shuts its services down in reverse order: list the container before whatever saves to it.
///
/// The module needs the trait `ServiceLifecycle`: `.package(url: …, traits: ["ServiceLifecycle"])`.
public struct ContainerService: Service {
    private let container: ModelContainer
    private let healthInterval: Duration?
    private let logger: Logger?

    /// - Parameters:
    ///   - container: the open container.
    ///   - healthInterval: how often the stores are asked how they are, a thousand times a second at most; nil asks never.
    ///   - logger: is told when the health of a store changes; nil takes the container's own.
    public init(_ container: ModelContainer, healthInterval: Duration? = .seconds(30), logger: Logger? = nil) {
        self.container = container
        self.healthInterval = healthInterval
        self.logger = logger
    }

    /// Returns when the group shuts down, or the task is cancelled, and the container is closed. It is closed on the main actor,
    /// so that the changes of its main context are saved first; the main thread must not be blocked.
    /// - Throws: what closing throws. The stores are closed nevertheless.
    public func run() async throws {
        let watching = healthInterval.map { interval in Task { await watch(every: interval) } }
        try? await gracefulShutdown()
        // Nobody waits for its end: a store that does not answer would keep the container open.
        watching?.cancel()
        try await MainActor.run { try container.close() }
    }

    private func watch(every interval: Duration) async {
        var known: [String: StoreHealth.Status] = [:]
        while !Task.isCancelled {
            let answers = await health()
            // A container that is being closed is no news.
            if Task.isCancelled { return }
            for health in answers {
                let before = known.updateValue(health.status, forKey: health.store)
                if before != health.status { report(health, isFirst: before == nil) }
            }
            do { try await Task.sleep(for: max(interval, .milliseconds(1))) } catch { return }
        }
    }

    /// Asked on a thread of its own: a store whose disk hangs must not hold one that all tasks share.
    private func health() async -> [StoreHealth] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: container.health()) }
        }
    }

    private func report(_ health: StoreHealth, isFirst: Bool) {
        let logger = logger ?? container.logger
        var metadata: Logger.Metadata = ["store": "\(health.store)", "status": "\(health.status.rawValue)"]
        metadata["location"] = health.location.map { "\($0)" }
        metadata["fault"] = health.fault.map { "\($0)" }
        switch health.status {
        case .healthy: logger.log(level: isFirst ? .debug : .notice, "the store works", metadata: metadata)
        case .lowOnSpace: logger.warning("the store is low on space", metadata: metadata)
        case .locked, .damaged, .closed, .failing: logger.error("the store does not work", metadata: metadata)
        }
    }
}
#endif
