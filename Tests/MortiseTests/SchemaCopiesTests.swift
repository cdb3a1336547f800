import Foundation
import Mortise
import Testing

/// Bugs: what a schema hands out was what every container worked with, and what a container's own schema showed; the inverse of an inherited relationship depended on
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

    /// Everything that can be set in a description, in schemas of containers that are open, that opened before, and that are
    /// opened afterwards; also in the objects that come out of the sets.
    @Test func descriptionsThatAreChangedChangeNoContainer() throws {
        let types: [any PersistentModel.Type] = [Pontoon.self, Rope.self]
        func open(_ schema: Schema = Schema([Pontoon.self, Rope.self])) throws -> ModelContainer {
            try ModelContainer(for: schema, configurations: [InMemoryConfiguration()])
        }
        let (before, changed) = (try open(), try open())
        let entities = changed.schema.entities + changed.schema.entitiesByName.values
        for entity in entities {
            for attribute in Array(entity.attributes) + Array(entity.attributesByName.values) {
                attribute.options = attribute.name == "code" ? [] : [.unique, .ephemeral]
                attribute.isOptional.toggle()
                attribute.defaultValue = 99
                attribute.valueType = Date.self
                attribute.originalName = "other"
                (attribute as? Schema.CompositeAttribute)?.properties.removeAll()
            }
            for relationship in Array(entity.relationships) + Array(entity.relationshipsByName.values) {
                relationship.deleteRule = relationship.deleteRule == .cascade ? .deny : .cascade
                relationship.options = [.unique]
                relationship.inverseName = nil
                relationship.inverseKeyPath = nil
                relationship.minimumModelCount = 7
                relationship.maximumModelCount = 8
                relationship.isToOneRelationship.toggle()
            }
            entity.uniquenessConstraints = [["length"]]
            entity.indices = []
            entity.storedProperties.removeAll()
        }
        for container in [before, changed, try open(), try open(changed.schema)] {
            let context = ModelContext(container)
            let pontoon = Pontoon(code: "a")
            pontoon.ropes = [Rope(length: 3), Rope(length: 3)]
            context.insert(pontoon)
            let posts = Rope(length: 4)
            context.insert(posts)
            posts.post = pontoon
            try context.save()
            // The unique value still is, and the others are not.
            let second = Pontoon(code: "a")
            second.width = 5
            context.insert(second)
            try context.save()
            let other = ModelContext(container)
            let found = try onlyModel(Pontoon.self, in: other)
            #expect(found.width == 5 && found.berth == Berth(row: 1, place: 2))
            #expect(try other.fetchCount(FetchDescriptor<Rope>(predicate: #Predicate { $0.length == 3 })) == 2)
            #expect(found.posts.map(\.length) == [4])
            // `ropes` are taken along, `posts` are not.
            other.delete(found)
            try other.save()
            #expect(try onlyModel(Rope.self, in: ModelContext(container)).length == 4)
            try container.close()
        }
        let again = Schema(types)
        let attributes = again.entitiesByName["Pontoon"]?.attributesByName
        #expect(attributes?["code"]?.options == [.unique] && attributes?["width"]?.options == [])
        #expect(attributes?["width"]?.defaultValue as? Int == 3 && attributes?["width"]?.isOptional == false)
        let rules = again.entitiesByName["Pontoon"]?.relationshipsByName.mapValues(\.deleteRule)
        #expect(rules == ["ropes": .cascade, "posts": .nullify])
        #expect(again.entitiesByName["Pontoon"]?.relationshipsByName["ropes"]?.inverseName == "pontoon")
        #expect(again.entitiesByName["Pontoon"]?.uniquenessConstraints == [["code"]])
    }

    @Test func aContainerHasEntitiesOfItsOwn() throws {
        let schema = Schema([Yacht.self])
        schema.entitiesByName["Yacht"]?.name = "Renamed before"
        let container = try ModelContainer(for: schema, configurations: [InMemoryConfiguration()])
        schema.entitiesByName["Mooring"]?.name = "Renamed later"
        schema.entitiesByName["Mooring"]?.relationships = []
        for schema in [container.schema, try #require(container.storeConfigurations.first?.schema)] {
            #expect(schema.entities.map(\.name) == ["Mooring", "Yacht"])
            #expect(schema.entitiesByName["Yacht"]?.name == "Yacht")
            #expect(schema.entitiesByName["Mooring"]?.relationships.map(\.name) == ["yachts"])
        }
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

    /// Five versions with equal properties, of which each takes what those before it cannot. Which of them comes first must
    /// not follow from where a hash table has them: an order of its own making is right once in 120 runs.
    @Test func ofVersionsWithEqualPropertiesTheFirstByNameThatFitsIsTaken() throws {
        let types: [any PersistentModel.Type] = [
            VersionsByWidth.E.Quay.self, VersionsByWidth.C.Quay.self, VersionsByWidth.A.Quay.self,
            VersionsByWidth.D.Quay.self, VersionsByWidth.B.Quay.self,
        ]
        for type in types { _ = Schema([type]) }
        let cases: [(Double, StorageKind)] = [
            (7, .int8), (300, .int16), (70_000, .int32), (5_000_000_000, .int64), (7.5, .double),
        ]
        for (depth, kind) in cases {
            // Without the container: one that is open would decide.
            let coded = try codedQuay(depth: depth)
            let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: coded)
            #expect(decoded.layout.slots.map(\.property.attribute?.kind) == [kind], "\(depth)")
        }
    }

    private func codedQuay(depth: Double) throws -> Data {
        let container = try ModelContainer(
            for: Schema([VersionsByWidth.E.Quay.self]), configurations: [InMemoryConfiguration()])
        let context = ModelContext(container)
        let quay = VersionsByWidth.E.Quay()
        quay.depth = depth
        context.insert(quay)
        try context.save()
        var related: [PersistentIdentifier: any BackingData] = [:]
        return try JSONEncoder().encode(DefaultSnapshot(from: quay._backingData(), relatedBackingDatas: &related))
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

/// Versions of one model whose names are in the order of what they can hold.
enum VersionsByWidth {
    enum A {
        @Model final class Quay {
            var depth: Int8 = 0
            init() {}
        }
    }
    enum B {
        @Model final class Quay {
            var depth: Int16 = 0
            init() {}
        }
    }
    enum C {
        @Model final class Quay {
            var depth: Int32 = 0
            init() {}
        }
    }
    enum D {
        @Model final class Quay {
            var depth: Int64 = 0
            init() {}
        }
    }
    enum E {
        @Model final class Quay {
            var depth = 0.0
            init() {}
        }
    }
}

struct Berth: Codable, Equatable {
    var row: Int
    var place: Int
}

@Model
final class Pontoon {
    @Attribute(.unique) var code: String
    var width = 3
    var berth = Berth(row: 1, place: 2)
    @Relationship(deleteRule: .cascade, inverse: \Rope.pontoon) var ropes: [Rope] = []
    @Relationship(inverse: \Rope.post) var posts: [Rope] = []
    init(code: String) { self.code = code }
}

@Model
final class Rope {
    var length: Int
    var pontoon: Pontoon?
    var post: Pontoon?
    init(length: Int) { self.length = length }
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

private enum EarlierNote {
    @Model final class Memo {
        var key: UUID = UUID()
        var when: Date = Date(timeIntervalSince1970: 0)
        init() {}
    }
}

private enum LaterNote {
    @Model final class Memo {
        var key: String
        var when: Double
        init(key: String, when: Double) {
            self.key = key
            self.when = when
        }
    }
}

/// Snapshots that a store of another package keeps in their coded form, where a process knows two versions of a model whose
/// properties have the same names. They were once read as those of the version whose name came first.
@Suite(.serialized) struct SnapshotVersionTests {
    @Test func theContainersVersionDecides() throws {
        _ = Schema([EarlierNote.Memo.self])
        let key = UUID().uuidString.lowercased()
        let container = try ModelContainer(for: LaterNote.Memo.self, store: "memory:")
        let context = ModelContext(container)
        let memo = LaterNote.Memo(key: key, when: 4.5)
        context.insert(memo)
        try context.save()
        var related: [PersistentIdentifier: any BackingData] = [:]
        let snapshot = DefaultSnapshot(from: memo._backingData(), relatedBackingDatas: &related)
        let decoded = try JSONDecoder().decode(DefaultSnapshot.self, from: JSONEncoder().encode(snapshot))
        #expect(decoded[property: "key"] == .string(key))
        #expect(decoded[property: "when"] == .double(4.5))
        try container.close()
    }
}
