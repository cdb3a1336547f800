import Foundation
import Mortise
import Testing

/// Bug: the cascade of a deletion took a child that another context had moved to another parent and saved.
@Suite struct StaleCascadeTests {
    private struct Moved: Sendable, CustomTestStringConvertible {
        let kind: StoreKind
        let policy: MergePolicy
        let order: Int
        var testDescription: String { "\(kind), \(policy), order \(order)" }
    }

    private static let cases = StoreKind.allCases.flatMap { kind in
        [MergePolicy.storeWins, .objectWins, .propertyWise].flatMap { policy in
            (0..<4).map { Moved(kind: kind, policy: policy, order: $0) }
        }
    }

    @Test(arguments: cases) private func aChildThatWasMovedAwayStays(_ moved: Moved) throws {
        let folder = try Folder()
        let container = try staffContainer(moved.kind, folder)
        let (there, here) = (ModelContext(container), ModelContext(container))
        let (left, right, worker, other) = (Team("A"), Team("B"), Worker(1, "moved"), Worker(2, "stays"))
        for team in [left, right] { there.insert(team) }
        left.workers = [worker, other]
        try there.save()
        here.mergePolicy = moved.policy
        let mine = try #require(try here.fetch(FetchDescriptor<Team>(sortBy: [SortDescriptor(\.code)])).first)
        #expect(mine.workers.count == 2)
        func move() throws {
            worker.team = right
            try there.save()
        }
        switch moved.order {
        case 0:
            here.delete(mine)
            try move()
        case 1:
            try move()
            here.delete(mine)
        case 2:
            here.delete(mine)
            here.processPendingChanges()
            try move()
        default:
            here.delete(mine)
            try move()
            try here.refresh()
        }
        try here.save()
        #expect(!here.hasChanges)
        let found = ModelContext(container)
        #expect(try found.fetch(FetchDescriptor<Team>()).map(\.code) == ["B"])
        #expect(
            try found.fetch(FetchDescriptor<Worker>()).map { "\($0.name) \($0.team?.code ?? "-")" } == ["moved B"])
    }

    /// Bug: it came back from its first parent's deletion without its second, which was deleted as well.
    @Test(arguments: StoreKind.allCases) func aChildThatWasMovedToAnotherDeletedParentGoesWithThat(_ kind: StoreKind)
        throws
    {
        let folder = try Folder()
        let container = try staffContainer(kind, folder)
        let (there, here) = (ModelContext(container), ModelContext(container))
        let (left, right, worker) = (Team("A"), Team("B"), Worker(1, "moved"))
        for team in [left, right] { there.insert(team) }
        left.workers = [worker]
        try there.save()
        for team in try here.fetch(FetchDescriptor<Team>()) { here.delete(team) }
        here.processPendingChanges()
        worker.team = right
        try there.save()
        try here.save()
        #expect(!here.hasChanges)
        let found = ModelContext(container)
        #expect(try found.fetchCount(FetchDescriptor<Team>()) == 0)
        #expect(try found.fetchCount(FetchDescriptor<Worker>()) == 0)
    }

    @Test func underThePolicyErrorTheSaveSaysSo() throws {
        let folder = try Folder()
        let container = try staffContainer(.memory, folder)
        let (there, here) = (ModelContext(container), ModelContext(container))
        let worker = Worker(1, "moved", Team("A"))
        there.insert(worker)
        try there.save()
        here.mergePolicy = .error
        let mine: Team = try onlyModel(in: here)
        here.delete(mine)
        worker.team = Team("B")
        try there.save()
        #expect(throws: SaveConflict.self) { try here.save() }
        #expect(here.deletedModelsArray.count == 2)
        here.mergePolicy = .propertyWise
        try here.save()
        #expect(worker.team?.code == "B")
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Worker>()) == 1)
    }

    /// Bug: a child that was given another parent after its deletion came back if anybody had saved anything meanwhile.
    @Test(arguments: StoreKind.allCases, [false, true])
    func anUnrelatedSaveChangesNoDeletion(kind: StoreKind, isStale: Bool) throws {
        let folder = try Folder()
        let container = try staffContainer(kind, folder)
        let context = ModelContext(container)
        let (left, right, worker, late) = (Team("A"), Team("B"), Worker(1, "taken"), Worker(2, "late"))
        for team in [left, right] { context.insert(team) }
        context.insert(late)
        left.workers = [worker]
        try context.save()
        context.delete(left)
        context.processPendingChanges()
        worker.team = right
        late.team = left
        if isStale {
            let other = ModelContext(container)
            other.insert(Team("C"))
            try other.save()
        }
        try context.save()
        let found = try ModelContext(container).fetch(FetchDescriptor<Worker>())
        #expect(found.map { "\($0.name) \($0.team?.code ?? "-")" } == ["late -"])
    }

    /// Bug: the child was deleted if the other context, which had moved it away, deleted its former parent too.
    @Test(arguments: StoreKind.allCases, [false, true])
    func aChildThatWasMovedAwayFromWhatBothDeleteStays(kind: StoreKind, followsRules: Bool) throws {
        let folder = try Folder()
        let container = try staffContainer(kind, folder)
        let (there, here) = (ModelContext(container), ModelContext(container))
        let (left, right, worker, other) = (Team("A"), Team("B"), Worker(1, "moved"), Worker(2, "taken"))
        for team in [left, right] { there.insert(team) }
        left.workers = [worker, other]
        try there.save()
        do {
            let teams = try here.fetch(FetchDescriptor<Team>(sortBy: [SortDescriptor(\.code)]))
            here.delete(try #require(teams.first))
        }
        if followsRules { here.processPendingChanges() }
        worker.team = right
        there.delete(left)
        try there.save()
        try here.save()
        #expect(!here.hasChanges)
        let found = try ModelContext(container).fetch(FetchDescriptor<Worker>())
        #expect(found.map { "\($0.name) \($0.team?.code ?? "-")" } == ["moved B"])
    }
}
