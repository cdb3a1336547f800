import Foundation
import Mortise
import Testing

/// What inserting a deleted model again brings back, and what is left to be saved afterwards.
@Suite struct ReinsertionTests {
    /// Bug: `hasChanges` stayed true, and the save wrote records that nobody had changed.
    @Test(arguments: [false, true]) func nothingIsLeftToSaveOnceADeletionIsTakenBack(_ isDeletedTwice: Bool) throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let house = House(name: "h")
        let (poster, other, key) = (Poster(title: "p"), Poster(title: "o"), Key(number: 1))
        house.posters = [poster, other]
        house.key = key
        let (hero, admirer) = (Node("hero"), Node("admirer"))
        admirer.heroes = [hero, admirer]
        context.insert(house)
        context.insert(admirer)
        try context.save()
        for model in [house, poster, key, hero, admirer] as [any PersistentModel] {
            delete(model, from: context)
            if isDeletedTwice { context.processPendingChanges() }
        }
        context.processPendingChanges()
        #expect(other.house == nil && context.hasChanges)
        for model in [admirer, key, house, hero, poster] as [any PersistentModel] {
            insert(model, into: context)
        }
        #expect(!context.hasChanges)
        #expect(context.changedModelsArray.isEmpty)
        #expect(Set(house.posters.map(\.title)) == ["p", "o"] && other.house === house && key.house === house)
        #expect(Set(admirer.heroes.map(\.name)) == ["hero", "admirer"] && hero.admirers.map(\.name) == ["admirer"])
    }

    @Test func whatWasSetBeforeIsStillToBeSavedOnceADeletionIsTakenBack() throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let (hero, admirer) = (Node("hero"), Node("admirer"))
        context.insert(hero)
        context.insert(admirer)
        let poster = Poster(title: "p")
        context.insert(poster)
        try context.save()
        let house = House(name: "h")
        poster.house = house
        hero.admirers = [admirer]
        try context.save()
        poster.house = nil
        poster.house = house
        hero.admirers = [hero]
        context.delete(house)
        context.delete(hero)
        context.processPendingChanges()
        context.insert(house)
        context.insert(hero)
        #expect(poster.house === house && hero.admirers.map(\.name) == ["hero"] && hero.heroes.map(\.name) == ["hero"])
        #expect(context.hasChanges)
        try context.save()
        let found = try ModelContext(container).fetch(FetchDescriptor<Node>()).filter { !$0.heroes.isEmpty }
        #expect(found.map(\.name) == ["hero"])
    }

    /// A deletion's own changes may be dropped without a word when others have deleted the record; the program's may not.
    @Test func whatWasSetBeforeIsMissedWhenOthersHaveDeletedTheModel() throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let (hero, first, second) = (Node("hero"), Node("first"), Node("second"))
        hero.admirers = [first]
        context.insert(hero)
        context.insert(second)
        try context.save()
        hero.admirers.append(second)
        context.delete(first)
        context.processPendingChanges()
        let other = ModelContext(container)
        for node in try other.fetch(FetchDescriptor<Node>()) where node.name == "hero" { other.delete(node) }
        try other.save()
        let identifier = hero.persistentModelID
        #expect(throws: ModelContextError.noSuchModel(identifier)) { try context.save() }
    }

    /// Bug: a member that a deletion had taken out and that was put back counted as added here, so that others could not
    /// take it out.
    @Test func whatOthersTakeOutStaysOutOnceADeletionIsTakenBack() throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let (hero, admirer) = (Node("hero"), Node("admirer"))
        admirer.heroes = [hero]
        context.insert(admirer)
        try context.save()
        context.delete(admirer)
        context.processPendingChanges()
        context.insert(admirer)
        let other = ModelContext(container)
        for node in try other.fetch(FetchDescriptor<Node>()) { node.heroes = [] }
        try other.save()
        hero.name = "former"
        try context.save()
        #expect(hero.admirers.isEmpty)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Node>()).allSatisfy { $0.heroes.isEmpty })
    }

    /// Bug: a child that two relationships of its parent took counted as deleted by itself, and stayed deleted.
    @Test(arguments: [false, true]) func aChildThatIsTakenTwiceComesBack(_ isSaved: Bool) throws {
        let container = try familyContainer()
        let context = ModelContext(container)
        let studio = Studio("s")
        let print = Print("p")
        (print.studio, print.archive) = (studio, studio)
        context.insert(studio)
        if isSaved { try context.save() }
        context.delete(studio)
        context.processPendingChanges()
        #expect(print.isDeleted)
        context.insert(studio)
        #expect(!print.isDeleted)
        #expect(studio.prints.map(\.title) == ["p"] && studio.archived.map(\.title) == ["p"])
        #expect(context.hasChanges != isSaved)
        try context.save()
        #expect(try onlyModel(Print.self, in: ModelContext(container)).archive?.name == "s")
    }

    @Test func aChildOfTwoDeletedParentsComesBackWithTheLast() throws {
        let container = try familyContainer()
        let context = ModelContext(container)
        let (first, second) = (Studio("first"), Studio("second"))
        let print = Print("p")
        (print.studio, print.archive) = (first, second)
        context.insert(print)
        try context.save()
        context.delete(first)
        context.delete(second)
        context.processPendingChanges()
        context.insert(first)
        #expect(print.isDeleted && first.prints.isEmpty)
        context.insert(second)
        #expect(!print.isDeleted && print.studio === first && print.archive === second)
        #expect(first.prints.map(\.title) == ["p"] && second.archived.map(\.title) == ["p"])
        #expect(!context.hasChanges)
    }

    /// Bug: it came back as a new record.
    @Test func whatOthersHaveDeletedDoesNotComeBackWithItsParent() throws {
        let container = try familyContainer()
        let context = ModelContext(container)
        let (studio, print) = (Studio("s"), Print("p"))
        print.studio = studio
        context.insert(studio)
        try context.save()
        context.delete(studio)
        context.processPendingChanges()
        let other = ModelContext(container)
        other.delete(try onlyModel(Print.self, in: other))
        try other.save()
        try context.refresh()
        context.insert(studio)
        #expect(print.isDeleted && print.modelContext == nil && studio.prints.isEmpty)
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Print>()) == 0)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Studio>()) == 1)
    }

    /// Bug: what stayed deleted still held the model that was inserted again: one denied its deletion, another took the
    /// model with it.
    @Test(arguments: [false, true]) func aModelThatComesBackAloneHasNothingToDoWithItsDeletedParent(
        _ isProcessed: Bool
    ) throws {
        let container = try familyContainer()
        let context = ModelContext(container)
        let studio = Studio("s")
        context.insert(studio)
        try context.save()
        let print = Print("p")
        (print.studio, print.advertised) = (studio, studio)
        context.delete(print)
        context.processPendingChanges()
        // Its own rules have let go of the first.
        print.studio = nil
        context.delete(studio)
        if isProcessed { context.processPendingChanges() }
        context.insert(print)
        #expect(print.studio == nil && print.advertised == nil)
        try context.save()
        #expect(try onlyModel(Print.self, in: ModelContext(container)).title == "p")
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Studio>()) == 0)
    }

    @Test func aChildThatComesBackAloneIsNotInTheWayOfItsParentsDeletion() throws {
        let container = try familyContainer()
        let context = ModelContext(container)
        let studio = Studio("s")
        context.insert(studio)
        try context.save()
        let print = Print("p")
        (print.studio, print.advertised) = (studio, studio)
        context.delete(studio)
        context.processPendingChanges()
        context.insert(print)
        try context.save()
        #expect(try onlyModel(Print.self, in: ModelContext(container)).studio == nil)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Studio>()) == 0)
    }

    /// Bug: the one that was deleted second forgot the other, which had come back.
    @Test func aModelThatWasDeletedAfterItsPartnerStillKnowsIt() throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let (house, key) = (House(name: "h"), Key(number: 1))
        house.key = key
        context.insert(house)
        try context.save()
        context.delete(house)
        context.processPendingChanges()
        context.delete(key)
        context.insert(house)
        try context.save()
        #expect(key.isDeleted && house.key == nil)
        context.insert(key)
        #expect(key.house === house && house.key === key)
        try context.save()
        #expect(try onlyModel(Key.self, in: ModelContext(container)).house?.name == "h")
    }

    /// Bug: the save failed because of a record that others had deleted and nobody had changed here: a deletion had.
    @Test func aDeletionDoesNotMissItsPartnersThatOthersHaveDeleted() throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let house = House(name: "h")
        let poster = Poster(title: "p")
        house.posters = [poster]
        context.insert(house)
        try context.save()
        context.delete(poster)
        context.processPendingChanges()
        let other = ModelContext(container)
        other.delete(try onlyModel(House.self, in: other))
        try other.save()
        try context.save()
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Poster>()) == 0)
        #expect(house.isDeleted)
    }

    @Test func whatOthersHaveDeletedAsWellIsNothingToSave() throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let (hero, admirer) = (Node("hero"), Node("admirer"))
        admirer.heroes = [hero]
        let (house, key) = (House(name: "h"), Key(number: 1))
        house.key = key
        context.insert(admirer)
        context.insert(house)
        try context.save()
        context.delete(hero)
        context.delete(house)
        context.processPendingChanges()
        let other = ModelContext(container)
        for node in try other.fetch(FetchDescriptor<Node>()) where node.name == "hero" { other.delete(node) }
        other.delete(try onlyModel(House.self, in: other))
        try other.save()
        #expect(context.hasChanges)
        try context.refresh()
        #expect(!context.hasChanges && context.changedModelsArray.isEmpty)
        #expect(admirer.heroes.isEmpty && key.house == nil)
    }

    /// Bug: the saved one let go of the other, whose delete rules nobody had followed yet, when it was inserted again. The
    /// other then came back without it.
    @Test func aModelIsNotPartedFromOneThatStillWaitsForItsRules() throws {
        let container = try householdContainer()
        let context = ModelContext(container)
        let (house, hero) = (House(name: "h"), Node("hero"))
        context.insert(house)
        context.insert(hero)
        try context.save()
        let (poster, key, admirer) = (Poster(title: "p"), Key(number: 1), Node("admirer"))
        let room = Room(name: "r", house: house)
        (poster.house, key.house, admirer.heroes) = (house, house, [hero])
        let new = [poster, key, admirer, room] as [any PersistentModel]
        for model in new + [house, hero] { delete(model, from: context) }
        for model in [house, hero] + new { insert(model, into: context) }
        #expect(poster.house === house && house.posters.map(\.title) == ["p"])
        #expect(key.house === house && house.key === key)
        #expect(admirer.heroes.map(\.name) == ["hero"] && hero.admirers.map(\.name) == ["admirer"])
        #expect(room.house === house && house.rooms.map(\.name) == ["r"])
        try context.save()
        let found = try onlyModel(House.self, in: ModelContext(container))
        #expect(found.posters.map(\.title) == ["p"] && found.key?.number == 1 && found.rooms.map(\.name) == ["r"])
        // One that stays deleted is gone all the same.
        let other = Poster(title: "o")
        other.house = house
        delete(other, from: context)
        delete(house, from: context)
        insert(house, into: context)
        context.processPendingChanges()
        #expect(house.posters.map(\.title) == ["p"] && !context.hasChanges)
    }

    /// Bug: a model that its context had let go of forgot the stored ones that nobody else held.
    @Test(arguments: [false, true]) func aModelThatIsInsertedAgainFindsWhatIsStored(_ isRollback: Bool) throws {
        let container = try householdContainer()
        do {
            let context = ModelContext(container)
            context.insert(House(name: "h"))
            context.insert(Node("hero"))
            try context.save()
        }
        let context = ModelContext(container)
        let (poster, node) = (Poster(title: "p"), Node("n"))
        do {
            poster.house = try onlyModel(House.self, in: context)
            node.heroes = [try onlyModel(Node.self, in: context)]
        }
        if isRollback {
            context.rollback()
        } else {
            context.delete(poster)
            context.delete(node)
            context.processPendingChanges()
        }
        #expect(poster.modelContext == nil && !context.hasChanges)
        context.insert(poster)
        context.insert(node)
        #expect(poster.house?.name == "h" && node.heroes.map(\.name) == ["hero"])
        try context.save()
        #expect(try onlyModel(House.self, in: ModelContext(container)).posters.map(\.title) == ["p"])
    }

    /// Bug: what the deletion of one model took came back with another that had its address.
    @Test func aNewModelIsNotTakenForADeletedOneThatIsGone() throws {
        let context = ModelContext(try familyContainer())
        for number in 0..<200 {
            do {
                let guild = Guild("old")
                guild.apprentices = [Apprentice("\(number)")]
                context.insert(guild)
                context.delete(guild)
                context.processPendingChanges()
            }
            let guild = Guild("new")
            context.insert(guild)
            #expect(context.insertedModelsArray.count == 1)
            #expect(guild.apprentices.isEmpty)
            context.delete(guild)
            context.processPendingChanges()
        }
    }
}
