import Foundation
import Mortise
import Testing

/// Bug: what was moved or cleared after `delete(parent)`, before the delete rules ran, was still taken for the parent's, and
/// was deleted with it or kept it from being deleted.
@Suite struct MovesAfterDeletionTests {
    let container: ModelContainer
    let context: ModelContext
    let old = Guild("old")
    let new = Guild("new")

    init() throws {
        container = try familyContainer()
        context = ModelContext(container)
        context.insert(old)
        context.insert(new)
        try context.save()
    }

    private func names<T: PersistentModel>(_ name: KeyPath<T, String>) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<T>()).map { $0[keyPath: name] }.sorted()
    }

    @Test(arguments: [0, 1, 2, 3]) func childrenOfAnOptionalParentSurviveAMove(_ way: Int) throws {
        let (x, y, z) = (Apprentice("x"), Apprentice("y"), Apprentice("z"))
        old.apprentices = [x, y, z]
        try context.save()
        context.delete(old)
        switch way {
        case 0: (x.guild, y.guild) = (new, new)
        case 1: new.apprentices += [x, y]
        case 2: (x.guild, y.guild) = (nil, nil)
        default: old.apprentices = [z]
        }
        #expect(new.apprentices.count == (way < 2 ? 2 : 0))
        try context.save()
        #expect(!x.isDeleted && z.isDeleted)
        #expect(try names(\Apprentice.name) == ["x", "y"])
        #expect(try names(\Guild.name) == ["new"])
        #expect(new.apprentices.count == (way < 2 ? 2 : 0))
    }

    @Test(arguments: [0, 1]) func childrenOfARequiredParentSurviveAMove(_ way: Int) throws {
        let (x, y) = (Master("x", old), Master("y", old))
        try context.save()
        context.delete(old)
        if way == 0 { x.guild = new } else { new.masters.append(x) }
        try context.save()
        #expect(!x.isDeleted && y.isDeleted && x.guild === new)
        #expect(try names(\Master.name) == ["x"])
    }

    @Test(arguments: [0, 1, 2]) func thePartnerOfAOneToOneSurvivesAMove(_ way: Int) throws {
        let seal = Seal("s")
        old.seal = seal
        try context.save()
        context.delete(old)
        switch way {
        case 0: seal.guild = new
        case 1: new.seal = seal
        default: seal.guild = nil
        }
        try context.save()
        #expect(try names(\Seal.name) == ["s"])
        #expect(seal.guild === (way < 2 ? new : nil))
    }

    @Test(arguments: [0, 1, 2]) func membersOfAManyToManySurviveBeingTakenOut(_ way: Int) throws {
        let (x, y) = (Fair("x"), Fair("y"))
        old.fairs = [x, y]
        try context.save()
        context.delete(old)
        switch way {
        case 0: x.guilds = [new]
        case 1: x.guilds = []
        default: old.fairs.removeAll { $0 === x }
        }
        try context.save()
        #expect(try names(\Fair.name) == ["x"])
        #expect(new.fairs.count == (way == 0 ? 1 : 0))
    }

    @Test(arguments: [0, 1, 2]) func denySeesWhatWasMovedAway(_ way: Int) throws {
        let (debt, court) = (Debt("d"), Court("c"))
        old.debts = [debt]
        old.courts = [court]
        try context.save()
        context.delete(old)
        switch way {
        case 0: (debt.guild, court.guilds) = (new, [new])
        case 1: (debt.guild, court.guilds) = (nil, [])
        default:
            new.debts.append(debt)
            old.courts = []
        }
        try context.save()
        #expect(try names(\Guild.name) == ["new"])
        #expect(try names(\Debt.name) == ["d"])
        #expect(try names(\Court.name) == ["c"])
    }

    @Test func denyStillRefusesWhatIsLeft() throws {
        let (x, y) = (Debt("x"), Debt("y"))
        old.debts = [x, y]
        try context.save()
        context.delete(old)
        x.guild = new
        #expect(
            throws: ModelValidationError.deletionDenied(
                entity: "Guild", property: "debts", model: old.persistentModelID, count: 1)
        ) { try context.save() }
    }

    @Test func noActionSeesWhatWasMovedAway() throws {
        let notice = Notice("n")
        old.notices = [notice]
        try context.save()
        context.delete(old)
        notice.guild = new
        try context.save()
        #expect(new.notices.count == 1)
    }

    @Test func insertingADeletedParentBringsBackWhatItsCascadeTook() throws {
        let (x, y) = (Apprentice("x"), Apprentice("y"))
        let seal = Seal("s")
        old.apprentices = [x, y]
        old.seal = seal
        _ = Master("m", old)
        try context.save()
        let unsaved = Apprentice("unsaved")
        old.apprentices.append(unsaved)
        context.delete(y)
        context.delete(old)
        #expect(try context.fetchCount(FetchDescriptor<Apprentice>()) == 0)
        context.insert(old)
        #expect(!x.isDeleted && !seal.isDeleted && !unsaved.isDeleted && old.seal === seal)
        #expect(y.isDeleted, "it was deleted by itself")
        #expect(Set(old.apprentices.map(\.name)) == ["x", "unsaved"] && unsaved.guild === old)
        try context.save()
        #expect(try names(\Apprentice.name) == ["unsaved", "x"])
        #expect(try names(\Master.name) == ["m"])
        #expect(try names(\Seal.name) == ["s"])
    }

    @Test func whatIsDeletedByItselfAfterTheCascadeStaysDeleted() throws {
        let x = Apprentice("x")
        old.apprentices = [x]
        try context.save()
        context.delete(old)
        context.processPendingChanges()
        #expect(x.isDeleted)
        context.delete(x)
        context.insert(old)
        #expect(x.isDeleted)
        try context.save()
        #expect(try names(\Apprentice.name).isEmpty)
        #expect(try names(\Guild.name) == ["new", "old"])
    }

    @Test func whatAnotherDeletedParentTakesAsWellStaysDeleted() throws {
        let fair = Fair("f")
        fair.guilds = [old, new]
        try context.save()
        context.delete(old)
        context.delete(new)
        context.processPendingChanges()
        context.insert(old)
        try context.save()
        #expect(try names(\Fair.name).isEmpty)
        #expect(try names(\Guild.name) == ["old"])
    }
}
