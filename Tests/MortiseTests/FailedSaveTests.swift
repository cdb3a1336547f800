import Foundation
import Mortise
import Observation
import Testing

/// Bug: a save settled conflicts and merged unique models before it found out that it could not be done, and left that so.
@Suite struct FailedSaveTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func fresh(_ kind: StoreKind) throws -> (ModelContext, Worker) {
        let context = ModelContext(try staffContainer(kind, folder))
        let worker = Worker(1, "old", Team("A"))
        context.insert(worker)
        try context.save()
        return (context, worker)
    }

    /// Makes every save of the context fail.
    /// - Returns: what lets them succeed.
    private func obstruct(_ context: ModelContext) -> () -> Void {
        let nut = Nut()
        let bolt = Bolt(nut)
        context.insert(bolt)
        nut.bolt = nil
        return { bolt.nut = nut }
    }

    private func stored(_ context: ModelContext) throws -> [String] {
        try ModelContext(context.container).fetch(FetchDescriptor<Worker>(sortBy: [SortDescriptor(\.number)])).map {
            "\($0.number) \($0.name)"
        }
    }

    /// All that can be seen of some models and their context.
    private func picture(_ context: ModelContext, _ models: [any PersistentModel]) -> [String] {
        func name(_ model: (any PersistentModel)?) -> String { model.map { "\($0.persistentModelID)" } ?? "-" }
        func names(_ models: [any PersistentModel]) -> String { models.map { name($0) }.joined(separator: ",") }
        let lists = [context.insertedModelsArray, context.changedModelsArray, context.deletedModelsArray]
        return lists.map(names)
            + models.map { model in
                let state =
                    "\(name(model)) \(model.modelContext === context) \(model.isDeleted) \(model.hasChanges)"
                switch model {
                case let worker as Worker:
                    let ones = [worker.team, worker.boss, worker.friend, worker.friendOf] as [(any PersistentModel)?]
                    return "\(state) \(worker.number) \(worker.name) \(worker.nick ?? "-") \(ones.map(name)) "
                        + "\(names(worker.reports)) \(names(worker.peers))"
                case let team as Team:
                    return "\(state) \(team.code) \(team.title) \(names(team.workers)) \(names(team.posts)) "
                        + name(team.best)
                case let post as Post: return "\(state) \(post.number) \(post.name) \(name(post.team))"
                default: return state
                }
            }
    }

    @Test(arguments: StoreKind.allCases)
    func aNewModelThatWouldHaveMergedCanBeGivenAnotherKey(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        let mistake = Worker(1, "mistake")
        context.insert(mistake)
        let repair = obstruct(context)
        #expect(throws: ModelValidationError.self) { try context.save() }
        #expect(mistake.modelContext === context && context.insertedModelsArray.contains { $0 === mistake })
        #expect(worker.name == "old" && context.changedModelsArray.isEmpty)
        mistake.number = 2
        repair()
        try context.save()
        #expect(try stored(context) == ["1 old", "2 mistake"])
    }

    @Test(arguments: StoreKind.allCases)
    func aNewModelThatWouldHaveMergedCanBeDeleted(kind: StoreKind) throws {
        let (context, _) = try fresh(kind)
        let mistake = Worker(1, "mistake")
        context.insert(mistake)
        let repair = obstruct(context)
        #expect(throws: ModelValidationError.self) { try context.save() }
        context.delete(mistake)
        repair()
        try context.save()
        #expect(try stored(context) == ["1 old"])
    }

    @Test(arguments: StoreKind.allCases)
    func newModelsThatWouldHaveMergedCanBeToldApart(kind: StoreKind) throws {
        let (context, _) = try fresh(kind)
        let (first, second) = (Worker(7, "first"), Worker(7, "second"))
        context.insert(first)
        context.insert(second)
        let repair = obstruct(context)
        #expect(throws: ModelValidationError.self) { try context.save() }
        second.number = 8
        repair()
        try context.save()
        #expect(try stored(context) == ["1 old", "7 first", "8 second"])
    }

    @Test(arguments: StoreKind.allCases)
    func everyModelListAndRelationshipIsAsBefore(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        let (other, gone, team) = (Worker(2, "other", worker.team), Worker(3, "gone"), Team("B", "stored"))
        worker.friend = other
        worker.peers = [other]
        other.boss = worker
        for model in [other, gone] { context.insert(model) }
        context.insert(team)
        context.insert(Post(1, "stored", team))
        try context.save()
        let home = try #require(worker.team)
        let stand = try #require(team.posts.first)

        let pal = Worker(9, "pal")
        let same = Team("B", "new")
        let new = Worker(1, "new", same)
        new.nick = "n"
        new.boss = pal
        new.friend = new
        new.peers = [new, pal, gone]
        new.reports = [pal]
        let again = Worker(1, "again", Team("C"))
        again.friend = other
        again.nick = "n"
        same.best = new
        context.insert(new)
        context.insert(again)
        let post = Post(1, "new", same)
        context.insert(post)
        other.name = "changed"
        context.delete(gone)
        let repair = obstruct(context)
        let models: [any PersistentModel] = [
            worker, other, gone, team, home, pal, same, new, again, post, stand, try #require(again.team),
        ]
        let before = picture(context, models)
        for _ in 0..<3 {
            #expect(throws: ModelValidationError.self) { try context.save() }
            #expect(picture(context, models) == before)
        }
        repair()
        try context.save()
        #expect(worker.name == "again" && worker.nick == "n")
        #expect(worker.team?.code == "C" && worker.boss === pal && worker.friend === other)
        #expect(Set(worker.peers.map(\.number)) == [1, 2, 9])
        #expect(Set(worker.reports.map(\.number)) == [2, 9])
        #expect(team.title == "new" && team.best === worker && team.posts.map(\.name) == ["new"])
        #expect(try context.fetchCount(FetchDescriptor<Post>()) == 1)
        #expect(!context.hasChanges)
    }

    /// The store refuses the first attempt, because it has a newer version; the second one collides with that.
    @Test(arguments: [StoreKind.json, .log])
    func aSaveThatFailsAtItsSecondAttemptLeavesAllAsBefore(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        let other = Worker(2, "other")
        context.insert(other)
        try context.save()
        let (new, again) = (Worker(1, "new"), Worker(1, "again", Team("B")))
        again.peers = [new, other]
        for model in [new, again] { context.insert(model) }
        context.insert(Racer(["a"]))
        other.number = 7
        let models = [worker, other, new, again]
        let before = picture(context, models)
        let count = Tally()
        // Containers of one process share the store, and not what keeps two contexts of one container apart.
        let beside = try staffContainer(kind, folder)
        let race: @Sendable () -> Void = {
            count.add()
            guard count.count == 1 else { return }
            let context = ModelContext(beside)
            context.insert(Worker(7, "beside"))
            #expect(throws: Never.self) { try context.save() }
        }
        StaffRacing.$race.withValue(race) {
            _ = #expect(throws: ModelContextError.self) { try context.save() }
        }
        #expect(count.count > 0)
        #expect(picture(context, models) == before)
        other.number = 8
        again.number = 3
        try context.save()
        #expect(try stored(context) == ["1 new", "3 again", "7 beside", "8 other"])
        #expect(Set(again.peers.map(\.number)) == [1, 8] && worker.peers.isEmpty)
    }

    @Test func aSaveThatFindsACollisionAfterMergingCanBeRolledBack() throws {
        let context = ModelContext(try catalogContainer())
        let (first, second, label) = (Product(code: "a", barcode: "1"), Product(code: "b", barcode: "2"), Label("x"))
        for model in [first, second] { context.insert(model) }
        try context.save()
        let (new, both) = (Product(code: "a", title: "new"), Product(code: "a", barcode: "2"))
        new.labels = [label]
        context.insert(new)
        context.insert(both)
        #expect(throws: ModelContextError.self) { try context.save() }
        #expect(first.title == "" && first.labels.isEmpty && label.products.map(\.title) == ["new"])
        #expect(new.modelContext === context && both.modelContext === context)
        context.rollback()
        #expect(!context.hasChanges && new.title == "new" && new.labels.map(\.text) == ["x"])
        #expect(first.title == "" && second.barcode == "2")
        context.insert(new)
        try context.save()
        #expect(first.title == "new" && first.labels.map(\.text) == ["x"])
    }

    @Test(arguments: StoreKind.allCases)
    func theNextSaveMaySettleConflictsByAnotherPolicy(kind: StoreKind) throws {
        for first in [MergePolicy.storeWins, .objectWins, .propertyWise] {
            for (second, expected) in [
                (MergePolicy.objectWins, "here -"), (.propertyWise, "here there"), (.storeWins, "there there"),
            ] {
                let folder = try Folder()
                let container = try staffContainer(kind, folder)
                let (here, there) = (ModelContext(container), ModelContext(container))
                here.insert(Worker(1, "old"))
                try here.save()
                let (mine, theirs): (Worker, Worker) = (try onlyModel(in: here), try onlyModel(in: there))
                mine.name = "here"
                theirs.name = "there"
                theirs.nick = "there"
                try there.save()
                let repair = obstruct(here)
                here.mergePolicy = first
                #expect(throws: ModelValidationError.self) { try here.save() }
                #expect(mine.name == "here" && mine.nick == "there" && here.changedModelsArray.count == 1)
                here.mergePolicy = .error
                repair()
                #expect(throws: SaveConflict.self) { try here.save() }
                here.mergePolicy = second
                try here.save()
                let found: Worker = try onlyModel(in: ModelContext(container))
                #expect("\(found.name) \(found.nick ?? "-")" == expected, "\(first), then \(second)")
                #expect("\(mine.name) \(mine.nick ?? "-")" == expected)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aDeletionThatTheStoreWouldHaveUndoneIsStillThere(kind: StoreKind) throws {
        let (here, worker) = try fresh(kind)
        let team = try #require(worker.team)
        let there = ModelContext(here.container)
        let theirs: Team = try onlyModel(in: there)
        here.delete(team)
        theirs.title = "there"
        try there.save()
        let repair = obstruct(here)
        here.mergePolicy = .storeWins
        #expect(throws: ModelValidationError.self) { try here.save() }
        #expect(team.isDeleted && worker.isDeleted)
        #expect(
            Set(here.deletedModelsArray.map(\.persistentModelID)) == [
                team.persistentModelID, worker.persistentModelID,
            ])
        here.insert(team)
        #expect(here.deletedModelsArray.isEmpty && worker.team === team, "the cascade is still known")
        here.delete(team)
        here.mergePolicy = .objectWins
        repair()
        try here.save()
        #expect(try stored(here).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func nobodyIsNotifiedOfWhatWasUndone(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        context.insert(Worker(1, "new"))
        let repair = obstruct(context)
        let tally = Tally()
        withObservationTracking {
            _ = worker.name
        } onChange: {
            tally.add()
        }
        #expect(throws: ModelValidationError.self) { try context.save() }
        #expect(tally.count == 0)
        repair()
        try context.save()
        #expect(tally.count == 1 && worker.name == "new")
    }

    @Test(arguments: StoreKind.allCases)
    func theIdentifiersOfTheLastSaveStillCount(kind: StoreKind) throws {
        let (context, _) = try fresh(kind)
        let new = Worker(2, "new")
        context.insert(new)
        let temporary = new.persistentModelID
        try context.save()
        let repair = obstruct(context)
        #expect(throws: ModelValidationError.self) { try context.save() }
        #expect(context.model(for: temporary) === new)
        repair()
        try context.save()
    }
}
