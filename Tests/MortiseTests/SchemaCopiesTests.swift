import Foundation
import Mortise
import Testing

/// Bugs: what a schema hands out was what every container worked with; the inverse of an inherited relationship depended on
/// which class was registered first; a snapshot was decoded as any version of its model.
@Suite struct SchemaCopiesTests {
    @Test func changingWhatASchemaHandsOutChangesNoContainer() throws {
        let schema = Schema([Yacht.self, Dinghy.self])
        let (yacht, dinghy) = (schema.entitiesByName["Yacht"], schema.entitiesByName["Dinghy"])
        yacht?.attributesByName["length"]?.options = [.ephemeral]
        yacht?.attributesByName["name"]?.name = "renamed"
        yacht?.relationshipsByName["mooring"]?.deleteRule = .cascade
        yacht?.relationshipsByName["mooring"]?.destination = "Nowhere"
        dinghy?.attributesByName["length"]?.options = [.ephemeral]
        let again = Schema([Yacht.self, Dinghy.self])
        for schema in [again, schema] {
            let container = try ModelContainer(for: schema, configurations: [InMemoryConfiguration()])
            let context = ModelContext(container)
            let mooring = Mooring()
            let boat = Dinghy(name: "a", length: 3)
            boat.mooring = mooring
            context.insert(boat)
            try context.save()
            let found = try ModelContext(container).fetch(
                FetchDescriptor<Yacht>(predicate: #Predicate { $0.length == 3 && $0.name == "a" }))
            #expect(found.map(\.length) == [3] && found.first?.mooring != nil)
            context.delete(boat)
            try context.save()
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<Mooring>()) == 1)
        }
        #expect(again.entitiesByName["Yacht"]?.attributesByName["length"]?.options == [])
        #expect(again.entitiesByName["Yacht"]?.relationshipsByName["mooring"]?.destination == "Mooring")
    }

    /// Each order has classes of its own, because what is known of a class is kept for the life of the process.
    @Test func theInverseOfAnInheritedRelationshipDoesNotDependOnTheOrder() throws {
        func check<Owner: PersistentModel, Vehicle: PersistentModel>(
            _ types: [any PersistentModel.Type], _ owner: Owner, _ vehicle: Vehicle,
            _ set: () -> Void, _ vehicles: () -> [AnyObject]
        ) throws {
            let context = ModelContext(
                try ModelContainer(for: Schema(types), configurations: [InMemoryConfiguration()]))
            context.insert(owner)
            context.insert(vehicle)
            set()
            #expect(vehicles().contains { $0 === vehicle }, "\(types)")
            try context.save()
            #expect(vehicles().contains { $0 === vehicle }, "\(types)")
        }
        do {
            let (owner, van) = (Order1.Person(), Order1.Van())
            try check(
                [Order1.Person.self, Order1.Vehicle.self, Order1.Van.self], owner, van, { van.owner = owner },
                { owner.vehicles })
        }
        do {
            let (owner, van) = (Order2.Person(), Order2.Van())
            try check([Order2.Van.self], owner, van, { van.owner = owner }, { owner.vehicles })
        }
        do {
            let (owner, van) = (Order3.Person(), Order3.Van())
            _ = Schema([Order3.Vehicle.self])
            try check([Order3.Van.self, Order3.Person.self], owner, van, { van.owner = owner }, { owner.vehicles })
        }
    }

    @Test func aSnapshotIsDecodedAsTheVersionThatItsPropertiesFit() throws {
        _ = Schema([VersionB.Pier.self, VersionA.Pier.self])
        let container = try ModelContainer(
            for: Schema([VersionA.Pier.self]), configurations: [InMemoryConfiguration()])
        let context = ModelContext(container)
        let pier = VersionA.Pier()
        context.insert(pier)
        try context.save()
        var related: [PersistentIdentifier: any BackingData] = [:]
        let snapshot = DefaultSnapshot(from: pier._backingData(), relatedBackingDatas: &related)
        let coded = try JSONEncoder().encode(snapshot)
        for _ in 0..<20 {
            let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: coded)
            #expect(try JSONEncoder().encode(decoded).count == coded.count)
        }
    }

    @Test func anIdentifierOfNoSpaceHasNoEntity() {
        let identifier = PersistentIdentifier(namespace: .max, sequence: 1)
        #expect(identifier.entityName == "" && identifier.storeIdentifier == nil)
        #expect(!"\(identifier)".isEmpty)
    }
}

@Model
class Yacht {
    var name: String
    var length: Int
    var mooring: Mooring?
    init(name: String, length: Int) {
        self.name = name
        self.length = length
    }
}

@Model
final class Dinghy: Yacht {
    var oars = 2
    override init(name: String, length: Int) { super.init(name: name, length: length) }
}

@Model
final class Mooring {
    @Relationship(inverse: \Yacht.mooring) var yachts: [Yacht] = []
    init() {}
}

enum VersionA {
    @Model final class Pier {
        var number = 7
        init() {}
    }
}

enum VersionB {
    @Model final class Pier {
        var number = "seven"
        var more = 1
        init() {}
    }
}

enum Order1 {
    @Model class Vehicle {
        var owner: Person?
        init() {}
    }
    @Model final class Van: Vehicle {
        var driver: Person?
        override init() { super.init() }
    }
    @Model final class Person {
        var vehicles: [Vehicle] = []
        init() {}
    }
}

enum Order2 {
    @Model class Vehicle {
        var owner: Person?
        init() {}
    }
    @Model final class Van: Vehicle {
        var driver: Person?
        override init() { super.init() }
    }
    @Model final class Person {
        var vehicles: [Vehicle] = []
        init() {}
    }
}

enum Order3 {
    @Model class Vehicle {
        var owner: Person?
        init() {}
    }
    @Model final class Van: Vehicle {
        var driver: Person?
        override init() { super.init() }
    }
    @Model final class Person {
        var vehicles: [Vehicle] = []
        init() {}
    }
}
