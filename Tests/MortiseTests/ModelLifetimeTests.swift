import Foundation
import Mortise
import Testing

/// Bug: a context that went with an unsaved relationship left its models, its container and the lock of its log behind for
/// ever; models of a relationship that was rolled back, or deleted before it was stored, stayed as well.
@Suite struct ModelLifetimeTests {
    /// What must be gone when nobody holds it.
    private struct Witnesses {
        weak var container: ModelContainer?
        weak var context: ModelContext?
        private var models: [Weak] = []
        private struct Weak { weak var model: AnyObject? }

        mutating func watch(_ watched: any PersistentModel...) { models += watched.map { Weak(model: $0) } }
        var areGone: Bool { container == nil && context == nil && modelsAreGone }
        var modelsAreGone: Bool { models.allSatisfy { $0.model == nil } }
    }

    enum Leaving: CaseIterable {
        case storedAndRelated, inserted, insertedToOne, insertedManyToMany, insertedRequired, insertedOneToOne
        case deleted, deletedAndMoved, failedSave, thrown, rolledBack, insertedAndDeleted, insertedDeletedAndRolledBack
        case insertedDeletedAndSaved, replaced, undeleted, conflicting, conflictingInDeletion
    }

    /// Leaves a context without saving, in some way.
    private func leave(_ way: Leaving, _ context: ModelContext, _ witnesses: inout Witnesses) throws {
        struct Failure: Error {}
        let (guild, apprentice) = (Guild("g"), Apprentice("a"))
        witnesses.watch(guild, apprentice)
        switch way {
        case .storedAndRelated:
            context.insert(guild)
            context.insert(apprentice)
            try context.save()
            apprentice.guild = guild
            guild.name = "changed"
        case .inserted:
            context.insert(guild)
            guild.apprentices = [apprentice]
        case .insertedToOne:
            apprentice.guild = guild
            context.insert(apprentice)
        case .insertedManyToMany:
            let (fair, court) = (Fair("f"), Court("c"))
            witnesses.watch(fair, court)
            guild.fairs = [fair]
            court.guilds = [guild]
            context.insert(guild)
        case .insertedRequired:
            let master = Master("m", guild)
            witnesses.watch(master)
            context.insert(guild)
        case .insertedOneToOne:
            let seal = Seal("s")
            witnesses.watch(seal)
            seal.guild = guild
            guild.seal = seal
            context.insert(seal)
        case .deleted, .deletedAndMoved:
            let (other, master) = (Guild("h"), Master("m", guild))
            witnesses.watch(other, master)
            guild.apprentices = [apprentice]
            context.insert(guild)
            context.insert(other)
            try context.save()
            context.delete(guild)
            if way == .deletedAndMoved {
                apprentice.guild = other
                master.guild = other
            }
            context.processPendingChanges()
        case .failedSave:
            guild.debts = [Debt("d")]
            context.insert(guild)
            try context.save()
            guild.apprentices = [apprentice]
            context.delete(guild)
            #expect(throws: ModelValidationError.self) { try context.save() }
        case .conflicting, .conflictingInDeletion:
            context.insert(guild)
            context.insert(apprentice)
            try context.save()
            let other = ModelContext(context.container)
            try onlyModel(Guild.self, in: other).name = "there"
            try onlyModel(Apprentice.self, in: other).name = "there"
            context.mergePolicy = .error
            guild.name = "here"
            guild.apprentices = [apprentice, Apprentice("b")]
            if way == .conflictingInDeletion { context.delete(apprentice) }
            try other.save()
            #expect(throws: SaveConflict.self) { try context.save() }
        case .thrown:
            guild.apprentices = [apprentice]
            context.insert(guild)
            throw Failure()
        case .rolledBack:
            guild.apprentices = [apprentice]
            witnesses.watch(Master("m", guild))
            context.insert(guild)
            context.rollback()
        case .insertedAndDeleted, .insertedDeletedAndSaved, .insertedDeletedAndRolledBack:
            guild.apprentices = [apprentice]
            context.insert(guild)
            context.delete(guild)
            context.delete(apprentice)
            if way == .insertedDeletedAndSaved { try context.save() }
            if way == .insertedDeletedAndRolledBack { context.rollback() }
        case .replaced:
            guild.apprentices = [apprentice]
            context.insert(guild)
            guild.apprentices = [Apprentice("b")]
            guild.apprentices = []
        case .undeleted:
            guild.apprentices = [apprentice]
            context.insert(guild)
            try context.save()
            context.delete(guild)
            context.processPendingChanges()
            context.insert(guild)
        }
    }

    @Test(arguments: Leaving.allCases) func nothingIsLeftOfAContextThatGoesUnsaved(_ way: Leaving) throws {
        var witnesses = Witnesses()
        func run() throws {
            let container = try familyContainer()
            let context = ModelContext(container)
            (witnesses.container, witnesses.context) = (container, context)
            try leave(way, context, &witnesses)
        }
        do { try run() } catch { #expect(way == .thrown, "\(error)") }
        #expect(witnesses.areGone)
    }

    /// The models go before the context does.
    @Test(arguments: [Leaving.rolledBack, .insertedDeletedAndSaved, .insertedDeletedAndRolledBack])
    func whatIsNotTheContextsAnyMoreGoesAtOnce(_ way: Leaving) throws {
        let context = ModelContext(try familyContainer())
        var witnesses = Witnesses()
        try leave(way, context, &witnesses)
        #expect(witnesses.modelsAreGone)
    }

    /// Models that have outlived their context, or were deleted from it.
    enum RelatingLate: CaseIterable {
        case stored, storedList, newMember, inserted, deleted, rolledBack
    }

    @Test(arguments: RelatingLate.allCases) func nothingIsLeftOfModelsThatAreRelatedLate(_ way: RelatingLate) throws {
        var witnesses = Witnesses()
        func run() throws {
            let container = try familyContainer()
            var context: ModelContext? = ModelContext(container)
            (witnesses.container, witnesses.context) = (container, context)
            let (guild, apprentice) = (Guild("g"), Apprentice("a"))
            witnesses.watch(guild, apprentice)
            context?.insert(guild)
            context?.insert(apprentice)
            if way != .inserted, way != .rolledBack { try context?.save() }
            if way == .deleted {
                context?.delete(guild)
                context?.delete(apprentice)
                try context?.save()
            }
            if way == .rolledBack { context?.rollback() }
            if way != .deleted { context = nil }
            switch way {
            case .stored, .inserted:
                apprentice.guild = guild
                #expect(apprentice.guild === guild && guild.apprentices == [apprentice])
            case .storedList: guild.apprentices = [apprentice]
            case .newMember:
                let late = Apprentice("b")
                witnesses.watch(late)
                guild.apprentices.append(late)
                #expect(guild.apprentices.count == 1)
            case .deleted, .rolledBack:
                guild.apprentices = [apprentice]
                apprentice.guild = guild
            }
        }
        try run()
        // Without a store behind them, models that were never inserted retain each other, as documented.
        #expect(way == .rolledBack ? witnesses.container == nil : witnesses.areGone)
    }

    @Test func theLockOfALogIsGivenFreeWithTheContext() throws {
        let folder = try Folder()
        let store = "log:\(folder.path("a.log"))"
        func run() throws {
            let context = ModelContext(try ModelContainer(for: Guild.self, store: store))
            let guild = Guild("g")
            context.insert(guild)
            guild.apprentices = [Apprentice("a")]
        }
        try run()
        // The same store with other options is refused as long as it is open.
        let container = try ModelContainer(for: Guild.self, store: store + "?keepDays=0")
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Guild>()) == 0)
        try container.close()
    }

    /// The main context saves what is pending before it goes with its container, and then the log is free.
    @MainActor @Test func theLockOfALogIsGivenFreeWithAMainContextThatIsYetToSave() async throws {
        let folder = try Folder()
        let store = "log:\(folder.path("a.log"))"
        var witnesses = Witnesses()
        func run() throws {
            let container = try ModelContainer(for: Guild.self, store: store)
            let context = container.mainContext
            (witnesses.container, witnesses.context) = (container, context)
            let guild = Guild("g")
            context.insert(guild)
            guild.apprentices = [Apprentice("a")]
            witnesses.watch(guild)
            #expect(context.hasChanges && context.autosaveEnabled)
        }
        try run()
        for _ in 0..<2_000 where !witnesses.areGone { try await Task.sleep(for: .milliseconds(5)) }
        #expect(witnesses.areGone)
        let container = try ModelContainer(for: Guild.self, store: store + "?keepDays=0")
        let guild = try onlyModel(Guild.self, in: ModelContext(container))
        #expect(guild.name == "g" && guild.apprentices.map(\.name) == ["a"])
        try container.close()
    }

    /// Without automatic saving the main context drops what is unsaved.
    @MainActor @Test func theLockOfALogIsGivenFreeWithAMainContextThatSavesNothing() throws {
        let folder = try Folder()
        let store = "log:\(folder.path("a.log"))"
        func run() throws {
            let container = try ModelContainer(for: Guild.self, store: store)
            container.mainContext.autosaveEnabled = false
            let guild = Guild("g")
            container.mainContext.insert(guild)
            guild.apprentices = [Apprentice("a")]
        }
        try run()
        let container = try ModelContainer(for: Guild.self, store: store + "?keepDays=0")
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Guild>()) == 0)
        try container.close()
    }

    /// Its jobs may be on their way out yet when its last reference goes.
    @Test func nothingIsLeftOfAModelActorThatGoesUnsaved() async throws {
        let folder = try Folder()
        let store = "log:\(folder.path("a.log"))"
        weak var container: ModelContainer?
        weak var context: ModelContext?
        weak var executor: (any ModelExecutor)?
        let models: WeakModels
        do {
            let opened = try ModelContainer(for: Guild.self, store: store)
            let actor = Foreman(modelContainer: opened)
            (container, executor, context) = (opened, actor.modelExecutor, actor.modelExecutor.modelContext)
            models = await actor.relate()
        }
        for _ in 0..<2_000 where context != nil || container != nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(container == nil && context == nil && executor == nil)
        #expect(models.guild == nil && models.apprentice == nil)
        let again = try ModelContainer(for: Guild.self, store: store + "?keepDays=0")
        #expect(try ModelContext(again).fetchCount(FetchDescriptor<Guild>()) == 0)
        try again.close()
    }

    @Test func modelsThatOutliveTheirContextKeepWhatIsTheirs() throws {
        func run() throws -> (Master, Apprentice) {
            let context = ModelContext(try familyContainer())
            let (guild, apprentice) = (Guild("g"), Apprentice("a"))
            let master = Master("m", guild)
            guild.apprentices = [apprentice]
            context.insert(guild)
            return (master, apprentice)
        }
        let (master, apprentice) = try run()
        #expect(master.modelContext == nil && master.name == "m" && apprentice.name == "a")
        #expect(master.guild.name == "g", "a required model is there as long as the one that needs it")
        #expect(apprentice.guild == nil)
        apprentice.name = "b"
        apprentice.guild = Guild("h")
        #expect(apprentice.name == "b")
    }

    @Test func rolledBackModelsCanBeInsertedAgainTogether() throws {
        let context = ModelContext(try familyContainer())
        let (guild, apprentice) = (Guild("g"), Apprentice("a"))
        guild.apprentices = [apprentice]
        context.insert(guild)
        context.rollback()
        #expect(guild.apprentices == [apprentice] && apprentice.guild === guild)
        context.insert(apprentice)
        #expect(guild.modelContext === context && guild.apprentices == [apprentice])
        try context.save()
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Guild>()).map(\.apprentices.count) == [1])
    }

    @Test func resultsInBatchesOutliveTheContext() throws {
        func run() throws -> FetchResultsCollection<Guild> {
            let context = ModelContext(try familyContainer())
            for number in 0..<10 { context.insert(Guild("\(number)")) }
            try context.save()
            return try context.fetch(FetchDescriptor<Guild>(), batchSize: 3)
        }
        let guilds = try run()
        #expect(guilds.map(\.name) == (0..<10).map { "\($0)" })
        let first = guilds[0]
        #expect(first.apprentices.isEmpty && first === guilds[0])
    }

    /// A model that belongs to itself must not retain itself by what it remembers of that.
    @Test(arguments: [true, false]) func nothingIsLeftOfADeletedModelThatWasItsOwnMember(isTakenOut: Bool) throws {
        var witnesses = Witnesses()
        func run() throws {
            let container = try memory(Knot.self)
            let context = ModelContext(container)
            (witnesses.container, witnesses.context) = (container, context)
            let (knot, other) = (Knot(), Knot())
            context.insert(knot)
            context.insert(other)
            knot.inner = [knot, other]
            try context.save()
            if isTakenOut { knot.inner = [] } else { other.inner = [knot] }
            context.delete(knot)
            try context.save()
            witnesses.watch(knot, other)
        }
        try run()
        #expect(witnesses.areGone)
    }

    /// Bug: a property that `deinit` set was a change of the context, which retained the object while it went.
    @Test func whatDeinitSetsRetainsNothing() throws {
        let container = try memory(Lodge.self, Guest.self)
        let context = ModelContext(container)
        let (stored, new) = (Lodge(), Lodge())
        context.insert(stored)
        context.insert(Guest(leavingFor: nil))
        try context.save()
        for lodge in [stored, new] {
            _ = try context.fetch(FetchDescriptor<Guest>()).map { $0.destination = lodge }
            _ = Guest(leavingFor: lodge)
            #expect(lodge.guests.isEmpty && context.insertedModelsArray.isEmpty && context.changedModelsArray.isEmpty)
        }
        try context.save()
        let guests = try ModelContext(container).fetch(FetchDescriptor<Guest>())
        #expect(guests.map(\.number) == [1])
        #expect(guests.first?.lodge == nil)
    }

    /// Bug: a method of the model that a plain superclass calls in its `deinit` set a property, which retained the object
    /// while it went.
    @Test func whatASuperclassSetsInItsDeinitRetainsNothing() throws {
        let container = try memory(Barrel.self, EmptyBarrel.self)
        let context = ModelContext(container)
        let gone = Tally()
        _ = Barrel(gone)
        context.insert(EmptyBarrel(gone))
        context.insert(Barrel(gone))
        try context.save()
        _ = try context.fetch(FetchDescriptor<Barrel>()).map { $0.gone = gone }
        #expect(gone.count == 4)
        #expect(context.changedModelsArray.isEmpty)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Barrel>()).map(\.litres) == [5])
    }

    /// Bug: another object was made for the record of one whose `deinit` ran, and so on, until the stack was used up.
    @Test(arguments: DeinitHabit.allCases) func deinitOnBothSidesOfARelationshipEnds(habit: DeinitHabit) throws {
        let container = try memory(Ferry.self, Passenger.self)
        let context = ModelContext(container)
        let ferry = Ferry()
        context.insert(ferry)
        ferry.passengers = [Passenger(), Passenger(), Passenger()]
        try context.save()
        let gone = Tally()
        func run(_ body: (Ferry) throws -> Void) throws {
            let reader = ModelContext(container)
            let ferry = try onlyModel(Ferry.self, in: reader)
            (ferry.habit, ferry.gone) = (habit, gone)
            for passenger in ferry.passengers { (passenger.habit, passenger.gone) = (habit, gone) }
            try body(ferry)
        }
        try run { _ in }
        #expect((1...4).contains(gone.count))
        try run { ferry in
            let context = try #require(ferry.modelContext)
            context.delete(ferry)
            try context.save()
        }
        #expect((2...8).contains(gone.count))
        let passengers = try ModelContext(container).fetch(FetchDescriptor<Passenger>())
        #expect(passengers.count == 3 && passengers.allSatisfy { $0.ferry == nil })
    }

    /// Bug: what had gone was made again by each other `deinit` that asked for it.
    @Test func deinitOfManyModelsThatAreRelatedToEachOtherRunsAFewTimes() throws {
        let container = try memory(Follower.self)
        let context = ModelContext(container)
        let followers = (0..<20).map { _ in Follower() }
        for follower in followers { context.insert(follower) }
        for follower in followers { follower.follows = followers }
        try context.save()
        let gone = Tally()
        func run() throws {
            for follower in try ModelContext(container).fetch(FetchDescriptor<Follower>()) { follower.gone = gone }
        }
        try run()
        #expect((20...400).contains(gone.count), "\(gone.count)")
    }

    @MainActor @Test func aContainerGoesWithItsMainContext() throws {
        var witnesses = Witnesses()
        func run() throws {
            let container = try familyContainer()
            let context = container.mainContext
            #expect(context === container.mainContext && context.container == container)
            // Else the context is kept until its changes are saved.
            context.autosaveEnabled = false
            (witnesses.container, witnesses.context) = (container, context)
            let guild = Guild("g")
            guild.apprentices = [Apprentice("a")]
            context.insert(guild)
            witnesses.watch(guild)
        }
        try run()
        #expect(witnesses.areGone)
    }

    @MainActor @Test func aMainContextKeepsTheContainerThatItIsFrom() throws {
        func run() throws -> ModelContext { try familyContainer().mainContext }
        let context = try run()
        context.insert(Guild("g"))
        try context.save()
        let container = context.container
        #expect(container.mainContext === context)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Guild>()) == 1)
    }

    @MainActor @Test func aMainContextIsThereAsLongAsItsContainer() throws {
        let container = try familyContainer()
        container.mainContext.insert(Guild("g"))
        #expect(container.mainContext.insertedModelsArray.count == 1)
        try container.mainContext.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Guild>()) == 1)
    }
}

@Model private final class Knot {
    @Relationship(inverse: \Knot.inner) var outer: Knot?
    var inner: [Knot] = []
    init() {}
}

@Model private final class Lodge {
    @Relationship(inverse: \Guest.lodge) var guests: [Guest] = []
    init() {}
}

@Model private final class Guest {
    var number = 1
    var lodge: Lodge?
    @Transient var destination: Lodge?
    init(leavingFor destination: Lodge?) { self.destination = destination }
    deinit {
        number = 2
        move(to: destination)
    }
    private func move(to destination: Lodge?) { lodge = destination }
}

/// A class that is no model, and calls a method in its `deinit`.
private class Vessel {
    init() {}
    func empty() {}
    deinit { empty() }
}

@Model private final class Barrel: Vessel {
    var litres = 5
    var next: Barrel?
    @Transient var gone: Tally?
    init(_ gone: Tally) {
        super.init()
        self.gone = gone
    }
    override func empty() {
        gone?.add()
        litres = 0
        next = nil
    }
}

@Model private final class EmptyBarrel: Vessel {
    var litres = 5
    @Transient var gone: Tally?
    init(_ gone: Tally) {
        super.init()
        self.gone = gone
    }
    deinit {}
    override func empty() {
        gone?.add()
        litres = 0
    }
}

@Model private final class Follower {
    @Relationship(inverse: \Follower.followers) var follows: [Follower] = []
    var followers: [Follower] = []
    @Transient var gone: Tally?
    init() {}
    deinit {
        gone?.add()
        _ = follows.count + followers.count
    }
}

/// What a model's `deinit` does with its relationship.
enum DeinitHabit: CaseIterable { case reads, sets }

@Model private final class Ferry {
    @Relationship(inverse: \Passenger.ferry) var passengers: [Passenger] = []
    @Transient var habit = DeinitHabit.reads
    @Transient var gone: Tally?
    init() {}
    deinit {
        gone?.add()
        if habit == .reads { _ = passengers.map(\.number) } else { passengers = [] }
    }
}

@Model private final class Passenger {
    var number = 0
    var ferry: Ferry?
    @Transient var habit = DeinitHabit.reads
    @Transient var gone: Tally?
    init() {}
    deinit {
        gone?.add()
        if habit == .reads { _ = ferry?.passengers.count } else { ferry = nil }
    }
}

@ModelActor
private actor Foreman {
    /// Relates models, stored and new, and saves nothing.
    func relate() -> WeakModels {
        let (guild, apprentice) = (Guild("g"), Apprentice("a"))
        modelContext.insert(guild)
        guild.apprentices = [apprentice]
        _ = Master("m", guild)
        return WeakModels(guild, apprentice)
    }
}

private final class WeakModels: @unchecked Sendable {
    // @unchecked: set once; weak references may be read anywhere.
    private(set) weak var guild: Guild?
    private(set) weak var apprentice: Apprentice?

    init(_ guild: Guild, _ apprentice: Apprentice) {
        self.guild = guild
        self.apprentice = apprentice
    }
}
