import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// The first version of an app that calls its trips journeys later.
private enum First: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Trip.self, Ferry.self, Port.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    class Trip: PersistentModel {
        var persistentBackingData: any BackingData<Trip> = Trip.createBackingData()
        class var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Trip.name),
                .init(
                    name: "ports", keypath: \Trip.ports, defaultValue: [Port](),
                    metadata: Schema.Relationship(inverse: \Port.trips)),
            ]
        }
        required init(backingData: any BackingData<Trip>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var ports: [Port] {
            get { getValue(forKey: \.ports) }
            set { setValue(forKey: \.ports, to: newValue) }
        }
    }

    final class Ferry: PersistentModel {
        var persistentBackingData: any BackingData<Ferry> = Ferry.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(
                    name: "line", keypath: \Ferry.line, metadata: Schema.Attribute(.unique, .preserveValueOnDeletion)),
                .init(name: "trip", keypath: \Ferry.trip),
            ]
        }
        init(backingData: any BackingData<Ferry>) { persistentBackingData = backingData }
        init(_ line: String, trip: Trip?) { (self.line, self.trip) = (line, trip) }
        var line: String {
            get { getValue(forKey: \.line) }
            set { setValue(forKey: \.line, to: newValue) }
        }
        var trip: Trip? {
            get { getValue(forKey: \.trip) }
            set { setValue(forKey: \.trip, to: newValue) }
        }
    }

    final class Port: PersistentModel {
        var persistentBackingData: any BackingData<Port> = Port.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Port.name),
                .init(name: "trips", keypath: \Port.trips, defaultValue: [Trip]()),
            ]
        }
        init(backingData: any BackingData<Port>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var trips: [Trip] {
            get { getValue(forKey: \.trips) }
            set { setValue(forKey: \.trips, to: newValue) }
        }
    }
}

/// Trips are journeys, and ferries are trips now. The name that decides on the side of the links is behind the other one's.
private enum Second: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Zourney.self, Trip.self, Port.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    final class Zourney: PersistentModel {
        static var originalEntityName: String? { "Trip" }
        var persistentBackingData: any BackingData<Zourney> = Zourney.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Zourney.name),
                .init(
                    name: "ports", keypath: \Zourney.ports, defaultValue: [Port](),
                    metadata: Schema.Relationship(inverse: \Port.journeys)),
            ]
        }
        init(backingData: any BackingData<Zourney>) { persistentBackingData = backingData }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var ports: [Port] {
            get { getValue(forKey: \.ports) }
            set { setValue(forKey: \.ports, to: newValue) }
        }
    }

    final class Trip: PersistentModel {
        static var originalEntityName: String? { "Ferry" }
        var persistentBackingData: any BackingData<Trip> = Trip.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "line", keypath: \Trip.line, metadata: Schema.Attribute(.unique, .preserveValueOnDeletion)),
                .init(name: "journey", keypath: \Trip.journey, metadata: Schema.Relationship(originalName: "trip")),
            ]
        }
        init(backingData: any BackingData<Trip>) { persistentBackingData = backingData }
        init(_ line: String, journey: Zourney?) { (self.line, self.journey) = (line, journey) }
        var line: String {
            get { getValue(forKey: \.line) }
            set { setValue(forKey: \.line, to: newValue) }
        }
        var journey: Zourney? {
            get { getValue(forKey: \.journey) }
            set { setValue(forKey: \.journey, to: newValue) }
        }
    }

    final class Port: PersistentModel {
        var persistentBackingData: any BackingData<Port> = Port.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Port.name),
                .init(
                    name: "journeys", keypath: \Port.journeys, defaultValue: [Zourney](),
                    metadata: Schema.Relationship(originalName: "trips")),
            ]
        }
        init(backingData: any BackingData<Port>) { persistentBackingData = backingData }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var journeys: [Zourney] {
            get { getValue(forKey: \.journeys) }
            set { setValue(forKey: \.journeys, to: newValue) }
        }
    }
}

private enum Renaming: SchemaMigrationPlan {
    nonisolated(unsafe) static var stage = MigrationStage.lightweight(fromVersion: First.self, toVersion: Second.self)
    nonisolated(unsafe) static var known: [PersistentIdentifier] = []
    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
    static var stages: [MigrationStage] { [stage] }
}

extension MigrationTests {
    /// Two trips, a ferry of the first, and ports of both.
    private func fillFirst(_ world: MigrationWorld) throws -> (
        trips: [PersistentIdentifier], ferry: PersistentIdentifier
    ) {
        let container = try world.open(First.self, nil)
        defer { try? container.close() }
        let context = ModelContext(container)
        let (alps, sea, ferry) = (First.Trip("Alps"), First.Trip("Sea"), First.Ferry("7", trip: nil))
        context.insert(ferry)
        context.insert(alps)
        context.insert(sea)
        for name in ["Basel", "Cork"] {
            let port = First.Port(name)
            context.insert(port)
            sea.ports.append(port)
        }
        let gone = First.Ferry("8", trip: nil)
        context.insert(gone)
        try context.save()
        ferry.trip = sea
        context.delete(gone)
        try context.save()
        return ([alps.persistentModelID, sea.persistentModelID], ferry.persistentModelID)
    }

    @Test(arguments: MigrationWorld.Kind.allCases, ["without a plan", "plan", "closures", "both versions"])
    func recordsFollowTheirEntitysName(_ kind: MigrationWorld.Kind, _ way: String) throws {
        let world = try MigrationWorld(kind)
        let (trips, ferry) = try fillFirst(world)
        Renaming.stage =
            switch way {
            case "closures":
                .custom(
                    fromVersion: First.self, toVersion: Second.self,
                    willMigrate: { context in
                        Renaming.known = try context.fetch(FetchDescriptor<First.Trip>()).map(\.persistentModelID)
                    },
                    didMigrate: { context in
                        for identifier in Renaming.known {
                            let journey = try #require(context.model(for: identifier) as? Second.Zourney)
                            journey.name += "!"
                        }
                    })
            case "both versions":
                .custom(
                    from: First.self, to: Second.self, mapping: .inferred.filling("Zourney.name", with: .string("-")),
                    migrate: { old, new in
                        for trip in try old.fetch(First.Trip.self) {
                            let journey = try #require(try new.model(Second.Zourney.self, for: trip.persistentModelID))
                            journey.name += "!"
                        }
                        for record in try old.records("Ferry") {
                            // References of the source lead to what the records became.
                            try new.update(
                                record.id,
                                ["line": .string(record.value("line") + "?"), "journey": record["trip"] ?? .null])
                        }
                    })
            default: .lightweight(fromVersion: First.self, toVersion: Second.self)
            }
        let marks = (way == "closures" || way == "both versions" ? "!" : "", way == "both versions" ? "?" : "")
        for opening in 0..<3 {
            if opening == 2 { try? world.disk.unlink(world.path + ".checkpoint") }
            let container = try world.open(Second.self, way == "without a plan" ? nil : Renaming.self)
            let context = ModelContext(container)
            let journeys = try context.fetch(FetchDescriptor<Second.Zourney>())
            #expect(journeys.map(\.name) == ["Alps\(marks.0)", "Sea\(marks.0)"])
            #expect(journeys.map { $0.ports.map(\.name).sorted() } == [[], ["Basel", "Cork"]])
            #expect(try context.fetch(FetchDescriptor<Second.Port>()).map { $0.journeys.count } == [1, 1])
            #expect(journeys.map { $0.persistentModelID.sequenceNumber } == trips.map(\.sequenceNumber))
            let lines = try context.fetch(FetchDescriptor<Second.Trip>())
            #expect(lines.map(\.line) == ["7\(marks.1)"])
            #expect(lines.first?.journey === journeys.last)
            // Identifiers that were kept elsewhere lead where they led, although the trips' name is that of others now.
            #expect(context.model(for: ferry) === lines.first)
            #expect(try context.existingModel(for: ferry, as: Second.Trip.self) === lines.first)
            let registered: Second.Trip? = context.registeredModel(for: ferry)
            #expect(registered === lines.first)
            let found = try context.fetch(
                FetchDescriptor<Second.Trip>(predicate: #Predicate { $0.persistentModelID == ferry }))
            #expect(found == lines)
            #expect(context.model(for: trips[0]) === journeys.first)
            let alps = trips[0]
            #expect(
                try context.fetch(
                    FetchDescriptor<Second.Zourney>(predicate: #Predicate { $0.persistentModelID == alps })
                )
                .map(\.name) == ["Alps\(marks.0)"])
            // Another entity's name now, in a condition on a relationship, in a list, and where it is not.
            let (sea, both) = (trips[1], [trips[0], ferry])
            #expect(
                try context.fetch(
                    FetchDescriptor<Second.Trip>(predicate: #Predicate { $0.journey?.persistentModelID == sea }))
                    == lines)
            #expect(
                try context.fetchCount(
                    FetchDescriptor<Second.Trip>(predicate: #Predicate { $0.journey?.persistentModelID != sea })) == 0)
            #expect(
                try context.fetch(
                    FetchDescriptor<Second.Zourney>(predicate: #Predicate { both.contains($0.persistentModelID) }))
                    == [journeys[0]])
            if opening == 0 {
                // Nothing but what an opening has written. Without a plan it is the first save that does.
                context.insert(Second.Trip("9", journey: journeys.first))
                try context.save()
                let nine = try context.fetch(FetchDescriptor<Second.Trip>()).first { $0.line == "9" }
                context.delete(try #require(nine))
                try context.save()
            }
            if kind == .log, opening == 2 { try expectHistory(context, way) }
            try container.close()
        }
        if kind == .log { #expect(try world.logConfiguration().verifyStore().problems.isEmpty) }
    }

    private func expectHistory(_ context: ModelContext, _ way: String) throws {
        let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        let changes = history.flatMap(\.changes)
        var inserted: [String] = []
        var deleted: [String] = []
        for change in changes {
            switch change {
            case .insert(let change): inserted.append(change.changedPersistentIdentifier.entityName)
            case .delete(let change):
                let tombstone = (change as? DefaultHistoryDelete<Second.Trip>)?.tombstone
                deleted.append(
                    "\(change.changedPersistentIdentifier.entityName) \(tombstone?[\.line] as? String ?? "?")")
            default: break
            }
        }
        #expect(inserted.sorted() == ["Port", "Port", "Trip", "Trip", "Trip", "Zourney", "Zourney"])
        #expect(deleted == ["Trip 8", "Trip 9"])
    }

    @Test func whatWasEncodedBeforeHasNoOriginalNames() throws {
        let entity = StoredEntity(name: "Trip", superentity: "Event", properties: [], uniquenessConstraints: [["a"]])
        let object = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(entity)) as? [String: Any])
        #expect(object["originalName"] as? String == "Trip")
        let earlier = object.filter { $0.key != "originalName" }
        let decoded = try JSONDecoder().decode(
            StoredEntity.self, from: JSONSerialization.data(withJSONObject: earlier))
        #expect(decoded == entity)
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func entitiesComeFromOneEach(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        _ = try fillFirst(world)
        let before = try world.files()
        func entity(_ name: String, from original: String?, _ property: String = "name") -> StoredEntity {
            StoredEntity(
                name: name, originalName: original,
                properties: [
                    StoredProperty(name: property, isOptional: true, content: .attribute(.init(kind: .string)))
                ])
        }
        let twice = StoredSchema(
            version: Schema.Version(2, 0, 0), entities: [entity("A", from: "Trip"), entity("B", from: "Trip")])
        #expect {
            try world.open(Schema(stored: twice), nil)
        } throws: { error in
            guard case EngineError.schemaMismatch(_, let differences) = error else { return false }
            return differences.contains { $0.contains("A and B both come from Trip") }
        }
        #expect(try world.files() == before)
        // An original name that nothing has is that of a new entity, once what it might be is dropped by name; what is dropped is
        // counted under its own.
        let other = StoredSchema(
            version: Schema.Version(2, 0, 0),
            entities: [entity("Trip", from: "Port"), entity("New", from: "Never"), entity("Ferry", from: nil, "line")])
        #expect {
            try world.open(Schema(stored: other), nil)
        } throws: { error in
            guard case MigrationError.unknownOrigin(_, "New", "Never", ["Trip"]) = error else { return false }
            return true
        }
        #expect(try world.files() == before)
        let container = try ModelContainer(
            for: Schema(stored: other), configurations: [world.configuration(dropping: ["Trip"])])
        let store = try #require(container.stores.first?.underlying as? any VersionedDataStore)
        let records = try StoredRecords(ofEntity: "Trip", in: store.currentVersion, other, other.recordLayouts())
        #expect(records.map { $0["name"] } == [.string("Basel"), .string("Cork")])
        #expect(store.currentVersion.rows(ofEntity: "New")?.count ?? 0 == 0)
        let loss = try #require(container.stores.first?.underlying.schemaLoss)
        #expect(loss.entities == [.init(name: "Trip", records: 2)])
        #expect(loss.properties.contains(.init(entity: "Ferry", name: "trip", values: 1)))
        try container.close()
    }

    private static func people(_ number: Int, family: Bool, boss: String, unique: Bool = false) -> StoredSchema {
        let name = StoredProperty(name: "name", isOptional: true, content: .attribute(.init(kind: .string)))
        let desk = StoredProperty(name: "desk", isOptional: true, content: .attribute(.init(kind: .string)))
        let link = StoredProperty(
            name: "boss", isOptional: true,
            content: .relationship(StoredRelationship(destination: boss, isToMany: false)))
        let staff = StoredProperty(
            name: "staff", isOptional: false,
            content: .relationship(StoredRelationship(destination: boss, isToMany: true)))
        let constraints = unique ? [["name"]] : []
        var entities = [StoredEntity(name: "Firm", properties: [name, link, staff])]
        if family {
            entities += [
                StoredEntity(name: "Person", properties: [name], uniquenessConstraints: constraints),
                StoredEntity(name: "Employee", superentity: "Person", properties: [desk]),
                StoredEntity(name: "Client", superentity: "Person", properties: []),
            ]
        } else {
            entities += [
                StoredEntity(name: "Employee", properties: [desk, name]),
                StoredEntity(name: "Client", properties: [name]),
            ]
        }
        return StoredSchema(version: Schema.Version(number, 0, 0), entities: entities)
    }

    private func dump(_ world: MigrationWorld, _ schema: StoredSchema, _ entity: String) throws -> [String] {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let store = try #require(container.stores.first?.underlying as? any VersionedDataStore)
        return try StoredRecords(ofEntity: entity, in: store.currentVersion, schema, schema.recordLayouts()).map {
            record in
            let values = ["name", "desk", "boss", "staff"].map { name -> String in
                switch record[name] {
                case .string(let text)?: text
                case .identifier(let other)?: "\(other.entityName)/\(other.sequenceNumber ?? 0)"
                case .identifiers(let others)?:
                    others.map { "\($0.sequenceNumber ?? 0)" }.sorted().joined(separator: "+")
                default: "-"
                }
            }
            return "\(record.id.entityName)/\(record.id.sequenceNumber ?? 0) " + values.joined(separator: " ")
        }
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func aSuperentityMayComeAndGo(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        let flat = Self.people(1, family: false, boss: "Employee")
        let container = try world.open(Schema(stored: flat), nil)
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let layouts = flat.recordLayouts()
        var made: [PersistentIdentifier] = []
        func snapshot(_ entity: String, _ values: [String: StoredValue]) throws -> DefaultSnapshot {
            let layout = try #require(layouts[entity])
            made.append(.temporary(entityName: entity))
            return DefaultSnapshot(
                persistentIdentifier: made[made.count - 1], layout: layout,
                values: ContiguousArray(
                    layout.slots.map { values[$0.name] ?? ($0.role.isToMany ? .identifiers([]) : .null) }))
        }
        var inserted = [
            try snapshot("Employee", ["name": .string("Ada"), "desk": .string("d1")]),
            try snapshot("Client", ["name": .string("Ada")]), try snapshot("Employee", ["name": .string("Bob")]),
        ]
        inserted.append(
            try snapshot(
                "Firm",
                ["name": .string("F"), "boss": .identifier(made[0]), "staff": .identifiers([made[0], made[2]])]))
        _ = try store.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
        try container.close()
        let before = try world.files()
        // One name may not be that of two in a family.
        #expect {
            try world.open(Schema(stored: Self.people(2, family: true, boss: "Person", unique: true)), nil)
        } throws: { error in
            if case EngineError.notUnique = error { true } else { error is any ClassifiedStoreError }
        }
        #expect(try world.files() == before)
        let family = Self.people(2, family: true, boss: "Person")
        let people = ["Employee/1 Ada d1 - -", "Client/2 Ada - - -", "Employee/3 Bob - - -"]
        let firm = ["Firm/4 F - Employee/1 1+3"]
        #expect(try dump(world, family, "Person") == people)
        #expect(try dump(world, family, "Firm") == firm)
        // The first save writes the schema.
        let opened = try world.open(Schema(stored: family), nil)
        let saving = try #require(opened.stores.first?.underlying as? any EngineDataStore)
        let layout = try #require(family.recordLayouts()["Person"])
        _ = try saving.save(
            DataStoreSaveChangesRequest(
                inserted: [
                    DefaultSnapshot(
                        persistentIdentifier: .temporary(entityName: "Person"), layout: layout,
                        values: [.string("Cleo")])
                ], editingState: EditingState(author: "test")))
        try opened.close()
        #expect(try dump(world, family, "Person") == people + ["Person/5 Cleo - - -"])
        #expect(try dump(world, family, "Firm") == firm)
        // Those who refer to a family cannot refer to one of its members only.
        #expect {
            try world.open(Schema(stored: Self.people(3, family: false, boss: "Employee")), nil)
        } throws: { error in
            guard case EngineError.schemaMismatch(_, let differences) = error else { return false }
            return differences.contains { $0.contains("led to Person and leads to Employee") }
        }
        var parted = Self.people(3, family: false, boss: "Employee")
        for place in parted.entities.indices where parted.entities[place].name == "Firm" {
            parted.entities[place].properties.removeAll { $0.relationship != nil }
        }
        #expect(try dump(world, parted, "Employee") == ["Employee/1 Ada d1 - -", "Employee/3 Bob - - -"])
        #expect(try dump(world, parted, "Client") == ["Client/2 Ada - - -"])
    }
}

extension StoredRecord {
    fileprivate func value(_ name: String) -> String {
        if case .string(let text)? = self[name] { text } else { "" }
    }
}
