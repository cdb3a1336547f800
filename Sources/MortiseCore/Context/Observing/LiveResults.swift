import Synchronization

/// One live result of a context: it takes in what has changed, and then tells it.
protocol LiveSubscriber: AnyObject {
    /// The entities whose records it reads; nil if these may be any.
    var entities: Set<String>? { get }
    /// Takes in what has changed, without telling anybody.
    /// - Returns: whether there is something to tell.
    func take(_ batch: LiveBatch) -> Bool
    /// Calls those who want to know before the new result is shown.
    func willTell()
    /// Shows the new result.
    func show()
    /// Calls those who want to know afterwards.
    func didTell()
    /// The context's stores can no longer be read.
    func fail(_ error: any Error)
}

/// The live results of a context: what has changed since they were last worked off, and how that is delivered.
///
/// Used where the context is used, apart from the places of subscribers and the mail, which come and go on any thread.
final class LiveResults: UnsavedChangeFollower {
    /// How many rounds follow each other without a turn for other code.
    private static let mostRounds = 1000

    struct Mark {
        let model: any PersistentModel
        var slots = SlotSet()
        /// Whether the record was inserted, deleted, or brought back.
        var comesOrGoes = false
    }

    private struct Place {
        let number: UInt64
        weak var subscriber: (any LiveSubscriber)?
    }

    private weak var context: ModelContext?
    let places: LivePlaces
    private var subscribers: [Place] = []
    private var marks: [ObjectIdentifier: Mark] = [:]
    private var moves: [ObjectIdentifier: LiveMove] = [:]
    /// The sessions of stores without versions of which anything may have changed.
    private var unknown: Set<ObjectIdentifier> = []
    /// What is named of them.
    private var named: [ChangeSet] = []
    /// The ones among them of which not all that has changed is named.
    private var unnamed: Set<ObjectIdentifier> = []
    private var hasSaved = false
    private var isDelivering = false
    /// By entity, the subscribers that read it; nil if it has to be made again.
    private var readers: (byEntity: [String: [Int]], others: [Int])?

    init(_ context: ModelContext) {
        self.context = context
        places = LivePlaces()
        places.attach(self)
    }

    /// The live results of a context, which follow it from now on.
    static func following(_ context: ModelContext) -> LiveResults {
        if let live = context.state.live { return live }
        let live = LiveResults(context)
        context.state.follower = live
        return live
    }

    // MARK: Subscribers

    /// Adds a subscriber, whose place ends when it is released.
    func subscribe(
        _ subscriber: any LiveSubscriber, isolation: (any Actor)?, wake: (@Sendable () -> Void)? = nil
    ) -> LivePlace {
        if !places.isActive { restart() }
        let place = places.add(isolation, wake)
        subscribers.removeAll { $0.subscriber == nil }
        subscribers.append(Place(number: place.number, subscriber: subscriber))
        readers = nil
        return place
    }

    /// What a subscriber reads has changed.
    func noteReads() { readers = nil }

    /// Begins again after a time without subscribers.
    private func restart() {
        forgetChanges()
        subscribers = []
        guard let state = context?.state else { return }
        for list in [state.inserted, state.changed, state.deleted] {
            for model in list { model._modelState.flags.insert(.isWatched) }
        }
    }

    private func forgetChanges() {
        marks = [:]
        moves = [:]
        unknown = []
        named = []
        unnamed = []
        hasSaved = false
    }

    /// Follows the store of a session, from before it is read.
    func follow(_ session: StoreSession) { places.follow(session) }

    // MARK: What changes

    /// A model is among the unsaved ones from now on.
    func watch(_ model: any PersistentModel, comesOrGoes: Bool) {
        guard places.isActive else { return }
        model._modelState.flags.insert(.isWatched)
        if comesOrGoes {
            if marks.isEmpty { places.schedule() }
            marks[ObjectIdentifier(model), default: Mark(model: model)].comesOrGoes = true
        }
    }

    /// A value of an unsaved model changes.
    func mark(_ model: any PersistentModel, at slot: Int) {
        guard places.isActive else { return }
        if marks.isEmpty { places.schedule() }
        marks[ObjectIdentifier(model), default: Mark(model: model)].slots.insert(slot)
    }

    /// The context is about to drop all unsaved changes.
    func noteRollback() {
        guard places.isActive, let state = context?.state else { return }
        deliver()
        for list in [state.inserted, state.deleted] {
            for model in list {
                marks[ObjectIdentifier(model), default: Mark(model: model)].comesOrGoes = true
            }
        }
        for list in [state.changed, state.deleted] {
            for model in list {
                guard let changed = model._draft?.changed else { continue }
                marks[ObjectIdentifier(model), default: Mark(model: model)].slots.formUnion(changed)
            }
        }
    }

    /// The context has moved to another version.
    func noteMove(of session: StoreSession, from previous: any StoreVersion, to latest: any StoreVersion) {
        guard places.isActive else { return }
        let isOwn = context?.state.isTakingOver == true
        let sets = places.mail(of: session)?.take(through: latest.number, after: previous.number)
        moves[ObjectIdentifier(session), default: LiveMove(session, from: previous)].add(
            sets, to: latest, own: isOwn ? latest.number : nil)
    }

    /// Others have changed a store without versions, and not all of it may be known.
    func noteUnknownChanges(of session: StoreSession) {
        if places.isActive { unknown.insert(ObjectIdentifier(session)) }
    }

    /// Takes in what the feed of a store without versions has named, also where no record of it was read here.
    func takeMail(of session: StoreSession) {
        guard places.isActive, let mail = places.mail(of: session), !mail.isEmpty else { return }
        let taken = mail.takeAll()
        named += taken
        unknown.insert(ObjectIdentifier(session))
        if taken.contains(where: \.isIncomplete) { unnamed.insert(ObjectIdentifier(session)) }
    }

    /// A save of the context has ended: delivers what it has changed.
    func noteSave() {
        guard places.isActive, let state = context?.state else { return }
        hasSaved = true
        for session in state.sessions where session.version == nil {
            takeMail(of: session)
            unknown.insert(ObjectIdentifier(session))
        }
        deliver()
    }

    // MARK: Delivering

    /// Whether something has changed that was not worked off.
    var hasWork: Bool { !marks.isEmpty || !moves.isEmpty || !unknown.isEmpty || hasSaved }

    /// Works off what has changed. Within a delivery, and while stores are locked, nothing happens: the delivery goes on with it.
    func deliver() {
        guard hasWork, !isDelivering, let context, !context.state.notifications.isActive else { return }
        // The last subscriber went before it was told, maybe on another thread: nobody holds the models for it any more.
        guard places.isActive else { return forgetChanges() }
        isDelivering = true
        defer { isDelivering = false }
        var rounds = 0
        while hasWork {
            rounds += 1
            if rounds > Self.mostRounds {
                context.state.latch(LiveResultsError.observersKeepChanging)
                places.schedule()
                return
            }
            deliverOnce(context.state)
        }
    }

    private func deliverOnce(_ state: ContextState) {
        let batch = LiveBatch(
            state, marks.values, Array(moves.values), unknown, named, unnamed: unnamed, hasSaved: hasSaved)
        forgetChanges()
        let asked = asked(by: batch)
        let told = asked.filter { $0.take(batch) }
        if told.isEmpty { return }
        for subscriber in told { subscriber.willTell() }
        for subscriber in told { subscriber.show() }
        for subscriber in told { subscriber.didTell() }
    }

    private func asked(by batch: LiveBatch) -> [any LiveSubscriber] {
        if batch.isUnknown { return subscribers.compactMap(\.subscriber) }
        if readers == nil {
            subscribers.removeAll { $0.subscriber == nil }
            var made: (byEntity: [String: [Int]], others: [Int]) = ([:], [])
            for (index, place) in subscribers.enumerated() {
                guard let subscriber = place.subscriber else { continue }
                if let entities = subscriber.entities {
                    for entity in entities { made.byEntity[entity, default: []].append(index) }
                } else {
                    made.others.append(index)
                }
            }
            readers = made
        }
        guard let readers else { return [] }
        var indexes = Set(readers.others)
        for entity in batch.entities { indexes.formUnion(readers.byEntity[entity] ?? []) }
        return indexes.sorted().compactMap { subscribers[$0].subscriber }
    }

    /// Moves the context to what is stored now, and delivers. Called where the context is used, when others have saved.
    func collect() {
        guard let context else { return }
        deliver()
        let state = context.state
        do {
            try state.container.checkOpen()
            for session in state.sessions {
                guard let mail = places.mail(of: session), !mail.isEmpty else { continue }
                try state.refresh(session)
            }
            deliver()
        } catch {
            for place in subscribers { place.subscriber?.fail(error) }
        }
    }
}

/// Why live results do not go on as they should.
public enum LiveResultsError: Error, Hashable, Sendable, ClassifiedStoreError {
    /// Observers of live results have answered each change with another one, a thousand times in a row.
    case observersKeepChanging

    /// `usage`: the observers are at fault.
    public var errorClass: StoreErrorClass { .usage }

    /// The cause, and the way out.
    public var description: String {
        "Observers of live results change what they observe whenever it changes. Make a change only where it is needed."
    }
}

/// What a subscriber holds: with its last release the subscriber is forgotten.
final class LivePlace: Sendable {
    let number: UInt64
    private let places: LivePlaces

    fileprivate init(_ number: UInt64, _ places: LivePlaces) {
        self.number = number
        self.places = places
    }

    deinit { places.remove(number) }
}

/// The places of a context's live results, and the mail that waits for them.
///
/// @unchecked Sendable: `results` is referred to only where the context is used; all else is behind a lock.
final class LivePlaces: @unchecked Sendable {
    private struct State {
        var numbers: Set<UInt64> = []
        var next: UInt64 = 0
        var isolation: (any Actor)?
        var isScheduled = false
        var mail: [ObjectIdentifier: (mail: ChangeMailbox, follower: ChangeFeed.Follower)] = [:]
        /// Called whenever there is something to work off.
        var wake: [UInt64: @Sendable () -> Void] = [:]
    }

    private weak var results: LiveResults?
    private let state = Mutex(State())
    private let count = Atomic(0)

    func attach(_ results: LiveResults) { self.results = results }

    var isActive: Bool { count.load(ordering: .relaxed) > 0 }

    fileprivate func add(_ isolation: (any Actor)?, _ wake: (@Sendable () -> Void)?) -> LivePlace {
        let number = state.withLock { state in
            state.next += 1
            state.wake[state.next] = wake
            state.numbers.insert(state.next)
            if let isolation { state.isolation = isolation }
            return state.next
        }
        count.add(1, ordering: .relaxed)
        return LivePlace(number, self)
    }

    fileprivate func remove(_ number: UInt64) {
        // Released outside of the lock: followers go with their feeds.
        var gone: [ChangeFeed.Follower] = []
        state.withLock { state in
            guard state.numbers.remove(number) != nil else { return }
            state.wake[number] = nil
            count.subtract(1, ordering: .relaxed)
            guard state.numbers.isEmpty else { return }
            gone = state.mail.values.map(\.follower)
            state.mail = [:]
            state.isolation = nil
        }
        for follower in gone { follower.cancel() }
    }

    fileprivate func follow(_ session: StoreSession) {
        let key = ObjectIdentifier(session)
        if state.withLock({ $0.mail[key] != nil }) { return }
        let mail = ChangeMailbox { [weak self] in self?.schedule() }
        let follower = session.connection.feed.follow(into: mail)
        state.withLock { $0.mail[key] = (mail, follower) }
    }

    func mail(of session: StoreSession) -> ChangeMailbox? {
        state.withLock { $0.mail[ObjectIdentifier(session)]?.mail }
    }

    /// Has what waits be worked off where the context is used, after the code that runs there now.
    func schedule() {
        let (actor, wake) = state.withLock { state -> ((any Actor)?, [@Sendable () -> Void]) in
            let wake = Array(state.wake.values)
            if state.isScheduled || state.numbers.isEmpty { return (nil, wake) }
            if state.isolation != nil { state.isScheduled = true }
            return (state.isolation, wake)
        }
        for body in wake { body() }
        guard let actor else { return }
        Task.detached { await self.run(on: actor) }
    }

    private func run(on actor: isolated any Actor) {
        state.withLock { $0.isScheduled = false }
        results?.collect()
    }
}

extension ContextState {
    /// The live results of the context; nil before there were any.
    var live: LiveResults? { follower as? LiveResults }
}
