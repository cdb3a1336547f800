import Foundation

extension ModelContext {
    /// An aggregate of a fetch as a sequence of its values, without end: the value now, and another one whenever it has changed.
    ///
    ///     for try await count in context.values(of: .count, in: FetchDescriptor<Trip>()) { … }
    ///
    /// Only changes that may concern the value are looked at. A number of models is kept by counting; any other aggregate is
    /// calculated anew then. Unsaved changes of the context count if the descriptor includes them, and a slow consumer gets the last
    /// value alone. The sequence ends when its task is cancelled.
    /// - Parameters:
    ///   - aggregate: what to calculate.
    ///   - descriptor: of which models.
    /// - Returns: the values, which every iterator follows on its own.
    public func values<T: PersistentModel, Value: Sendable>(
        of aggregate: Aggregate<T, Value>, in descriptor: FetchDescriptor<T>
    ) -> AggregateChanges<T, Value> {
        AggregateChanges(context: self, descriptor: descriptor, aggregate: aggregate)
    }
}

/// The values of a live aggregate; see `ModelContext.values(of:in:)`. It is used where its context is used.
public struct AggregateChanges<Model: PersistentModel, Value: Sendable>: AsyncSequence {
    /// A value.
    public typealias Element = Value
    /// What `ModelContext.aggregate(_:_:)` throws.
    public typealias Failure = any Error

    let context: ModelContext
    let descriptor: FetchDescriptor<Model>
    let aggregate: Aggregate<Model, Value>

    /// Follows the value from the first call of `next()` on, until it is released.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let sequence: AggregateChanges
        private var stream: LiveValue<Model, Value>?

        fileprivate init(_ sequence: AggregateChanges) { self.sequence = sequence }

        /// The next value that differs from the last one; nil once the task is cancelled.
        /// - Parameter actor: where the context is used.
        /// - Returns: the value.
        /// - Throws: what `ModelContext.aggregate(_:_:)` throws: an overflow, for example, after which the next call waits for a value
        ///   again.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Value? {
            let stream = try self.stream ?? LiveValue(sequence, isolation: actor)
            self.stream = stream
            return try await stream.next(isolation: actor)
        }
    }

    /// Begins with the value now.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// One consumer of a live aggregate.
private final class LiveValue<Model: PersistentModel, Value: Sendable>: LiveSubscriber {
    private let sequence: AggregateChanges<Model, Value>
    private let signal = LiveSignal()
    private var place: LivePlace?
    /// For a number of models.
    private var query: LiveQuery<Model>?
    private var reads: LiveReads?
    private var last: Value?
    private var isStale = true
    private var failure: (any Error)?
    private var context: ModelContext { sequence.context }

    init(_ sequence: AggregateChanges<Model, Value>, isolation: (any Actor)?) throws {
        self.sequence = sequence
        let state = sequence.context.state
        let live = LiveResults.following(sequence.context)
        place = live.subscribe(self, isolation: isolation) { [signal] in signal.set() }
        if sequence.aggregate.operation == .count {
            query = try LiveQuery(sequence.descriptor, section: nil, in: state)
            reads = query?.reads
        } else {
            for table in try state.tables(under: Model.self) { live.follow(table.session) }
            let prepared = PreparedQuery(sequence.descriptor, under: state.container.schema)
            var expressions = prepared.query.conjuncts.map(\.expression)
            if prepared.query.isLimited { expressions += prepared.query.order.map(\.expression) }
            if let keyPath = sequence.aggregate.keyPath {
                expressions.append(try AggregateError.lowering(keyPath, of: Model.self))
            }
            reads = LiveReads(expressions, root: prepared.query.entity, schema: state.container.schema)
        }
        live.noteReads()
    }

    private func value() throws -> Value {
        if let query, let count = query.shown.count as? Value { return count }
        return try context.aggregate(sequence.descriptor, sequence.aggregate)
    }

    func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
        while !Task.isCancelled {
            signal.reset()
            context.state.live?.collect()
            if let failure {
                self.failure = nil
                throw failure
            }
            if isStale {
                isStale = false
                let value = try value()
                if let last, Self.areEqual(last, value) { continue }
                last = value
                return value
            }
            await signal.wait(isolation: actor)
        }
        return nil
    }

    private static func areEqual(_ a: Value, _ b: Value) -> Bool {
        guard let a = a as? any Hashable, let b = b as? any Hashable else { return false }
        return AnyHashable(a) == AnyHashable(b)
    }

    var entities: Set<String>? { reads.flatMap { $0.obstacle == .code ? nil : $0.entities } }

    func take(_ batch: LiveBatch) -> Bool {
        if let query {
            do {
                let before = query.shown.count
                _ = try query.take(batch)
                if query.shown.count != before { isStale = true }
            } catch {
                fail(error)
            }
        } else if batch.isUnknown || batch.touches.contains(where: { reads?.concern($0) ?? true })
            || reads?.obstacle != nil
        {
            isStale = true
        }
        return isStale
    }

    func willTell() {}
    func show() {}
    func didTell() { signal.set() }

    func fail(_ error: any Error) {
        failure = error
        signal.set()
    }
}
