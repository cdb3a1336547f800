import Foundation
import MortiseCore
import MortiseInMemory
import Testing
import PackageTestSupport

@testable import MortiseEngine

/// Versions that take over the chunks of another one under another schema, against versions whose records are made anew.
@Suite struct MappedVersionTests {
    private static let store = "store"

    /// A schema, its successor, and what leads there.
    private struct Pair {
        var generator: SeededGenerator
        var old = StoredSchema(entities: [])
        var new = StoredSchema(entities: [])

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
            let names = ["Ant", "Bee", "Cat"].prefix(1 + generator.below(3))
            var entities = names.map { name in
                StoredEntity(
                    name: name, properties: (0...generator.below(5)).map { attribute("\(name.lowercased())\($0)") })
            }
            if generator.chance(2) {
                entities.append(
                    StoredEntity(
                        name: "Kid", superentity: "Ant", properties: [attribute("kid0"), attribute("kid1")]))
            }
            for place in entities.indices where generator.chance(2) {
                relate(&entities, place, "\(entities[place].name.lowercased())To")
            }
            for place in entities.indices { constrain(&entities[place]) }
            old = StoredSchema(entities: entities)
            for _ in 0...generator.below(4) { change(&entities) }
            new = StoredSchema(version: Schema.Version(2, 0, 0), entities: entities)
        }

        private mutating func attribute(_ name: String) -> StoredProperty {
            let kind = generator.pick(StorageKind.allCases)
            let isOptional = generator.chance(2)
            let value = isOptional && generator.chance(2) ? nil : generator.value(kind)
            let options: StoredAttribute.Options = generator.chance(12) ? .ephemeral : []
            return StoredProperty(
                name: name, isOptional: isOptional,
                content: .attribute(StoredAttribute(kind: kind, options: options, defaultValue: value)))
        }

        /// A relationship of one of the roles, with its other side where it has one.
        private mutating func relate(_ entities: inout [StoredEntity], _ place: Int, _ name: String) {
            let other = generator.below(entities.count)
            let (isToMany, hasInverse) = (generator.chance(2), generator.chance(2))
            let back = name + "Back"
            entities[place].properties.append(
                StoredProperty(
                    name: name, isOptional: true,
                    content: .relationship(
                        StoredRelationship(
                            destination: entities[other].name, isToMany: isToMany, inverse: hasInverse ? back : nil))))
            if hasInverse {
                entities[other].properties.append(
                    StoredProperty(
                        name: back, isOptional: true,
                        content: .relationship(
                            StoredRelationship(
                                destination: entities[place].name, isToMany: isToMany || generator.chance(2),
                                inverse: name))))
            }
        }

        private mutating func constrain(_ entity: inout StoredEntity) {
            let names = entity.properties.filter {
                $0.attribute.map { $0.kind != .coded && !$0.options.contains(.ephemeral) } ?? false
            }.map(\.name)
            guard let name = names.last else { return }
            if generator.chance(3) { entity.indices = [StoredIndex(properties: Array(names.prefix(2)))] }
            if generator.chance(4) { entity.uniquenessConstraints = [[name]] }
        }

        private mutating func change(_ entities: inout [StoredEntity]) {
            guard !entities.isEmpty else { return }
            let place = generator.below(entities.count)
            var entity = entities[place]
            let attributes = entity.properties.indices.filter { entity.properties[$0].attribute != nil }
            func drop(_ name: String) {
                entity.properties.removeAll { $0.name == name }
                entity.uniquenessConstraints.removeAll { $0.contains(name) }
                entity.indices.removeAll { $0.properties.contains(name) }
            }
            switch generator.below(9) {
            case 0: entity.properties.insert(attribute("new\(generator.below(1_000_000))"), at: 0)
            case 1: entity.properties.append(attribute("new\(generator.below(1_000_000))"))
            case 2: if let found = attributes.last { drop(entity.properties[found].name) }
            case 3:
                guard let found = attributes.first else { break }
                let (before, name) = (entity.properties[found].name, "named\(generator.below(1_000_000))")
                entity.properties[found].originalName = before
                entity.properties[found].name = name
                entity.uniquenessConstraints = entity.uniquenessConstraints.map { $0.map { $0 == before ? name : $0 } }
                entity.indices = entity.indices.map {
                    StoredIndex(properties: $0.properties.map { $0 == before ? name : $0 })
                }
            case 4: entity.properties.reverse()
            case 5:
                guard let found = attributes.first, case .attribute(var attribute) = entity.properties[found].content
                else { break }
                entity.properties[found].isOptional.toggle()
                if attribute.defaultValue == nil { attribute.defaultValue = generator.value(attribute.kind) }
                entity.properties[found].content = .attribute(attribute)
            case 6: constrain(&entity)
            case 7:
                entities.append(
                    StoredEntity(
                        name: "New\(generator.below(1_000_000))", superentity: generator.chance(2) ? nil : entity.name,
                        properties: [attribute("new\(generator.below(1_000_000))")]))
            default:
                // An entity that nothing leads to and that none inherits from may go.
                let isUsed = entities.contains { other in
                    other.superentity == entity.name
                        || other.properties.contains { $0.relationship?.destination == entity.name }
                }
                if !isUsed, entities.count > 1 {
                    entities.remove(at: place)
                    return
                }
            }
            entities[place] = entity
        }

        /// Records, of which some are deleted, in several saves.
        mutating func fill() throws -> InMemoryStore {
            let store = try InMemoryStore(
                InMemoryConfiguration("memory", schema: Schema(stored: old), identifier: MappedVersionTests.store),
                migrationPlan: nil)
            for round in 0...generator.below(4) { try write(to: store.engine, generator.chance(6) ? 400 : 20, round) }
            return store
        }

        /// Inserts, updates and deletes records; what the schema refuses is left out.
        mutating func write(to engine: Engine, _ count: Int, _ round: Int) throws {
            var known = engine.version.identifiers()
            let layouts = engine.catalog.layouts
            let store = MigrationStore(
                engine, Schema(stored: engine.catalog.schema), name: "trips", allowsSave: true)
            for _ in 0..<count {
                let layout = generator.pick(layouts.keys.sorted().compactMap { layouts[$0] })
                let temporary = PersistentIdentifier.temporary(entityName: layout.entityName)
                let snapshot = DefaultSnapshot(
                    persistentIdentifier: temporary, layout: layout,
                    values: ContiguousArray(
                        layout.slots.map { slot in value(of: slot, known, engine.catalog.schema) }))
                let result = try? store.save(
                    DataStoreSaveChangesRequest(inserted: [snapshot], editingState: EditingState(author: "test")))
                if let made = result?.remappedIdentifiers[temporary] { known.append(made) }
            }
            for record in known where generator.chance(round == 0 ? 9 : 4) {
                guard let layout = layouts[record.entityName] else { continue }
                if generator.chance(2) {
                    _ = try? store.save(
                        DataStoreSaveChangesRequest(
                            updated: [
                                DefaultSnapshot(
                                    persistentIdentifier: record, layout: layout,
                                    values: ContiguousArray(
                                        layout.slots.map { value(of: $0, known, engine.catalog.schema) }))
                            ], editingState: EditingState(author: "test")))
                } else {
                    try? engine.write(onTopOf: nil, author: "test") { try $0.deleteWithReferences([record]) }
                }
            }
        }

        private mutating func value(
            of slot: RecordLayout.Slot, _ known: [PersistentIdentifier], _ schema: StoredSchema
        ) -> StoredValue {
            guard let relationship = slot.property.relationship else {
                let attribute = slot.property.attribute
                return slot.property.isOptional && generator.chance(3)
                    ? .null : generator.value(attribute?.kind ?? .bool)
            }
            let targets = schema.subtree(of: relationship.destination)
            let found = known.filter { targets.contains($0.entityName) }
            if slot.role.isToMany {
                return .identifiers(
                    slot.role == .toManyStored ? Array(Set(found.filter { _ in generator.chance(7) })).sorted() : [])
            }
            // Both sides of a pair would have to change.
            let isPaired = relationship.inverse.flatMap { inverse in
                schema.recordLayouts()[relationship.destination].flatMap { other in
                    other.slot(named: inverse).map { other.slots[$0].role == .toOne }
                }
            }
            return found.isEmpty || isPaired == true || generator.chance(3) ? .null : .identifier(generator.pick(found))
        }
    }

    @Test func takenRecordsAreThoseThatAreMadeAnew() throws {
        let seed = testSeed()
        let isFull = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"
        var (taken, refused) = (0, 0)
        for number in 0..<(isFull ? 3_000 : 150) {
            let outcome = try compare(seed &+ UInt64(number))
            if outcome == nil { refused += 1 }
            if outcome == true { taken += 1 }
        }
        print("taken \(taken) refused \(refused)")
        #expect(taken > (isFull ? 600 : 30))
    }

    /// - Returns: whether chunks were taken over; nil where both ways refuse the schema.
    private func compare(_ seed: UInt64) throws -> Bool? {
        var pair = Pair(seed: seed)
        guard (try? pair.old.check(.log)) != nil, (try? pair.new.check(.log)) != nil else { return nil }
        let old = try pair.fill().engine.version
        let before = try old.dump()
        let place: Comment = "seed \(seed)"
        let mapping: SchemaMapping
        do {
            mapping = try SchemaMapping(from: pair.old, to: pair.new, store: Self.store)
        } catch {
            return nil
        }
        func target() -> Catalog { Catalog(schema: pair.new, storeIdentifier: Self.store) }
        let made = Result { try old.remade(in: target(), mapping, completingPairs: true) }
        var tally = SchemaTally()
        let other = Result { try mapping.completing { try old.taken(to: target(), mapping, &tally) { _ in } } }
        guard let taken = try? other.get() else {
            // Made anew, or refused for the same reason.
            if case .failure(let error) = other {
                guard case .failure(let expected) = made else {
                    Issue.record("only refused where it is taken: \(error), \(place)")
                    return nil
                }
                #expect("\(error)" == "\(expected)", place)
                return nil
            }
            return false
        }
        let anew = try made.get()
        #expect(try mapping.loss(tally) == anew.loss, place)
        // Parts that are let go of, and what was not read of a version, have the same.
        let records = try anew.version.dump()
        #expect(try taken.unread().dump() == records, place)
        #expect(try taken.partsDump() == records, place)
        #expect(try taken.dump() == records, place)
        #expect(taken.inconsistencies() == [], place)
        // What is written later is the same, and writes nothing into the version before.
        let (one, two) = (Engine(taken), Engine(anew.version))
        for round in 1...2 {
            var copy = pair
            try pair.write(to: one, 20, round)
            try copy.write(to: two, 20, round)
            let written = try two.version.dump()
            #expect(try one.version.dump() == written, place)
            #expect(try one.version.unread().dump() == written, place)
            #expect(one.version.inconsistencies() == [], place)
        }
        let expected = try anew.version.netChanges(to: two.version).changeSet().shown
        #expect(try taken.netChanges(to: one.version).changeSet().shown == expected, place)
        #expect(try taken.unread().netChanges(to: one.version).changeSet().shown == expected, place)
        #expect(try old.dump() == before, place)
        #expect(try taken.dump() == records, place)
        return true
    }
}

extension EngineVersion {
    fileprivate func identifiers() -> [PersistentIdentifier] {
        tables.values.flatMap { table in
            (0..<table.endRow).filter(table.contains(row:)).map(table.identifier(ofRow:))
        }.sorted()
    }

    /// Each record with all of its values.
    fileprivate func dump() throws -> [String] {
        try tables.sorted { $0.key < $1.key }.flatMap { try $0.value.dump() }
    }

    fileprivate func partsDump() throws -> [String] {
        try tables.sorted { $0.key < $1.key }.flatMap { _, table in
            var lines: [String] = []
            try table.forEachPart { _, part in lines += try part.dump() }
            return lines
        }
    }
}

extension TableVersion {
    fileprivate func dump() throws -> [String] {
        try (0..<endRow).filter(contains(row:)).map { row in
            let values = try layout.slots.indices.map { slot in
                "\(layout.slots[slot].name)=\(try readValue(row: row, slot: slot).shown)"
            }
            return "\(layout.entityName)/\(sequence(ofRow: row)) " + values.sorted().joined(separator: " ")
        }
    }
}

extension ChangeSet {
    fileprivate var shown: [String] {
        inserted.records.map { "+\($0)" } + deleted.map { "-\($0.record)" }.sorted()
            + updated.map { "\($0.record) \($0.slots.slots.map(\.self))" }.sorted()
    }
}

extension StoredValue {
    fileprivate var shown: String {
        switch self {
        case .double(let value): "\(value.bitPattern)"
        case .float(let value): "\(value.bitPattern)"
        case .data(let data): data.base64EncodedString()
        default: "\(self)"
        }
    }
}

extension SeededGenerator {
    fileprivate mutating func text() -> String {
        switch below(6) {
        case 0: ""
        case 1: String(repeating: "long ", count: 3 + below(12)) + "\(below(40))"
        case 2: String(repeating: "x", count: below(200))
        default: "text \(below(30))"
        }
    }

    fileprivate mutating func value(_ kind: StorageKind) -> StoredValue {
        switch kind {
        case .bool: .bool(chance(2))
        case .int8: .integer(Int64(Int8.random(in: .min ... .max, using: &self)))
        case .int16: .integer(Int64(Int16.random(in: .min ... .max, using: &self)))
        case .int32: .integer(Int64(Int32.random(in: .min ... .max, using: &self)))
        case .int64: .integer(Int64.random(in: .min ... .max, using: &self))
        case .uint8: .integer(Int64(UInt8.random(in: .min ... .max, using: &self)))
        case .uint16: .integer(Int64(UInt16.random(in: .min ... .max, using: &self)))
        case .uint32: .integer(Int64(UInt32.random(in: .min ... .max, using: &self)))
        case .uint64: .unsigned(UInt64.random(in: .min ... .max, using: &self))
        case .float: .float(Float(below(1_000)) / 8)
        case .double: .double(chance(9) ? -0.0 : Double(below(1_000)) / 8)
        case .decimal: .decimal(Decimal(below(100_000)) / 100)
        case .string: .string(text())
        case .data: .data(Data(text().utf8))
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(below(1_000_000))))
        case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(below(256)))))
        case .url: .url(URL(string: "https://example.org/\(below(100))") ?? URL(filePath: "/"))
        case .coded: .array([.string(text()), .integer(Int64(below(100)))])
        }
    }
}
