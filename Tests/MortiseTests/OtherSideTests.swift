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
