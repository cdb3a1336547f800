import Foundation
import Mortise
import Testing

/// What becomes of the models that a save merges.
@Suite struct UpsertTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func fresh(_ kind: StoreKind) throws -> (ModelContext, Worker) {
        let context = ModelContext(try staffContainer(kind, folder))
        let worker = Worker(1, "old", Team("A"))
        context.insert(worker)
        try context.save()
        return (context, worker)
    }

    @Test(arguments: [false, true]) func aKeyThatARecordHasGotFromTwoIsComparedWithAllOthers(isStored: Bool) throws {
        let container = try memory(Lot.self)
        let context = ModelContext(container)
        let (hub, lot) = (Lot(0, seat: 0), Lot(1, seat: 1))
        lot.neighbor = hub
        context.insert(lot)
        if isStored { try context.save() }
        let (equal, change) = (Lot(5, seat: 2), Lot(1, seat: 2))
        equal.neighbor = hub
        // It clears no relationship, so that the record's key is now that of `equal`.
        for new in [equal, change] { context.insert(new) }
        try context.save()
        let found = try ModelContext(container).fetch(FetchDescriptor<Lot>(sortBy: [SortDescriptor(\.number)]))
        #expect(found.map(\.number) == [0, 5] && found.last?.seat == 2 && found.last?.neighbor?.number == 0)
        #expect(equal.persistentModelID == lot.persistentModelID)
    }

    /// Bug: they were lost.
    @Test(arguments: StoreKind.allCases)
    func relationsOfANewModelToItselfLeadToTheSurvivor(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        let new = Worker(1, "new")
        new.boss = new
        new.friend = new
        new.peers = [new]
        context.insert(new)
        try context.save()
        let survivors: [Worker?] = [worker, try onlyModel(in: ModelContext(context.container))]
        for case let found? in survivors {
            #expect(found.boss === found && found.reports.map(\.number) == [1])
            #expect(found.friend === found && found.friendOf === found)
            #expect(found.peers.map(\.number) == [1])
        }
    }

    /// Bug: a model that was merged away came back as a new record where a list without inverse held it.
    @Test(arguments: StoreKind.allCases)
    func listsOfMergedModelsHoldEachSurvivorOnce(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        context.insert(Worker(2, "two"))
        try context.save()
        let (one, two, third) = (Worker(1, "one"), Worker(2, "again"), Worker(3, "three"))
        one.peers = [two]
        two.peers = [one]
        third.peers = [one, two, worker]
        for model in [two, one, third] { context.insert(model) }
        try context.save()
        let found = try ModelContext(context.container).fetch(
            FetchDescriptor<Worker>(sortBy: [SortDescriptor(\.number)]))
        #expect(found.map(\.name) == ["one", "again", "three"])
        #expect(found.map { $0.peers.map(\.number) } == [[2], [1], [1, 2]])
        #expect(one.peers.map(\.modelContext) == [context], "an alias shows what is there")
    }

    /// Bug: the key was compared with the new team's temporary identifier, and a repeated save succeeded.
    @Test(arguments: StoreKind.allCases)
    func aKeyOverARelationshipKnowsWhatTheTargetBecame(kind: StoreKind) throws {
        for order in 0..<4 {
            let folder = try Folder()
            let context = ModelContext(try staffContainer(kind, folder))
            context.insert(Post(1, "old", Team("A")))
            try context.save()
            let posts: [Post]
            switch order {
            case 0:
                posts = [Post(1, "new", nil)]
                context.insert(posts[0])
                posts[0].team = Team("A")
            case 1:
                let team = Team("A")
                context.insert(team)
                posts = [Post(1, "new", team)]
            case 2: posts = [Post(1, "newer", Team("A")), Post(1, "new", Team("A"))]
            default:
                // Neither team is stored, and both are one.
                posts = [Post(1, "x", Team("B")), Post(1, "y", Team("B"))]
            }
            for post in posts { context.insert(post) }
            try context.save()
            let found = try ModelContext(context.container).fetch(FetchDescriptor<Post>()).map {
                "\($0.number) \($0.name) \($0.team?.code ?? "-")"
            }
            #expect(found == (order < 3 ? ["1 new A"] : ["1 old A", "1 y B"]), "order \(order)")
            #expect(posts.filter { $0.modelContext != nil }.count == (order < 3 ? 0 : 1))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aCollisionThatNoMergeSettlesIsReported(kind: StoreKind) throws {
        let context = ModelContext(try staffContainer(kind, folder))
        let (first, second) = (Post(1, "first", Team("A")), Post(1, "second", Team("B")))
        context.insert(first)
        context.insert(second)
        try context.save()
        second.team = Team("A")
        #expect(throws: ModelContextError.self) { try context.save() }
        #expect(throws: ModelContextError.self) { try context.save() }
        second.number = 2
        try context.save()
        #expect(Set(first.team?.posts.map(\.number) ?? []) == [1, 2])
    }

    /// Bug: nothing happened.
    @Test(arguments: StoreKind.allCases)
    func deletingAMergedModelDeletesItsRecord(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        let (new, newer) = (Worker(1, "new"), Worker(1, "newer"))
        context.insert(new)
        context.insert(newer)
        try context.save()
        #expect(newer.persistentModelID == worker.persistentModelID)
        context.delete(newer)
        #expect(worker.isDeleted)
        try context.save()
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Worker>()) == 0)
        context.delete(new)
        #expect(!context.hasChanges, "the record is gone")
        try context.save()
    }

    /// Bug: they led nowhere.
    @Test(arguments: StoreKind.allCases)
    func theTemporaryIdentifierOfAMergedModelLeadsToTheSurvivor(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        let (new, other, same) = (Worker(1, "new"), Worker(7, "other"), Worker(7, "same"))
        for model in [new, other, same] { context.insert(model) }
        let temporary = [new, other, same].map(\.persistentModelID)
        let batch = try context.insert(Worker.self, from: [1, 7, 8]) { record, number in
            try record.set(\.number, to: number)
            try record.set(\.name, to: "batch")
        }
        try context.save()
        #expect(temporary.map { context.model(for: $0) === worker } == [true, false, false])
        #expect(temporary.dropFirst().allSatisfy { context.model(for: $0) === other })
        #expect(batch.map { (context.model(for: $0) as? Worker)?.number } == [1, 7, 8])
        #expect(batch.map { (context.model(for: $0) as? Worker)?.name } == ["batch", "batch", "batch"])
    }

    /// The rule: attributes are taken as they are, and relationships are only gained. A record of a batch tells what was
    /// set in it.
    @Test(arguments: StoreKind.allCases)
    func aNewModelClearsAttributesAndNoRelationships(kind: StoreKind) throws {
        let (context, worker) = try fresh(kind)
        worker.nick = "nick"
        try context.save()
        let new = Worker(1, "new", nil)
        new.nick = nil
        new.team = nil
        context.insert(new)
        try context.save()
        #expect(worker.nick == nil && worker.team?.code == "A")
        worker.nick = "nick"
        // The unsaved change makes models of the batch, the next one has none.
        for round in ["models", "rows"] {
            try context.insert(Worker.self, from: [1]) { record, number in
                try record.set(\.number, to: number)
                try record.set(\.name, to: round)
            }
            if round == "models" { try context.save() }
            #expect(worker.name == round && worker.nick == "nick" && worker.team?.code == "A")
        }
        for isUnsaved in [true, false] {
            worker.team = try context.fetch(FetchDescriptor<Team>()).first
            try context.save()
            if isUnsaved { worker.name = "changed" }
            try context.insert(Worker.self, from: [1]) { record, number in
                try record.set(\.number, to: number)
                try record.set(\.name, to: "cleared")
                try record.set(\.team, to: nil)
            }
            try context.save()
            #expect(worker.name == "cleared" && worker.team == nil && worker.nick == "nick")
        }
    }
}

@Model private final class Lot {
    #Unique<Lot>([\.neighbor, \.seat])
    @Attribute(.unique) var number: Int
    var seat: Int
    var neighbor: Lot?
    init(_ number: Int, seat: Int) {
        self.number = number
        self.seat = seat
    }
}
