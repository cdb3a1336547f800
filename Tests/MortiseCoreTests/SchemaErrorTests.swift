import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Every fault of a schema is named when its container is made, before any store is opened.
@Suite struct SchemaErrorTests {
    private func expect(
        _ error: SchemaError, from types: any PersistentModel.Type..., saying words: String...,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(sourceLocation: location) {
            _ = try ModelContainer(for: Schema(types), configurations: [InMemoryConfiguration()])
        } throws: { thrown in
            guard case SwiftDataError.loadIssueModelContainer = thrown else { return false }
            let text = "\(thrown)"
            return thrown as? SchemaError == error && words.allSatisfy(text.contains)
        }
    }

    @Test func twoModelsOfOneNameAreADuplicateEntity() {
        expect(
            .duplicateEntity(entity: "Twin"), from: First.Twin.self, Second.Twin.self, saying: "Twin", "Rename one")
    }

    @Test func aPropertyListedTwiceIsADuplicateProperty() {
        expect(
            .duplicateProperty(entity: "Doubled", property: "name"), from: Doubled.self, saying: "Doubled.name",
            "Remove one")
    }

    @Test func aTypeThatIsNotCodableIsUnsupported() {
        expect(
            .unsupportedType(entity: "Opaque", property: "thing", type: "Thing"), from: Opaque.self,
            saying: "Opaque.thing", "@Transient", "transformable")
    }

    @Test func aRelationshipToNoModelIsNone() {
        expect(
            .notARelationship(entity: "Mislabelled", property: "name", type: "String"), from: Mislabelled.self,
            saying: "Mislabelled.name", "Remove @Relationship")
    }

    @Test func aToManyRelationshipCannotBeUnique() {
        expect(
            .uniqueToMany(entity: "UniqueMany", property: "others"), from: UniqueMany.self, saying: "UniqueMany.others",
            "Leave it out")
        expect(
            .uniqueToMany(entity: "ConstrainedMany", property: "others"), from: ConstrainedMany.self,
            saying: "ConstrainedMany.others")
    }

    @Test func constraintsTakeStoredPropertiesOnly() {
        expect(
            .unknownKeyPath(entity: "Indexed", keyPath: "\(\Indexed.computed as AnyKeyPath)"), from: Indexed.self,
            saying: "Indexed", "stored properties")
    }

    @Test func anInverseHasToBeARelationship() {
        expect(
            .unknownInverse(entity: "Lost", property: "target", destination: "Plain"), from: Lost.self,
            saying: "Lost.target", "Plain")
    }

    @Test func anInverseHasToLeadBack() {
        expect(
            .inverseOfAnotherEntity(entity: "Astray", property: "hub", inverse: "Hub.plain", leadsTo: "Plain"),
            from: Astray.self, saying: "Astray.hub", "Hub.plain", "leads back")
    }

    @Test func twoRelationshipsMayShareAnInverse() throws {
        _ = try ModelContainer(for: Schema(Rival.self), configurations: [InMemoryConfiguration()])
    }

    /// Such a container once opened, and refused each model when it was saved.
    @Test func aSchemaWithoutModelTypesOpensNoContainer() throws {
        let typed = Schema(Hub.self)
        let decoded = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(typed))
        let handMade = Schema(Schema.Entity("Hub"), version: Schema.Version(1, 0, 0))
        for schema in [decoded, handMade] {
            #expect {
                _ = try ModelContainer(for: schema, configurations: [InMemoryConfiguration()])
            } throws: { thrown in
                thrown as? SchemaError == .noModelTypes(entity: "Hub") && "\(thrown)".contains("Schema([Hub.self])")
            }
        }
        for schema in [Schema(), Schema(stored: typed.stored)] {
            _ = try ModelContainer(for: schema, configurations: [InMemoryConfiguration()])
        }
    }

    @Test func impossibleCountsAreRefused() {
        expect(
            .impossibleCount(entity: "Crowd", property: "others"), from: Crowd.self, saying: "Crowd.others",
            "minimumModelCount")
    }
}

private struct Thing {}

private final class Plain: PersistentModel {
    var persistentBackingData: any BackingData<Plain> = Plain.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Plain.name)] }
    init(backingData: any BackingData<Plain>) { persistentBackingData = backingData }
    var name: String { getValue(forKey: \.name) }
}

private enum First {
    final class Twin: PersistentModel {
        var persistentBackingData: any BackingData<Twin> = Twin.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Twin.name)] }
        init(backingData: any BackingData<Twin>) { persistentBackingData = backingData }
        var name: String { getValue(forKey: \.name) }
    }
}

private enum Second {
    final class Twin: PersistentModel {
        var persistentBackingData: any BackingData<Twin> = Twin.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Twin.name)] }
        init(backingData: any BackingData<Twin>) { persistentBackingData = backingData }
        var name: String { getValue(forKey: \.name) }
    }
}

private final class Doubled: PersistentModel {
    var persistentBackingData: any BackingData<Doubled> = Doubled.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "name", keypath: \Doubled.name), .init(name: "name", keypath: \Doubled.name)]
    }
    init(backingData: any BackingData<Doubled>) { persistentBackingData = backingData }
    var name: String { getValue(forKey: \.name) }
}

private final class Opaque: PersistentModel {
    var persistentBackingData: any BackingData<Opaque> = Opaque.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "thing", keypath: \Opaque.thing)] }
    init(backingData: any BackingData<Opaque>) { persistentBackingData = backingData }
    var thing: Thing { Thing() }
}

private final class Mislabelled: PersistentModel {
    var persistentBackingData: any BackingData<Mislabelled> = Mislabelled.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "name", keypath: \Mislabelled.name, metadata: Schema.Relationship())]
    }
    init(backingData: any BackingData<Mislabelled>) { persistentBackingData = backingData }
    var name: String { getValue(forKey: \.name) }
}

private final class UniqueMany: PersistentModel {
    var persistentBackingData: any BackingData<UniqueMany> = UniqueMany.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "others", keypath: \UniqueMany.others, metadata: Schema.Attribute(.unique))]
    }
    init(backingData: any BackingData<UniqueMany>) { persistentBackingData = backingData }
    var others: [Plain] { getValue(forKey: \.others) }
}

private final class ConstrainedMany: PersistentModel {
    var persistentBackingData: any BackingData<ConstrainedMany> = ConstrainedMany.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "others", keypath: \ConstrainedMany.others),
            .init(
                name: "Schema.Unique", keypath: \Schema.encodingVersion,
                metadata: Schema.Unique<ConstrainedMany>([\.others])),
        ]
    }
    init(backingData: any BackingData<ConstrainedMany>) { persistentBackingData = backingData }
    var others: [Plain] { getValue(forKey: \.others) }
}

private final class Indexed: PersistentModel {
    var persistentBackingData: any BackingData<Indexed> = Indexed.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Indexed.name),
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion, metadata: Schema.Index<Indexed>([\.computed])),
        ]
    }
    init(backingData: any BackingData<Indexed>) { persistentBackingData = backingData }
    var name: String { getValue(forKey: \.name) }
    var computed: Int { name.count }
}

private final class Lost: PersistentModel {
    var persistentBackingData: any BackingData<Lost> = Lost.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "target", keypath: \Lost.target, metadata: Schema.Relationship(inverse: \Plain.name))]
    }
    init(backingData: any BackingData<Lost>) { persistentBackingData = backingData }
    var target: Plain? { getValue(forKey: \.target) }
}

private final class Hub: PersistentModel {
    var persistentBackingData: any BackingData<Hub> = Hub.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "plain", keypath: \Hub.plain)] }
    init(backingData: any BackingData<Hub>) { persistentBackingData = backingData }
    var plain: Plain? { getValue(forKey: \.plain) }
}

private final class Astray: PersistentModel {
    var persistentBackingData: any BackingData<Astray> = Astray.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "hub", keypath: \Astray.hub, metadata: Schema.Relationship(inverse: \Hub.plain))]
    }
    init(backingData: any BackingData<Astray>) { persistentBackingData = backingData }
    var hub: Hub? { getValue(forKey: \.hub) }
}

private final class Prize: PersistentModel {
    var persistentBackingData: any BackingData<Prize> = Prize.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "holder", keypath: \Prize.holder)] }
    init(backingData: any BackingData<Prize>) { persistentBackingData = backingData }
    var holder: Rival? { getValue(forKey: \.holder) }
}

private final class Rival: PersistentModel {
    var persistentBackingData: any BackingData<Rival> = Rival.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "first", keypath: \Rival.first, metadata: Schema.Relationship(inverse: \Prize.holder)),
            .init(name: "second", keypath: \Rival.second, metadata: Schema.Relationship(inverse: \Prize.holder)),
        ]
    }
    init(backingData: any BackingData<Rival>) { persistentBackingData = backingData }
    var first: Prize? { getValue(forKey: \.first) }
    var second: Prize? { getValue(forKey: \.second) }
}

private final class Crowd: PersistentModel {
    var persistentBackingData: any BackingData<Crowd> = Crowd.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(
                name: "others", keypath: \Crowd.others,
                metadata: Schema.Relationship(minimumModelCount: 3, maximumModelCount: 2))
        ]
    }
    init(backingData: any BackingData<Crowd>) { persistentBackingData = backingData }
    var others: [Plain] { getValue(forKey: \.others) }
}
