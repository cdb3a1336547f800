import Foundation
import Synchronization

extension ModelContext {
    /// The result of a fetch as a sequence of differences, without end.
    ///
    ///     for try await change in context.changes(of: FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.start)])) {
    ///         rows = change.applied(to: rows) { Row($0) }
    ///     }
    ///
    /// The first element of each iterator is a reset from an empty result; nothing is lost between the fetch and the elements that
    /// follow. Unsaved changes of the context count if the descriptor includes them. A consumer that is slow gets one element for
    /// all that has happened meanwhile, and a reset if that is more than a quarter of the result. The sequence ends when its task is cancelled.
    /// It throws once and ends if the query cannot be evaluated any more, or if the container is closed.
    /// - Parameters:
    ///   - descriptor: what to fetch.
    ///   - sectionBy: the property whose values divide the result into sections.
    ///   - observing: properties whose changes are told as updates although they belong to related models.
    /// - Returns: the differences, which every iterator follows on its own.
    public func changes<T: PersistentModel>(
        of descriptor: FetchDescriptor<T>, sectionBy: KeyPath<T, String>, observing: [PartialKeyPath<T>] = []
    ) -> ResultsChanges<T> {
        ResultsChanges(context: self, descriptor: descriptor, section: LiveSection(sectionBy), observing: observing)
    }

    /// As `changes(of:sectionBy:observing:)`, in sections by a property that may be nil, which counts as an empty title.
    public func changes<T: PersistentModel>(
        of descriptor: FetchDescriptor<T>, sectionBy: KeyPath<T, String?>, observing: [PartialKeyPath<T>] = []
    ) -> ResultsChanges<T> {
        ResultsChanges(context: self, descriptor: descriptor, section: LiveSection(sectionBy), observing: observing)
    }

    /// As `changes(of:sectionBy:observing:)`, without sections.
    public func changes<T: PersistentModel>(
        of descriptor: FetchDescriptor<T>, observing: [PartialKeyPath<T>] = []
    ) -> ResultsChanges<T> {
        ResultsChanges(context: self, descriptor: descriptor, section: nil, observing: observing)
    }
}

/// The differences of a live result; see `ModelContext.changes(of:sectionBy:observing:)`. It is used where its context is used.
public struct ResultsChanges<Model: PersistentModel>: AsyncSequence {
    /// A difference.
    public typealias Element = ResultsChange
    /// What a fetch throws.
    public typealias Failure = any Error

    let context: ModelContext
    let descriptor: FetchDescriptor<Model>
    let section: LiveSection<Model>?
    let observing: [PartialKeyPath<Model>]

    /// Follows the result from the first call of `next()` on, until it is released.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let sequence: ResultsChanges
        private var stream: LiveStream<Model>?

        fileprivate init(_ sequence: ResultsChanges) { self.sequence = sequence }

        /// The next difference; nil once the task is cancelled.
        /// - Parameter actor: where the context is used.
        /// - Returns: what has changed since the last call.
        /// - Throws: what a fetch throws.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> ResultsChange? {
            let stream = try self.stream ?? LiveStream(sequence, isolation: actor)
            self.stream = stream
            return try await stream.next(isolation: actor)
        }
    }

    /// Begins with a reset.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// One consumer of a live result.
private final class LiveStream<Model: PersistentModel>: LiveSubscriber {
    private let context: ModelContext
    private let signal = LiveSignal()
    private var query: LiveQuery<Model>?
    private var place: LivePlace?
    /// What the consumer has not taken yet.
    private var waiting: ResultsChange?
    private var next: ResultsChange?
    private var failure: (any Error)?
    private var hasEnded = false

    init(_ sequence: ResultsChanges<Model>, isolation: (any Actor)?) throws {
        context = sequence.context
        let live = LiveResults.following(context)
        place = live.subscribe(self, isolation: isolation) { [signal] in signal.set() }
        let query = try LiveQuery(
            sequence.descriptor, section: sequence.section, observed: sequence.observing, in: context.state)
        self.query = query
        live.noteReads()
        waiting = reset(from: 0, query)
    }

    private func reset(from count: Int, _ query: LiveQuery<Model>) -> ResultsChange {
        ResultsChange(
            sections: SectionDifference(new: query.runs), contents: query.contents, oldCount: count,
            newCount: query.shown.count)
    }

    func next(isolation actor: isolated (any Actor)?) async throws -> ResultsChange? {
        while !hasEnded {
            if Task.isCancelled { break }
            signal.reset()
            context.state.live?.collect()
            if let change = waiting {
                waiting = nil
                return change
            }
            if let failure {
                hasEnded = true
                throw failure
            }
            await signal.wait(isolation: actor)
        }
        hasEnded = true
        return nil
    }

    var entities: Set<String>? {
        guard let query else { return [] }
        return query.reads.obstacle == .code ? nil : query.reads.entities.union(query.family)
    }

    func take(_ batch: LiveBatch) -> Bool {
        guard let query, !hasEnded, failure == nil else { return false }
        do { next = try query.take(batch) } catch { fail(error) }
        return next != nil
    }

    func willTell() {}

    func show() {
        guard let change = next, let query else { return }
        next = nil
        let before = waiting?.oldCount ?? change.oldCount
        var composed = change
        if let waiting { composed = waiting.isReset ? waiting : change.following(waiting) }
        waiting =
            composed.isReset || composed.rowCount > max(64, query.shown.count / 4)
            ? reset(from: before, query) : composed
    }

    func didTell() { signal.set() }

    func fail(_ error: any Error) {
        failure = failure ?? error
        signal.set()
    }
}

/// Wakes one task that waits. Set before it waits, it does not wait.
final class LiveSignal: Sendable {
    private struct State {
        var isSet = false
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func reset() { state.withLock { $0.isSet = false } }

    func set() {
        let continuation = state.withLock { state in
            state.isSet = true
            return state.continuation.take()
        }
        continuation?.resume()
    }

    /// Returns when the signal is set, or the task is cancelled.
    func wait(isolation: isolated (any Actor)?) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSet = state.withLock { state in
                    if !state.isSet { state.continuation = continuation }
                    return state.isSet
                }
                if isSet { continuation.resume() }
            }
        } onCancel: {
            set()
        }
    }
}
