public import Foundation
public import Observation

/// Keeps the result of a fetch up to date, outside of views as well as in them.
///
/// The result follows unsaved changes of the context, and what the context, other contexts of the container and other processes
/// save: the properties are observable. Unsaved changes are worked off together, once the code that makes them has ended or
/// suspended, before the next fetch or save, and by `ModelContext.processPendingChanges()`; what others save, as soon as the actor is free that
/// the observer was made on. An observer made outside of any actor takes in what others have saved with the context's next
/// fetch, save or refresh. All observers of a context change in one step, and with the models.
///
/// Only changed records are looked at where the query allows that; see `explanation`. Without sections, `SectionTitle` is `Never`:
///
///     let observer = try ResultsObserver<Trip, Never>(sortBy: [SortDescriptor(\.start)], modelContext: context)
///
/// An observer is used where its context is used, and ends when it is released.
public final class ResultsObserver<Element: PersistentModel, SectionTitle: Hashable>: Observable {
    /// The context that the models belong to.
    public let modelContext: ModelContext
    private let query: LiveQuery<Element>
    private let registrar = ObservationRegistrar()
    private var place: LivePlace?
    private var replaced: FetchResultsCollection<Element>?
    private var replacedSections: SectionedResults<Element, SectionTitle>?
    private var next: ResultsChange?
    private var nextError: (any Error)?
    private var lastError: (any Error)?
    /// Called with each difference as it is shown.
    package var onChange: ((ResultsChange) -> Void)?

    init(
        _ descriptor: FetchDescriptor<Element>, _ section: LiveSection<Element>?, _ context: ModelContext,
        isolation: (any Actor)?
    ) throws {
        modelContext = context
        let live = LiveResults.following(context)
        // Before the fetch, so that no change falls between the two.
        let relay = LiveRelay()
        let place = live.subscribe(relay, isolation: isolation)
        query = try LiveQuery(descriptor, section: section, in: context.state)
        self.place = place
        self.relay = relay
        relay.subscriber = self
        live.noteReads()
    }

    private let relay: LiveRelay

    // MARK: What is fetched

    /// What is fetched. Change it through `filterBy` and `sortBy`.
    public var fetchDescriptor: FetchDescriptor<Element> {
        registrar.access(self, keyPath: \.fetchDescriptor)
        return query.descriptor
    }

    /// The condition that models must meet; nil for all. Setting it fetches at once. If the fetch throws, condition and results
    /// stay, the error is in `error`, and the context's next fetch or save throws it.
    public var filterBy: Predicate<Element>? {
        get { fetchDescriptor.predicate }
        set {
            var descriptor = query.descriptor
            descriptor.predicate = newValue
            replace(descriptor)
        }
    }

    /// The sort keys, most significant first. Models with equal keys are in order of insertion. With sections, the section's title
    /// comes before all keys. Setting them fetches at once, with errors as in `filterBy`.
    public var sortBy: [SortDescriptor<Element>] {
        get { fetchDescriptor.sortBy }
        set {
            var descriptor = query.descriptor
            descriptor.sortBy = newValue
            replace(descriptor)
        }
    }

    /// The property by which the results are divided into sections; nil without sections.
    public var sectionBy: PartialKeyPath<Element>? { query.section?.keyPath }

    private func replace(_ descriptor: FetchDescriptor<Element>) {
        do {
            // First, so that the difference is that of the replacement alone.
            try query.begin()
            let (old, oldRuns) = (query.shown, query.runs)
            try query.replace(descriptor)
            modelContext.state.live?.noteReads()
            let batch = LiveBatch(modelContext.state, [], [], [], [], hasSaved: false)
            next = query.difference(from: old, oldRuns, [], batch)
            nextError = nil
        } catch {
            next = nil
            nextError = error
            modelContext.state.latch(error)
        }
        willTell()
        registrar.willSet(self, keyPath: \.fetchDescriptor)
        show()
        registrar.didSet(self, keyPath: \.fetchDescriptor)
        didTell()
    }

    /// Fetches the results again, and shows what has changed.
    /// - Throws: what a fetch throws; the results then stay as they are.
    public func refresh() throws {
        try modelContext.refresh()
        modelContext.state.live?.deliver()
        next = try query.refresh(LiveBatch(modelContext.state, [], [], [], [], hasSaved: true))
        nextError = nil
        willTell()
        show()
        didTell()
    }

    // MARK: Results

    /// The models, in order. A collection that was read stays as it is while the observer goes on; reading delivers nothing. A
    /// collection that is set is shown until the next change.
    public var results: FetchResultsCollection<Element> {
        get {
            registrar.access(self, keyPath: \.results)
            return replaced ?? query.results
        }
        set { registrar.withMutation(of: self, keyPath: \.results) { replaced = newValue } }
    }

    /// The sections of the results, in the order of their first models; nil without sections. Nil and empty titles share a
    /// section. A value that is set is shown until the next change.
    public var sections: SectionedResults<Element, SectionTitle>? {
        get {
            registrar.access(self, keyPath: \.sections)
            if let replacedSections { return replacedSections }
            return query.runs.map { SectionedResults(query.results, $0) { $0 as? SectionTitle } }
        }
        set { registrar.withMutation(of: self, keyPath: \.sections) { replacedSections = newValue } }
    }

    /// The model at a path of section and item; nil without sections, and for a path that leads nowhere.
    public func element(at indexPath: IndexPath) -> Element? {
        guard indexPath.count == 2, let sections, sections.indices.contains(indexPath[0]) else { return nil }
        let section = sections[indexPath[0]]
        return section.indices.contains(indexPath[1]) ? section[indexPath[1]] : nil
    }

    /// The section and item of a model; nil without sections, and if the model is not among the results.
    public func indexPath(for element: Element) -> IndexPath? {
        registrar.access(self, keyPath: \.results)
        guard let runs = query.runs, let index = query.index(of: element), let section = runs.section(of: index) else {
            return nil
        }
        return [section, index - runs.starts[section]]
    }

    /// Why the results could not follow the last change; nil if they did. They stay the last right ones meanwhile, and are fetched
    /// again at the next change.
    public var error: (any Error)? {
        registrar.access(self, keyPath: \.error)
        return lastError
    }

    /// How the results follow changes: what was looked at, and how often the query had to run again and why.
    public var explanation: LiveExplanation { query.explanation }

    // MARK: Delivery

    fileprivate var entities: Set<String>? {
        query.reads.obstacle == .code ? nil : query.reads.entities.union(query.family)
    }

    fileprivate func take(_ batch: LiveBatch) -> Bool {
        let hadError = lastError != nil
        do {
            next = try query.take(batch)
            nextError = nil
        } catch {
            next = nil
            nextError = error
        }
        return next != nil || nextError != nil || hadError
    }

    fileprivate func willTell() {
        if next != nil {
            registrar.willSet(self, keyPath: \.results)
            registrar.willSet(self, keyPath: \.sections)
        }
        if nextError != nil || lastError != nil { registrar.willSet(self, keyPath: \.error) }
    }

    fileprivate func show() {
        if let next {
            onChange?(next)
            replaced = nil
            replacedSections = nil
        }
        lastError = nextError
    }

    fileprivate func didTell() {
        registrar.didSet(self, keyPath: \.results)
        registrar.didSet(self, keyPath: \.sections)
        registrar.didSet(self, keyPath: \.error)
        next = nil
    }

    fileprivate func fail(_ error: any Error) {
        registrar.withMutation(of: self, keyPath: \.error) { lastError = error }
    }
}

@available(*, unavailable, message: "An observer is used where its context is used.")
extension ResultsObserver: Sendable {}

/// What an observer without a type parameter is to the context's live results.
private protocol LiveObserver: AnyObject {
    var entities: Set<String>? { get }
    func take(_ batch: LiveBatch) -> Bool
    func willTell()
    func show()
    func didTell()
    func fail(_ error: any Error)
}

extension ResultsObserver: LiveObserver {}

/// Passes on to an observer, which it does not keep alive.
final class LiveRelay: LiveSubscriber {
    fileprivate weak var subscriber: (any LiveObserver)?

    var entities: Set<String>? { subscriber.map(\.entities) ?? [] }
    func take(_ batch: LiveBatch) -> Bool { subscriber?.take(batch) ?? false }
    func willTell() { subscriber?.willTell() }
    func show() { subscriber?.show() }
    func didTell() { subscriber?.didTell() }
    func fail(_ error: any Error) { subscriber?.fail(error) }
}
