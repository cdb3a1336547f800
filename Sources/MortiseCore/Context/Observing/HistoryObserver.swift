import Foundation
public import Observation
import Synchronization

/// Counts the changes of a container's stores that concern some models and authors, made by this process or by
/// others. Read `eventCounter` in a view or with `withObservationTracking`, and fetch the history when it grows.
///
/// It counts on the actor that it was made on; outside of any actor, on a queue of its own. It ends when it is released.
public final class HistoryObserver: Observable {
    /// The container whose stores are observed.
    public let modelContainer: ModelContainer
    /// The model types whose changes count, with their subclasses; empty for all.
    public let observedModels: [any PersistentModel.Type]
    /// The authors whose changes count; empty for all.
    public let authors: Set<String>
    private let state: HistoryObserverState
    private var followers: [ChangeFeed.Follower] = []

    /// Begins to observe.
    /// - Parameters:
    ///   - historyTokens: the places in the stores' histories that the program knows, by the identifiers of the stores. If anything
    ///     that counts is behind them, the counter begins with 1. Nil for the present.
    ///   - observedModels: the model types whose changes count, with their subclasses; empty for all.
    ///   - authors: the authors whose changes count; empty for all.
    ///   - modelContainer: the container.
    ///   - isolation: where to count.
    /// - Throws: `ModelContextError.unknownModel` for a type that is not in the container's schema;
    ///   `SwiftDataError.historyTokenExpired` for a token whose history is gone; the stores' errors.
    public convenience init(
        historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
        authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        try self.init(historyTokens, observedModels, authors, modelContainer, on: isolation)
    }

    private init(
        _ tokens: [String: any HistoryToken]?, _ models: [any PersistentModel.Type], _ authors: Set<String>,
        _ container: ModelContainer, on actor: (any Actor)?
    ) throws {
        try container.checkOpen()
        var entities: Set<String> = []
        for type in models {
            guard let layout = container.schema.layout(for: type) else {
                throw ModelContextError.unknownModel(type: "\(type)")
            }
            entities.formUnion(container.schema.stored.subtree(of: layout.entityName))
        }
        modelContainer = container
        observedModels = models
        self.authors = authors
        state = HistoryObserverState(entities: entities, authors: authors, actor)
        // First, so that nothing lies between the tokens and what is told.
        for store in container.stores {
            followers.append(
                store.feed.follow(.records) { [weak state] delivery in
                    state?.take(delivery.changes)
                })
        }
        if let tokens { try state.look(behind: tokens, in: container) }
    }

    /// How many times something was told that counts. Changes that arrive together count once.
    public var eventCounter: Int { state.counter }
}

@available(*, unavailable, message: "An observer is used where it was made.")
extension HistoryObserver: Sendable {}

/// @unchecked Sendable: what changes is behind a lock, and the registrar is Sendable.
private final class HistoryObserverState: @unchecked Sendable, Observable {
    private let entities: Set<String>
    private let authors: Set<String>
    private let actor: (any Actor)?
    private let registrar = ObservationRegistrar()
    private let count = Mutex(0)

    init(entities: Set<String>, authors: Set<String>, _ actor: (any Actor)?) {
        self.entities = entities
        self.authors = authors
        self.actor = actor
    }

    var counter: Int {
        registrar.access(self, keyPath: \.counter)
        return count.withLock { $0 }
    }

    func take(_ changes: [ChangeSet]) {
        guard changes.contains(where: counts) else { return }
        guard let actor else { return add() }
        Task.detached { [weak self] in await self?.add(on: actor) }
    }

    private func add(on actor: isolated any Actor) { add() }

    private func add() {
        registrar.withMutation(of: self, keyPath: \.counter) { count.withLock { $0 += 1 } }
    }

    private func counts(_ changes: ChangeSet) -> Bool {
        // What others have done without saying so may concern anybody.
        if changes.isIncomplete, changes.commit == nil { return true }
        if !authors.isEmpty, !authors.contains(changes.author ?? "") { return false }
        if entities.isEmpty || changes.isErasure || changes.isIncomplete { return true }
        return changes.updated.contains { entities.contains($0.record.entityName) }
            || changes.inserted.records.contains { entities.contains($0.entityName) }
            || changes.deleted.contains { entities.contains($0.record.entityName) }
    }

    /// Counts once if anything that counts is behind the tokens.
    func look(behind tokens: [String: any HistoryToken], in container: ModelContainer) throws {
        // Named in the predicate, so that nothing has expired where only others' transactions are gone.
        let only = authors.count == 1 ? authors.first.flatMap { $0.isEmpty ? nil : $0 } : nil
        for store in container.stores {
            guard var token = tokens[store.identifier] as? DefaultHistoryToken else { continue }
            while true {
                // A few at a time: one that counts is enough.
                let seen = token
                var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > seen })
                if let only { descriptor.predicate = #Predicate { $0.token > seen && $0.author == only } }
                descriptor.fetchLimit = Self.page
                let found = try store.history(descriptor) ?? []
                if found.contains(where: counts) {
                    count.withLock { $0 = 1 }
                    return
                }
                guard found.count >= Self.page, let last = found.last?.token, last != token else { break }
                token = last
            }
        }
    }

    private static let page: UInt64 = 64

    private func counts(_ transaction: DefaultHistoryTransaction) -> Bool {
        if !authors.isEmpty, !authors.contains(transaction.author ?? "") { return false }
        return entities.isEmpty
            || transaction.changes.contains { entities.contains($0.changedPersistentIdentifier.entityName) }
    }
}
