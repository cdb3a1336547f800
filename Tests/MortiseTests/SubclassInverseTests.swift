import Foundation
import Mortise
import Testing

/// Relationships whose inverse leads to a superclass, is inherited, or is a subclass's. A list was once derived from such an
/// inverse that did not know of the list, and lost its members with each save.
@Suite struct SubclassInverseTests {
    @Test(arguments: Shelf.kinds) func aListKeepsWhatAnInverseTypedAsTheSuperclassNamesToo(kind: String) throws {
        let place = try Shelf(kind)
        var context = try place.open()
        let (one, two, plain) = (Boss(1), Boss(2), Owner(3))
        let things = [Thing(1), Thing(2), Thing(3)]
        for model in [one, two, plain] { context.insert(model) }
        for thing in things { context.insert(thing) }
        one.things = [things[0]]
        things[1].owner = one
        things[2].owner = plain
        #expect(things[0].owner === one && one.things == [things[0], things[1]])
        try context.save()
        #expect(one.things == [things[0], things[1]])
        things[0].owner = two
        #expect(one.things == [things[1]] && two.things == [things[0]])
        one.things.append(things[2])
        #expect(things[2].owner === one)
        things[1].owner = plain
        try context.save()
        context = try place.reopen()
        let bosses = try context.fetch(FetchDescriptor<Boss>(sortBy: [SortDescriptor(\.n)]))
        #expect(bosses.map { $0.things.map(\.n) } == [[3], [1]])
        #expect(bosses.allSatisfy { boss in boss.things.allSatisfy { $0.owner === boss } })
        #expect(try context.fetch(FetchDescriptor<Thing>(predicate: #Predicate { $0.n == 2 }))[0].owner?.n == 3)
        context.delete(try #require(bosses[0].things.first))
        try context.save()
        #expect(bosses[0].things.isEmpty)
        context.delete(bosses[1])
        try context.save()
        context = try place.reopen()
        #expect(try context.fetch(FetchDescriptor<Thing>()).map(\.n) == [2])
        #expect(try context.fetch(FetchDescriptor<Boss>()).map(\.things.count) == [0])
    }

    @Test(arguments: Shelf.kinds) func aTreeMayListWhatEveryNodeHas(kind: String) throws {
        let place = try Shelf(kind)
        var context = try place.open()
        let (one, two) = (Branch(1), Branch(2))
        let leaves = [Twig(3), Twig(4)]
        for model in [one, two] + leaves { context.insert(model) }
        one.kids = [leaves[0]]
        leaves[1].parent = one
        two.parent = one
        try context.save()
        #expect(one.kids.map(\.n) == [2, 3, 4])
        leaves[0].parent = two
        try context.save()
        context = try place.reopen()
        let branches = try context.fetch(FetchDescriptor<Branch>(sortBy: [SortDescriptor(\.n)]))
        #expect(branches.map { $0.kids.map(\.n) } == [[2, 4], [3]])
        context.delete(branches[1])
        try context.save()
        context = try place.reopen()
        #expect(try context.fetch(FetchDescriptor<Twig>(sortBy: [SortDescriptor(\.n)])).map(\.n) == [1, 4])
    }

    @Test(arguments: Shelf.kinds) func twoThatDoNotKnowEachOtherAreTwoRelationships(kind: String) throws {
        let place = try Shelf(kind)
        var context = try place.open()
        let company = Company(1)
        context.insert(company)
        company.invoices = [Invoice(1), Invoice(2)]
        let other = Invoice(3)
        other.party = company
        context.insert(other)
        try context.save()
        #expect(company.invoices.map(\.n) == [1, 2])
        context = try place.reopen()
        let stored = try onlyModel(Company.self, in: context)
        #expect(stored.invoices.map(\.n) == [1, 2] && stored.invoices[0].party == nil)
        context.delete(stored)
        try context.save()
        context = try place.reopen()
        let left = try onlyModel(Invoice.self, in: context)
        #expect(left.n == 3 && left.party == nil)
        #expect(context.container.schema.entitiesByName["Company"]?.relationships.map(\.inverseName) == [nil])
    }

    @Test(arguments: Shelf.kinds) func aListOfTheBaseClassTakesNoInverseOfASubclass(kind: String) throws {
        let place = try Shelf(kind)
        var context = try place.open()
        let team = Squad(1)
        let (player, captain) = (Player(1), Captain(2))
        for model in [player, captain] { context.insert(model) }
        context.insert(team)
        captain.team = team
        team.players = [player]
        try context.save()
        context = try place.reopen()
        let stored = try onlyModel(Squad.self, in: context)
        #expect(stored.players.map(\.n) == [1])
        #expect(try onlyModel(Captain.self, in: context).team === stored)
        context.delete(stored)
        try context.save()
        context = try place.reopen()
        #expect(try onlyModel(Player.self, in: context).n == 2)
        #expect(try onlyModel(Captain.self, in: context).team == nil)
    }

    @Test(arguments: Shelf.kinds) func oneAndOneAreInStepWhereTheirClassesFit(kind: String) throws {
        let place = try Shelf(kind)
        var context = try place.open()
        let (holder, card, plain) = (Holder(1), Card(1), Bearer(2))
        for model in [holder, plain] { context.insert(model) }
        context.insert(card)
        holder.card = card
        #expect(card.bearer === holder)
        try context.save()
        card.bearer = plain
        #expect(holder.card == nil)
        card.bearer = holder
        #expect(holder.card === card)
        card.bearer = plain
        // The plain one has no such property, and gives nothing up.
        holder.card = card
        #expect(card.bearer === holder)
        try context.save()
        let (crew, mate, hand) = (Crew(1), Mate(2), Hand(3))
        context.insert(crew)
        for model in [mate, hand] { context.insert(model) }
        hand.crew = crew
        #expect(crew.mate == nil)
        mate.crew = crew
        #expect(crew.mate === mate && hand.crew === crew)
        try context.save()
        context = try place.reopen()
        let stored = try onlyModel(Holder.self, in: context)
        #expect(stored.card?.bearer === stored)
        let storedCrew = try onlyModel(Crew.self, in: context)
        #expect(storedCrew.mate?.n == 2)
        #expect(try context.fetch(FetchDescriptor<Hand>()).allSatisfy { $0.crew === storedCrew })
        storedCrew.mate?.crew = nil
        #expect(storedCrew.mate == nil)
        context.delete(stored)
        context.delete(storedCrew)
        try context.save()
        context = try place.reopen()
        #expect(try context.fetchCount(FetchDescriptor<Card>()) == 0)
        #expect(try context.fetch(FetchDescriptor<Hand>()).map { $0.crew == nil } == [true, true])
    }

    @Test(arguments: Shelf.kinds) func aListOfASubclassTakesNothingElseByAnInheritedInverse(kind: String) throws {
        let place = try Shelf(kind)
        var context = try place.open()
        let (one, two) = (Library(1), Library(2))
        let (book, other, item) = (Novel(1), Novel(2), Item(3))
        for model in [one, two] { context.insert(model) }
        for model in [book, other, item] { context.insert(model) }
        one.books = [book]
        other.library = one
        item.library = one
        #expect(book.library === one && one.books == [book, other])
        try context.save()
        other.library = two
        try context.save()
        context = try place.reopen()
        var libraries = try context.fetch(FetchDescriptor<Library>(sortBy: [SortDescriptor(\.n)]))
        #expect(libraries.map { $0.books.map(\.n) } == [[1], [2]])
        let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.n)]))
        #expect(items.map { $0.library?.n } == [1, 2, 1])
        context.delete(libraries[0])
        try context.save()
        context = try place.reopen()
        #expect(
            try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.n)])).map { $0.library?.n } == [2, nil])
        libraries = try context.fetch(FetchDescriptor<Library>())
        #expect(libraries.map { $0.books.map(\.n) } == [[2]])
        #expect(throws: BatchError.self) { try context.update(Item.self) { $0.set(\.library, to: nil) } }
    }

    /// Bug: a batch was refused once anything in the process had used a type that names the relationship as its inverse.
    @Test func aBatchDependsOnTheSchemaAlone() throws {
        _ = Schema([Guide.self])
        let context = ModelContext(try memory(Client.self, Companion.self))
        let companion = Companion(1)
        context.insert(Client(1))
        context.insert(companion)
        try context.save()
        #expect(try context.update(Client.self) { $0.set(\.companion, to: companion) } == 1)
        try context.insert(Client.self, from: [2]) { client, number in
            try client.set(\.n, to: number)
            try client.set(\.companion, to: companion)
        }
        #expect(
            try ModelContext(context.container).fetch(FetchDescriptor<Client>()).allSatisfy { $0.companion?.n == 1 })
        let with = ModelContext(try memory(Client.self, Guide.self))
        #expect(throws: BatchError.self) { try with.update(Client.self) { $0.set(\.companion, to: nil) } }
    }

    @Test(arguments: Shelf.kinds) func listsOnBothSidesAreInStepWhereTheirClassesFit(kind: String) throws {
        let place = try Shelf(kind)
        var context = try place.open()
        let (artist, person, song) = (Artist(1), Person(2), Song(1))
        for model in [artist, person] { context.insert(model) }
        context.insert(song)
        artist.songs = [song]
        song.people.append(person)
        #expect(song.people == [artist, person])
        try context.save()
        context = try place.reopen()
        let stored = try onlyModel(Song.self, in: context)
        #expect(stored.people.map(\.n) == [1, 2])
        let storedArtist = try onlyModel(Artist.self, in: context)
        #expect(storedArtist.songs == [stored])
        stored.people.removeFirst()
        #expect(storedArtist.songs.isEmpty)
        stored.people.append(storedArtist)
        context.delete(stored)
        try context.save()
        context = try place.reopen()
        #expect(try onlyModel(Artist.self, in: context).songs.isEmpty)
    }

    /// What two contexts do to the members of one list goes together.
    @Test(arguments: Shelf.kinds) func membersOfTwoContextsGoTogether(kind: String) throws {
        let place = try Shelf(kind)
        let context = try place.open()
        let library = Library(1)
        context.insert(library)
        let books = [Novel(1), Novel(2)]
        for book in books { context.insert(book) }
        try context.save()
        let other = ModelContext(context.container)
        let theirs = try other.fetch(FetchDescriptor<Novel>(predicate: #Predicate { $0.n == 2 }))[0]
        theirs.library = try onlyModel(Library.self, in: other)
        try other.save()
        books[0].library = library
        try context.save()
        let stored = try onlyModel(Library.self, in: place.reopen())
        #expect(stored.books.map(\.n) == [1, 2] && stored.books.allSatisfy { $0.library === stored })
    }

    /// Earlier versions derived these lists, of which they lost members, and wrote so into the stores' schemas.
    @Test(arguments: ["json", "log"]) func aStoreOfAnEarlierVersionShowsWhatItLost(kind: String) throws {
        let place = try Shelf(kind)
        var schema = Shelf.schema.stored
        func name(_ inverse: String, of property: String, in entity: String) {
            for place in schema.entities.indices where schema.entities[place].name == entity {
                for number in schema.entities[place].properties.indices {
                    guard schema.entities[place].properties[number].name == property,
                        var relationship = schema.entities[place].properties[number].relationship
                    else { continue }
                    relationship.inverse = inverse
                    schema.entities[place].properties[number].content = .relationship(relationship)
                }
            }
        }
        name("party", of: "invoices", in: "Company")
        name("owner", of: "things", in: "Boss")
        name("library", of: "books", in: "Library")
        name("books", of: "library", in: "Item")
        let layouts = schema.recordLayouts()
        func record(_ entity: String, _ values: [String: StoredValue]) throws -> DefaultSnapshot {
            let layout = try #require(layouts[entity])
            return DefaultSnapshot(
                persistentIdentifier: .temporary(entityName: entity), layout: layout,
                values: ContiguousArray(
                    layout.slots.map { $0.role.isToMany ? .identifiers([]) : values[$0.name] ?? .null }))
        }
        let company = try record("Company", ["n": .integer(1)])
        let boss = try record("Boss", ["n": .integer(1)])
        let library = try record("Library", ["n": .integer(1)])
        let records = try [
            company, boss, library,
            record("Invoice", ["n": .integer(1), "party": .identifier(company.persistentIdentifier)]),
            record("Thing", ["n": .integer(1), "owner": .identifier(boss.persistentIdentifier)]),
            record("Novel", ["n": .integer(1), "library": .identifier(library.persistentIdentifier)]),
            record("Item", ["n": .integer(2), "library": .identifier(library.persistentIdentifier)]),
        ]
        let request = DataStoreSaveChangesRequest(inserted: records, editingState: EditingState(author: "test"))
        func save<Store: DataStore>(to store: Store) throws where Store.Snapshot == DefaultSnapshot {
            _ = try store.save(request)
        }
        if kind == "json" {
            let store = try JSONFileStore(
                JSONFileConfiguration(schema: Schema(stored: schema), path: place.path), migrationPlan: nil)
            try save(to: store)
            try store.close()
        } else {
            let store = try AppendLogStore(
                AppendLogConfiguration(schema: Schema(stored: schema), path: place.path), migrationPlan: nil)
            try save(to: store)
            try store.compact()
            try store.close()
        }
        for _ in 0..<2 {
            let context = try place.open()
            #expect(try onlyModel(Company.self, in: context).invoices.map(\.n) == [1])
            let boss = try onlyModel(Boss.self, in: context)
            #expect(boss.things.map(\.n) == [1] && boss.things.allSatisfy { $0.owner === boss })
            let library = try onlyModel(Library.self, in: context)
            #expect(library.books.map(\.n) == [1] && library.books.allSatisfy { $0.library === library })
            #expect(try context.fetch(FetchDescriptor<Item>()).map { $0.library === library } == [true, true])
            let invoice = Invoice(7)
            context.insert(invoice)
            context.delete(invoice)
            context.insert(Invoice(8))
            try context.save()
            try place.close()
        }
    }
}

/// A store of the models below that can be opened again.
private final class Shelf {
    static let kinds = ["memory", "json", "log"]
    static let schema = Schema([
        Company.self, Invoice.self, Boss.self, Thing.self, Branch.self, Squad.self, Captain.self, Holder.self,
        Card.self,
        Crew.self, Mate.self, Library.self, Novel.self, Artist.self, Song.self,
    ])
    private let kind: String
    private let folder: Folder
    private var container: ModelContainer?

    init(_ kind: String) throws {
        self.kind = kind
        folder = try Folder()
    }

    var path: String { folder.path("store.\(kind)") }

    func open() throws -> ModelContext {
        let configuration: any DataStoreConfiguration =
            switch kind {
            case "memory": InMemoryConfiguration()
            case "json": JSONFileConfiguration(path: path)
            default: AppendLogConfiguration(path: path)
            }
        let container = try ModelContainer(for: Self.schema, configurations: [configuration])
        self.container = container
        return ModelContext(container)
    }

    func close() throws { try container?.close() }

    func reopen() throws -> ModelContext {
        if kind == "memory", let container { return ModelContext(container) }
        try close()
        return try open()
    }
}

@Model private class Party {
    var n: Int
    init(_ n: Int) { self.n = n }
}
@Model private final class Company: Party {
    @Relationship(deleteRule: .cascade) var invoices: [Invoice] = []
    override init(_ n: Int) { super.init(n) }
}
@Model private final class Invoice {
    var n: Int
    var party: Party?
    init(_ n: Int) { self.n = n }
}

@Model private class Owner {
    var n: Int
    init(_ n: Int) { self.n = n }
}
@Model private final class Boss: Owner {
    @Relationship(deleteRule: .cascade, inverse: \Thing.owner) var things: [Thing] = []
    override init(_ n: Int) { super.init(n) }
}
@Model private final class Thing {
    var n: Int
    var owner: Owner?
    init(_ n: Int) { self.n = n }
}

@Model private class Twig {
    var n: Int
    var parent: Twig?
    init(_ n: Int) { self.n = n }
}
@Model private final class Branch: Twig {
    @Relationship(deleteRule: .cascade, inverse: \Twig.parent) var kids: [Twig] = []
    override init(_ n: Int) { super.init(n) }
}

@Model private class Player {
    var n: Int
    init(_ n: Int) { self.n = n }
}
@Model private final class Captain: Player {
    var team: Squad?
    override init(_ n: Int) { super.init(n) }
}
@Model private final class Squad {
    var n: Int
    @Relationship(deleteRule: .cascade) var players: [Player] = []
    init(_ n: Int) { self.n = n }
}

@Model private class Bearer {
    var n: Int
    init(_ n: Int) { self.n = n }
}
@Model private final class Holder: Bearer {
    @Relationship(deleteRule: .cascade, inverse: \Card.bearer) var card: Card?
    override init(_ n: Int) { super.init(n) }
}
@Model private final class Card {
    var n: Int
    var bearer: Bearer?
    init(_ n: Int) { self.n = n }
}

@Model private final class Crew {
    var n: Int
    var mate: Mate?
    init(_ n: Int) { self.n = n }
}
@Model private class Hand {
    var n: Int
    @Relationship(inverse: \Crew.mate) var crew: Crew?
    init(_ n: Int) { self.n = n }
}
@Model private final class Mate: Hand {
    override init(_ n: Int) { super.init(n) }
}

@Model private class Item {
    var n: Int
    var library: Library?
    init(_ n: Int) { self.n = n }
}
@Model private final class Novel: Item {
    override init(_ n: Int) { super.init(n) }
}
@Model private final class Library {
    var n: Int
    @Relationship(deleteRule: .cascade, inverse: \Item.library) var books: [Novel] = []
    init(_ n: Int) { self.n = n }
}

@Model private class Person {
    var n: Int
    init(_ n: Int) { self.n = n }
}
@Model private final class Artist: Person {
    @Relationship(inverse: \Song.people) var songs: [Song] = []
    override init(_ n: Int) { super.init(n) }
}
@Model private final class Song {
    var n: Int
    var people: [Person] = []
    init(_ n: Int) { self.n = n }
}

@Model private final class Client {
    var n: Int
    var companion: Companion?
    init(_ n: Int) { self.n = n }
}
@Model private class Companion {
    var n: Int
    init(_ n: Int) { self.n = n }
}
@Model private final class Guide: Companion {
    @Relationship(inverse: \Client.companion) var client: Client?
    override init(_ n: Int) { super.init(n) }
}
