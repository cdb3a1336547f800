import Foundation
import Mortise
import Observation
import PackageTestSupport
import Testing

@Suite struct ObservationTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try householdContainer()
        context = ModelContext(container)
    }

    /// How often something that `read` looked at is told to change while `body` runs; each reading counts once at most.
    private func changes(_ read: () -> Void, during body: () throws -> Void) rethrows -> Int {
        let tally = Tally()
        withObservationTracking(read) { tally.add() }
        try body()
        return tally.count
    }

    @Test func settingAPropertyNotifiesItsReadersOnly() throws {
        let house = House(name: "h")
        context.insert(house)
        #expect(
            changes {
                _ = house.name
            } during: {
                house.name = "i"
            } == 1)
        #expect(
            changes {
                _ = house.rooms
            } during: {
                house.name = "j"
            } == 0)
    }

    /// A save moves to what others saved before it; what is its own, no observer is told of again.
    @Test(arguments: [false, true]) func refreshingNotifiesWhatAnotherContextChanged(bySaving: Bool) throws {
        let house = House(name: "h")
        house.posters = [Poster(title: "p")]
        context.insert(house)
        try context.save()
        let other = ModelContext(container)
        let twin: House = try onlyModel(in: other)
        twin.name = "changed"
        try other.save()
        func refresh() throws {
            if bySaving { context.insert(Tenant(name: "t")) }
            try bySaving ? context.save() : context.refresh()
        }
        for expected in [1, 0] {
            #expect(
                try changes {
                    _ = house.name
                } during: {
                    try refresh()
                } == expected)
        }
        #expect(house.name == "changed")
        twin.name = "again"
        try other.save()
        #expect(
            try changes {
                _ = house.posters
            } during: {
                try refresh()
            } == 0)
        twin.posters = []
        try other.save()
        #expect(
            try changes {
                _ = house.posters
            } during: {
                _ = try context.fetch(FetchDescriptor<House>())
            } == 1)
        #expect(house.posters.isEmpty)
    }

    @Test func rollingBackNotifiesWhatItTakesBack() throws {
        let house = House(name: "h")
        context.insert(house)
        try context.save()
        house.name = "changed"
        #expect(
            changes {
                _ = house.name
            } during: {
                context.rollback()
            } == 1)
        #expect(house.name == "h")
        #expect(
            changes {
                _ = house.name
            } during: {
                context.rollback()
            } == 0)
    }

    @Test func theOtherSideOfARelationshipIsNotifiedToo() throws {
        let first = House(name: "1")
        let second = House(name: "2")
        let poster = Poster(title: "p")
        for model in [first, second, poster] as [any PersistentModel] { context.insert(model) }
        #expect(
            changes {
                _ = first.posters
            } during: {
                poster.house = first
            } == 1)
        #expect(
            changes {
                _ = first.posters
            } during: {
                poster.house = second
            } == 1)
        #expect(
            changes {
                _ = poster.house
            } during: {
                second.posters = []
            } == 1)
        let key = Key(number: 1)
        first.key = key
        #expect(
            changes {
                _ = first.key
            } during: {
                second.key = key
            } == 1)
        try context.save()
        #expect(
            changes {
                _ = second.key
            } during: {
                key.house = nil
            } == 1)
    }

    @Test func deletingNotifiesWhoeverReferred() throws {
        let house = House(name: "1")
        let poster = Poster(title: "p")
        house.posters = [poster]
        context.insert(house)
        try context.save()
        #expect(
            changes {
                _ = house.posters
            } during: {
                context.delete(poster)
                context.processPendingChanges()
            } == 1)
        context.rollback()
        #expect(
            changes {
                _ = poster.house
            } during: {
                context.delete(house)
                context.processPendingChanges()
            } == 1)
    }

    @Test func anUpsertNotifiesTheSurvivor() throws {
        let container = try catalogContainer()
        let context = ModelContext(container)
        let first = Product(code: "1", title: "a")
        context.insert(first)
        try context.save()
        let second = Product(code: "1", title: "b")
        second.labels = [Label("l")]
        context.insert(second)
        let title = Tally()
        let labels = Tally()
        withObservationTracking {
            _ = first.title
        } onChange: {
            title.add()
        }
        withObservationTracking {
            _ = first.labels
        } onChange: {
            labels.add()
        }
        try context.save()
        #expect(title.count == 1)
        #expect(labels.count == 1)
    }

    @Test func savingAloneNotifiesNobody() throws {
        let house = House(name: "h")
        house.posters = [Poster(title: "p")]
        context.insert(house)
        #expect(
            try changes {
                _ = (house.name, house.posters, house.posters[0].house)
            } during: {
                try context.save()
            } == 0)
        house.name = "i"
        house.posters.append(Poster(title: "q"))
        #expect(
            try changes {
                _ = (house.name, house.posters)
            } during: {
                try context.save()
            } == 0)
    }

    /// Two connections to a store that leaves out lists, with one house in it.
    private func connections(announcing: Bool) throws -> (here: ModelContext, there: ModelContext) {
        let schema = Schema([House.self])
        let records = try QueriedRecords(schema, announces: announcing, defersLists: true)
        func open() throws -> ModelContext {
            ModelContext(try ModelContainer(for: schema, configurations: [QueriedConfiguration(records)]))
        }
        let there = try open()
        there.insert(House(name: "h"))
        try there.save()
        return (try open(), there)
    }

    /// A list that a store has left out is read when it is needed, so that only then can be said whether it differs.
    @Test func aListThatWasLeftOutNotifiesOnceItIsReadAndDiffers() throws {
        let (here, there) = try connections(announcing: false)
        let house: House = try onlyModel(in: here)
        let theirs: House = try onlyModel(in: there)
        for (added, expected) in [(0, 0), (1, 1), (0, 0)] {
            for number in 0..<added { theirs.posters.append(Poster(title: "\(number)")) }
            try there.save()
            #expect(
                try changes {
                    _ = house.posters
                } during: {
                    _ = try here.fetch(FetchDescriptor<House>())
                    _ = house.posters
                } == expected, "\(added) added")
        }
        #expect(house.posters.count == 1)
    }

    @Test func aRefreshNotifiesObserversOfAListThatWasReadAndThatOthersHaveChanged() throws {
        let (here, there) = try connections(announcing: true)
        let house: House = try onlyModel(in: here)
        let theirs: House = try onlyModel(in: there)
        theirs.posters.append(Poster(title: "p"))
        #expect(
            try changes {
                _ = house.posters
            } during: {
                try there.save()
                try here.refresh()
            } == 1)
        #expect(house.posters.map(\.title) == ["p"])
    }
}
