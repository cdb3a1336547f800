import Foundation
import Mortise
import Testing

/// Bugs: a model given to an initializer was not linked, so that neither was inserted with the other; the side that was not
/// set held its model weakly, so that it was dropped before the insertion.
@Suite struct OtherSideTests {
    let context: ModelContext

    init() throws { context = ModelContext(try familyContainer()) }

    private func stored<T: PersistentModel>(_ type: T.Type) throws -> Int {
        try ModelContext(context.container).fetchCount(FetchDescriptor<T>())
    }

    @Test func aRequiredModelGivenToAnInitialiserIsLinkedAtOnce() throws {
        let ship = Ship("s")
        let voyage = Voyage("v", ship)
        #expect(ship.voyages == [voyage])
        context.insert(ship)
        #expect(voyage.modelContext === context)
        try context.save()
        #expect(try stored(Voyage.self) == 1)
    }

    @Test func aModelMadeForAnInsertedOneIsInserted() throws {
        let ship = Ship("s")
        context.insert(ship)
        let sailor = Sailor("a")
        _ = Voyage("v", ship, crew: [sailor])
        #expect(ship.voyages.map(\.name) == ["v"])
        #expect(sailor.modelContext === context && sailor.voyages.map(\.name) == ["v"])
        try context.save()
        #expect(try stored(Voyage.self) == 1 && stored(Sailor.self) == 1)
        _ = Voyage("w", ship)
        try context.save()
        #expect(try stored(Voyage.self) == 2)
    }

    @Test func anArrayGivenToAnInitialiserIsLinkedFromBothSides() throws {
        let (ship, sailor) = (Ship("s"), Sailor("a"))
        let voyage = Voyage("v", ship, crew: [sailor, sailor])
        #expect(sailor.voyages == [voyage])
        context.insert(sailor)
        #expect(voyage.modelContext === context && ship.modelContext === context)
        try context.save()
        #expect(try stored(Ship.self) == 1 && voyage.crew == [sailor])
    }

    @Test func initialisersThatReturnEarlyOrFailLinkToo() throws {
        let ship = Ship("s")
        context.insert(ship)
        #expect(Voyage(named: nil, ship) == nil)
        #expect(ship.voyages.isEmpty)
        #expect(Voyage(named: "", ship) != nil && Voyage(named: "v", ship) != nil)
        #expect(ship.voyages.map(\.name) == ["", "v!"])
        try context.save()
        #expect(try stored(Voyage.self) == 2)
    }

    @Test func aSubclassGivesItsOwnRequiredModelToo() throws {
        let cart = Cart()
        context.insert(cart)
        _ = Delivery("d", cart)
        #expect(cart.deliveries.map(\.name) == ["d"])
        try context.save()
        #expect(try stored(Delivery.self) == 1)
    }

    enum Given: CaseIterable { case inASubclass, beforeTheRest, array, spelledOut, inferred }

    /// Bug: nothing linked what an initializer gave, before `self` was complete, to a relationship that had an initial value.
    @Test(arguments: Given.allCases) func whatHasAnInitialValueIsLinkedWhenItIsGivenEarly(_ given: Given) throws {
        let context = ModelContext(try depotContainer())
        /// Makes a model for a depot; what the depot must hold.
        func make(_ depot: Depot) -> (any PersistentModel, [any PersistentModel]) {
            switch given {
            case .inASubclass:
                let truck = Truck(depot)
                return (truck, depot.trucks)
            case .beforeTheRest:
                let stop = Stop(depot)
                return (stop, depot.stops)
            case .array:
                let route = Route([depot, depot])
                return (route, depot.routes)
            case .spelledOut:
                let sign = Sign(depot)
                return (sign, depot.signs)
            case .inferred:
                let badge = Badge(depot)
                return (badge, depot.badges)
            }
        }
        // The depot has no context when the other is made, then it has one, then it is stored.
        let depot = Depot("d")
        var made: [any PersistentModel] = []
        for step in 0..<3 {
            let (model, held) = make(depot)
            made.append(model)
            #expect(held.count == step + 1 && held.last === model, "\(step)")
            if step == 0 { context.insert(depot) }
            #expect(model.modelContext === context, "\(step)")
            if step == 1 { try context.save() }
        }
        try context.save()
        #expect(!context.hasChanges)
        let other = ModelContext(context.container)
        let stored = try #require(
            try other.fetch(FetchDescriptor<Depot>(predicate: #Predicate { $0.name == "d" })).first)
        let count = [
            stored.trucks.count, stored.stops.count, stored.routes.count, stored.signs.count, stored.badges.count,
        ]
        #expect(count.max() == 3 && count.reduce(0, +) == 3)
        // Nothing was given to these, or a depot that is nobody's.
        _ = (Truck(nil), Stop(nil), Route([]), Sign(nil), Badge(Depot("e")))
        try context.save()
        #expect(try other.fetchCount(FetchDescriptor<Depot>(predicate: #Predicate { $0.name == "e" })) == 0)
        #expect(try other.fetchCount(FetchDescriptor<Stop>()) == (given == .beforeTheRest ? 3 : 0))
    }

    /// Bug: a model that is named like a scalar was taken for one, and not linked.
    @Test func aModelThatIsNamedLikeAScalarIsLinked() throws {
        let context = ModelContext(try memory(Play.Character.self, Play.Date.self))
        let (hero, date) = (Play.Character("h"), Play.Date("p"))
        let (scene, ticket) = (Play.Scene(hero, 1), Play.Ticket(date, 1))
        #expect(hero.scenes == [scene] && date.tickets == [ticket])
        context.insert(hero)
        context.insert(date)
        try context.save()
        _ = (Play.Scene(hero, 2), Play.Ticket(date, 2))
        try context.save()
        let other = ModelContext(context.container)
        #expect(try onlyModel(Play.Character.self, in: other).scenes.map(\.number) == [1, 2])
        #expect(try onlyModel(Play.Date.self, in: other).tickets.map(\.number) == [1, 2])
    }

    @Test(arguments: 0..<6) func aRelatedModelLivesAsLongAsTheOneThatRefersToIt(_ way: Int) throws {
        /// The model through which the others are held.
        func make() -> any PersistentModel {
            let (guild, apprentice, fair, seal) = (Guild("g"), Apprentice("a"), Fair("f"), Seal("s"))
            guild.apprentices.append(apprentice)
            fair.guilds.append(guild)
            guild.seal = seal
            switch way {
            case 0: return apprentice
            case 1: return fair
            case 2: return seal
            case 3: return guild
            case 4: return Master("m", guild)
            default:
                apprentice.guild = guild
                return apprentice
            }
        }
        let model = make()
        switch model {
        case let apprentice as Apprentice: #expect(apprentice.guild?.name == "g")
        case let fair as Fair: #expect(fair.guilds.map(\.name) == ["g"])
        case let seal as Seal: #expect(seal.guild?.name == "g")
        default: break
        }
        context.insert(model)
        try context.save()
        #expect(try stored(Guild.self) == 1 && stored(Apprentice.self) == 1)
        #expect(try stored(Fair.self) == 1 && stored(Seal.self) == 1)
    }

    @Test(arguments: 0..<4) func settingEitherSideLaterInsertsTheOther(_ way: Int) throws {
        let (guild, master, apprentice) = (Guild("g"), Master("m", Guild("h")), Apprentice("a"))
        switch way {
        case 0:
            context.insert(guild)
            master.guild = guild
            apprentice.guild = guild
        case 1:
            context.insert(guild)
            guild.masters.append(master)
            guild.apprentices = [apprentice]
        case 2:
            context.insert(master)
            master.guild = guild
            guild.apprentices.append(apprentice)
        default:
            context.insert(apprentice)
            apprentice.guild = guild
            guild.masters = [master]
        }
        #expect(guild.modelContext === context && master.modelContext === context)
        #expect(apprentice.modelContext === context)
        try context.save()
        #expect(master.guild === guild && apprentice.guild === guild)
    }
}
