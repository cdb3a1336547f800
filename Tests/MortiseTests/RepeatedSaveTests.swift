import Foundation
import Mortise
import Testing

/// Bug: a save that failed because of what could not be done could be repeated, and then stored everything but that.
@Suite struct RepeatedSaveTests {
    let context: ModelContext
    let guild = Guild("g")

    init() throws {
        context = ModelContext(try familyContainer())
        context.insert(guild)
        try context.save()
    }

    /// A model of another context.
    private func stranger<T: PersistentModel>(_ model: T) throws -> (T, ModelContext) {
        let other = ModelContext(context.container)
        other.insert(model)
        try other.save()
        return (model, other)
    }

    private func expectRefusals(_ error: ModelContextError) {
        for _ in 0..<3 { #expect(throws: error) { try context.save() } }
        #expect(throws: Never.self) { try context.fetch(FetchDescriptor<Guild>()) }
        #expect(throws: error) { try context.save() }
    }

    @Test func aMemberOfAnotherContextIsRefusedUntilItIsTakenOut() throws {
        let (fair, other) = try stranger(Fair("f"))
        defer { withExtendedLifetime(other) {} }
        guild.name = "changed"
        guild.fairs = [fair]
        expectRefusals(.registeredElsewhere(model: fair.persistentModelID))
        guild.fairs = []
        try context.save()
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Guild>()).map(\.name) == ["changed"])
    }

    @Test func aTargetOfAnotherContextIsRefusedUntilItIsSetAnewOrRolledBack() throws {
        let (other, elsewhere) = try stranger(Guild("other"))
        defer { withExtendedLifetime(elsewhere) {} }
        let apprentice = Apprentice("a")
        context.insert(apprentice)
        apprentice.guild = other
        expectRefusals(.registeredElsewhere(model: other.persistentModelID))
        apprentice.guild = guild
        try context.save()
        apprentice.guild = other
        expectRefusals(.registeredElsewhere(model: other.persistentModelID))
        context.rollback()
        try context.save()
        #expect(apprentice.guild === guild)
    }

    @Test func anInsertionThatWasRefusedIsRefusedUntilItIsTakenBack() throws {
        let house = House(name: "h")
        guild.name = "changed"
        context.insert(house)
        expectRefusals(.unknownModel(type: "House"))
        context.delete(house)
        try context.save()
        let (fair, other) = try stranger(Fair("f"))
        context.insert(fair)
        expectRefusals(.registeredElsewhere(model: fair.persistentModelID))
        context.rollback()
        try context.save()
        withExtendedLifetime(other) {}
    }

    /// Bug: deleting it was refused as well.
    @Test func insertingAModelOfAnotherContextIsUndoneByDeletingIt() throws {
        let (fair, other) = try stranger(Fair("f"))
        defer { withExtendedLifetime(other) {} }
        guild.name = "changed"
        context.insert(fair)
        expectRefusals(.registeredElsewhere(model: fair.persistentModelID))
        context.delete(fair)
        try context.save()
        #expect(fair.modelContext === other && !fair.isDeleted)
        // Nobody has asked to insert it this time.
        context.delete(fair)
        expectRefusals(.registeredElsewhere(model: fair.persistentModelID))
    }

    /// Bug: only deleting it did.
    @Test func aModelOfAnUnknownTypeIsForgottenWithTheRelationshipThatBroughtIt() throws {
        let context = ModelContext(try memory(Team.self, Worker.self, Post.self))
        let (team, other) = (Team("A"), Team("B"))
        context.insert(team)
        context.insert(other)
        try context.save()
        func expectRefusal() {
            for _ in 0..<2 {
                #expect(throws: ModelContextError.unknownModel(type: "Visitor")) { try context.save() }
            }
        }
        let visitor = Visitor()
        visitor.team = team
        team.title = "1"
        expectRefusal()
        visitor.team = other
        expectRefusal()
        visitor.team = nil
        _ = try? context.save()
        try context.save()
        visitor.team = team
        team.title = "2"
        expectRefusal()
        context.delete(visitor)
        try context.save()
        // Asked for by name, it is wanted whatever it is related to.
        visitor.team = other
        context.insert(visitor)
        visitor.team = nil
        other.title = "3"
        expectRefusal()
        context.delete(visitor)
        try context.save()
        #expect(Set(try ModelContext(context.container).fetch(FetchDescriptor<Team>()).map(\.title)) == ["2", "3"])
    }

    /// Bug: the next save succeeded without the relationship.
    @Test func aTargetThatItsOwnContextHasDeletedIsStillRefused() throws {
        let (fair, other) = try stranger(Fair("f"))
        guild.name = "changed"
        guild.fairs = [fair]
        let identifier = fair.persistentModelID
        other.delete(fair)
        try other.save()
        expectRefusals(.registeredElsewhere(model: identifier))
        guild.fairs = []
        try context.save()
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Guild>()).map(\.name) == ["changed"])
    }

    /// Bug: the cascade reached for the other context's model, and every save threw.
    @Test func deleteRulesEndAtTheContext() throws {
        let (apprentice, other) = try stranger(Apprentice("a"))
        guild.apprentices = [apprentice]
        expectRefusals(.registeredElsewhere(model: apprentice.persistentModelID))
        context.delete(guild)
        try context.save()
        #expect(!apprentice.isDeleted && !other.hasChanges)
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Apprentice>()) == 1)
    }

    /// Bug: every save threw, although the request was deleted with the model.
    @Test func aRefusedRelationshipGoesWithItsModel() throws {
        let (other, elsewhere) = try stranger(Guild("other"))
        defer { withExtendedLifetime(elsewhere) {} }
        let apprentice = Apprentice("a")
        context.insert(apprentice)
        try context.save()
        apprentice.guild = other
        expectRefusals(.registeredElsewhere(model: other.persistentModelID))
        context.delete(apprentice)
        context.processPendingChanges()
        #expect(!elsewhere.hasChanges)
        guild.name = "changed"
        let debt = Debt("d")
        guild.debts = [debt]
        context.delete(guild)
        #expect(throws: ModelValidationError.self, "denied") { try context.save() }
        context.insert(guild)
        context.insert(apprentice)
        expectRefusals(.registeredElsewhere(model: other.persistentModelID))
        context.delete(apprentice)
        try context.save()
        #expect(try ModelContext(context.container).fetchCount(FetchDescriptor<Apprentice>()) == 0)
        #expect(try ModelContext(context.container).fetch(FetchDescriptor<Guild>()).map(\.name).contains("changed"))
    }

    @Test func aModelLeadsOnFromItsTemporaryIdentifierAfterTheSave() throws {
        let fair = Fair("f")
        context.insert(fair)
        let temporary = fair.persistentModelID
        #expect(temporary.isTemporary && context.model(for: temporary) === fair)
        try context.save()
        #expect(fair.persistentModelID != temporary)
        #expect(context.model(for: temporary) === fair)
        #expect(try context.existingModel(for: temporary, as: Fair.self) === fair)
    }

    @Test func aCollisionInAnUpdateIsTheSameErrorAsInASave() throws {
        let context = ModelContext(try catalogContainer())
        let (first, second) = (Product(code: "1"), Product(code: "2"))
        context.insert(first)
        context.insert(second)
        try context.save()
        #expect {
            try context.update(Product.self, where: #Predicate { $0.code == "2" }) { $0.set(\.code, to: "1") }
        } throws: { error in
            guard case ModelContextError.notUnique(let entity, let properties, _, let model, let other) = error else {
                return false
            }
            return entity == "Product" && properties == ["code"]
                && Set([model, other]) == [first.persistentModelID, second.persistentModelID]
                && "\(error)".contains("Change one, or delete it first.")
        }
    }
}
