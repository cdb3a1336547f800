import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// What is easily overlooked in migrations, on versions that have no classes.
extension MigrationTests {
    private enum Old: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum New: VersionedSchema {
        nonisolated(unsafe) static var schema = StoredSchema(entities: [])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum EdgePlan: SchemaMigrationPlan {
        nonisolated(unsafe) static var mapping = MigrationMapping.inferred
        nonisolated(unsafe) static var rules: [DuplicateRule] = []
        nonisolated(unsafe) static var code: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)?
        nonisolated(unsafe) static var options = MigrationOptions()
        static var migrationOptions: MigrationOptions { options }
        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] {
            [.custom(from: Old.self, to: New.self, mapping: mapping, duplicates: rules, migrate: code)]
        }
    }

    private static func attribute(
        _ name: String, _ kind: StorageKind = .string, from original: String? = nil, optional: Bool = true,
        options: StoredAttribute.Options = [], default value: StoredValue? = nil
    ) -> StoredProperty {
        StoredProperty(
            name: name, originalName: original, isOptional: optional,
            content: .attribute(StoredAttribute(kind: kind, options: options, defaultValue: value)))
    }

    private static func schema(_ number: Int, _ entities: [StoredEntity]) -> StoredSchema {
        StoredSchema(version: Schema.Version(number, 0, 0), entities: entities)
    }

    private static func docs(_ number: Int, _ properties: [StoredProperty]) -> StoredSchema {
        schema(number, [StoredEntity(name: "Doc", properties: properties)])
    }

    /// A store with records of one entity, each with values by name.
    private func fill(
        _ schema: StoredSchema, _ records: [[String: StoredValue]], _ kind: MigrationWorld.Kind = .log
    ) throws -> MigrationWorld {
        let world = try MigrationWorld(kind)
        let container = try world.open(Schema(stored: schema), nil)
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let layout = try #require(schema.recordLayouts()["Doc"])
        let inserted = records.map { values in
            DefaultSnapshot(
                persistentIdentifier: .temporary(entityName: "Doc"), layout: layout,
                values: ContiguousArray(layout.slots.map { values[$0.name] ?? .null }))
        }
        _ = try store.save(
            DataStoreSaveChangesRequest(inserted: inserted, editingState: EditingState(author: "test")))
        try container.close()
        return world
    }

    private func records(_ world: MigrationWorld, _ schema: StoredSchema) throws -> [[String: StoredValue]] {
        let container = try world.open(Schema(stored: schema), nil)
        defer { try? container.close() }
        let store = try #require(container.stores.first?.underlying as? any VersionedDataStore)
        let layouts = schema.recordLayouts()
        let names = layouts["Doc"]?.slots.map(\.name) ?? []
        return try StoredRecords(ofEntity: "Doc", in: store.currentVersion, schema, layouts).map { record in
            Dictionary(uniqueKeysWithValues: names.map { ($0, record[$0] ?? .null) })
        }
    }

    private func migrate(
        _ old: StoredSchema, _ new: StoredSchema, _ mapping: MigrationMapping, _ records: [[String: StoredValue]],
        rules: [DuplicateRule] = []
    ) throws -> [[String: StoredValue]] {
        let world = try fill(old, records)
        (Old.schema, New.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (mapping, rules, nil)
        try world.open(Schema(stored: new), EdgePlan.self).close()
        return try self.records(world, new)
    }

    /// Defect that this prevents: the last step of a stage followed original names once more.
    @Test func originalNamesCountOnce() throws {
        let title = [["title": StoredValue.string("t")]]
        let fresh = try migrate(
            Self.docs(1, [Self.attribute("title")]),
            Self.docs(2, [Self.attribute("headline", from: "title"), Self.attribute("title")]),
            .inferred.fresh("Doc.headline"), title)
        #expect(fresh == [["headline": .null, "title": .string("t")]])
        let values = try migrate(
            Self.docs(1, [Self.attribute("status")]),
            Self.docs(2, [Self.attribute("state", from: "status"), Self.attribute("status")]),
            .inferred.converting("Doc.state", .rawValues(["open": "active"])), [["status": .string("open")]])
        #expect(values == [["state": .string("active"), "status": .null]])
        let kinds = try migrate(
            Self.docs(1, [Self.attribute("a", .int64), Self.attribute("b")]),
            Self.docs(2, [Self.attribute("b", from: "a"), Self.attribute("a", .int64, from: "b")]),
            .inferred.converting("Doc.b", .exactly).converting("Doc.a", .exactly),
            [["a": .integer(1), "b": .string("2")]])
        #expect(kinds == [["a": .integer(2), "b": .string("1")]])
        // A rename that was done long ago does not outdo the rule.
        let ruled = try migrate(
            Self.docs(1, [Self.attribute("b", from: "a"), Self.attribute("a")]),
            Self.docs(2, [Self.attribute("b", from: "a"), Self.attribute("c")]),
            .inferred.renaming("Doc.b", from: "a").renaming("Doc.c", from: "b"),
            [["a": .string("A"), "b": .string("B")]])
        #expect(ruled == [["b": .string("A"), "c": .string("B")]])
    }

    @Test func rulesThatContradictEachOtherAreRefused() throws {
        let (old, new) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("b")]))
        for mapping in [
            MigrationMapping.inferred.fresh("Doc.b").renaming("Doc.b", from: "a"),
            .inferred.fresh("Doc.b").converting("Doc.b", .exactly),
        ] {
            #expect {
                try migrate(old, new, mapping, [["a": .string("x")]])
            } throws: { error in
                guard case MigrationError.stageFailed(let failure) = error,
                    case MigrationError.invalidMapping = failure.underlying
                else { return false }
                return true
            }
        }
    }

    /// Defect that this prevents: values that an index takes as equal were no duplicates, and neither were those that get one
    /// default.
    @Test func duplicatesAreWhatTheConstraintSays() throws {
        let old = Self.docs(1, [Self.attribute("key", .double), Self.attribute("code")])
        var new = Self.docs(2, [Self.attribute("key", .double), Self.attribute("code")])
        new.entities[0].uniquenessConstraints = [["key"]]
        let numbers: [StoredValue] = [.double(0), .double(-0.0), .double(.nan), .double(-.nan), .null, .null]
        let found = try migrate(
            old, new, .inferred, numbers.map { ["key": $0] }, rules: [.keep(.first, on: "Doc", ["key"])])
        #expect(found.count == 4)
        new = Self.docs(
            2, [Self.attribute("key", .double), Self.attribute("code", optional: false, default: .string(""))])
        new.entities[0].uniquenessConstraints = [["code"]]
        let codes: [StoredValue] = [.null, .null, .string(""), .string("a")]
        let filled = try migrate(
            old, new, .inferred, codes.map { ["code": $0] }, rules: [.keep(.last, on: "Doc", ["code"])])
        #expect(filled.map { $0["code"] } == [.string(""), .string("a")])
    }

    private static func family(_ number: Int) -> StoredSchema {
        func link(_ name: String, _ inverse: String, isToMany: Bool) -> StoredProperty {
            StoredProperty(
                name: name, isOptional: !isToMany,
                content: .relationship(
                    StoredRelationship(destination: "Doc", isToMany: isToMany, inverse: inverse)))
        }
        return docs(
            number,
            [
                attribute("name"), link("parent", "children", isToMany: false),
                link("children", "parent", isToMany: true),
                link("mate", "mateOf", isToMany: false), link("mateOf", "mate", isToMany: false),
            ])
    }

    @Test(arguments: MigrationWorld.Kind.allCases)
    func sidesThatAreKeptElsewhereAreNotChangedInSilence(_ kind: MigrationWorld.Kind) throws {
        let world = try fill(Self.family(1), ["a", "b", "c"].map { ["name": .string($0)] }, kind)
        (Old.schema, New.schema) = (Self.family(1), Self.family(2))
        (EdgePlan.mapping, EdgePlan.rules) = (.inferred, [])
        EdgePlan.code = { (old, new) throws in
            let all = try old.records("Doc").map(\.id)
            #expect(
                throws: MigrationRecordError.keptElsewhere(record: all[0], property: "children", inverse: "Doc.parent")
            ) { try new.update(all[0], ["children": .identifiers([all[1]])]) }
            try new.update(all[1], ["parent": .identifier(all[0])])
            try new.update(all[2], ["parent": .identifier(all[0])])
            #expect(
                try new.records("Doc").first { $0.id == all[0] }?["children"] == .identifiers([all[1], all[2]]))
            // Nothing refers to it any more, from either side.
            try new.delete(all[0])
            #expect(try new.records("Doc").map { $0["parent"] } == [.null, .null])
            nonisolated(unsafe) let kept = new
            Self.escaped = { try kept.insert("Doc", ["name": .string("late")]) }
        }
        try world.open(Schema(stored: New.schema), EdgePlan.self).close()
        #expect(throws: MigrationRecordError.stageEnded) { try Self.escaped() }
        #expect(try records(world, New.schema).map { $0["name"] } == [.string("b"), .string("c")])
        if kind == .log { #expect(try world.logConfiguration().verifyStore().problems.isEmpty) }
    }
    nonisolated(unsafe) private static var escaped: () throws -> Void = {}

    /// Defect that this prevents: more duplicates than one batch that refer to each other could not be removed.
    @Test func manyDuplicatesMayReferToEachOther() throws {
        let world = try fill(Self.family(1), (0..<2_500).map { _ in ["name": .string("same")] })
        let container = try world.open(Schema(stored: Self.family(1)), nil)
        let store = try #require(container.stores.first?.underlying as? any EngineDataStore)
        let layout = try #require(Self.family(1).recordLayouts()["Doc"])
        let parent = try #require(layout.slot(named: "parent"))
        let all = try StoredRecords(
            ofEntity: "Doc", in: store.currentVersion, Self.family(1), Self.family(1).recordLayouts()
        ).map(\.id)
        var updated: [DefaultSnapshot] = []
        for (child, record) in zip(all.dropFirst(), all) {
            var values = ContiguousArray<StoredValue>(repeating: .null, count: layout.slots.count)
            values[parent] = .identifier(record)
            updated.append(DefaultSnapshot(persistentIdentifier: child, layout: layout, values: values))
        }
        _ = try store.save(
            DataStoreSaveChangesRequest(
                updated: updated, editingState: EditingState(author: "test"),
                changedSlots: updated.map { _ in SlotSet([parent]) }))
        try container.close()
        var new = Self.family(2)
        new.entities[0].uniquenessConstraints = [["name"]]
        (Old.schema, New.schema) = (Self.family(1), new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred, [.keep(.first, on: "Doc", ["name"])], nil)
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(try records(world, new).count == 1)
    }

    /// Defects that these prevent: a preview wrote files, and said nothing of losses on the way.
    @Test(arguments: MigrationWorld.Kind.allCases) func aPreviewWritesNothing(_ kind: MigrationWorld.Kind) throws {
        let old = Self.docs(1, [Self.attribute("name"), Self.attribute("note")])
        let new = Self.docs(
            2, [Self.attribute("name"), Self.attribute("blob", .data, optional: false, options: .externalStorage)])
        let world = try fill(old, [["name": .string("a"), "note": .string("n")]], kind)
        let blob = StoredValue.data(Data(repeating: 1, count: 9_000))
        (Old.schema, New.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.filling("Doc.blob", with: blob), [], nil)
        let before = try world.files()
        let preview = try #require(
            ModelContainer.migrationPreview(
                for: Schema(stored: new), migrationPlan: EdgePlan.self, configurations: [world.configuration()]
            ).first)
        #expect(preview.stages.first?.refusal == nil)
        #expect(preview.stages.first?.loss?.properties == [.init(entity: "Doc", name: "note", values: 1)])
        #expect(try world.files() == before)
        // What fails leaves no file either.
        struct Odd: Error {}
        EdgePlan.code = { _, _ in throw Odd() }
        #expect(throws: MigrationError.self) { try world.open(Schema(stored: new), EdgePlan.self) }
        #expect(try world.files() == before)
        EdgePlan.code = nil
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(try records(world, new) == [["name": .string("a"), "blob": blob]])
    }

    /// A copy is kept where something is lost: not for values that were converted exactly, and not for a migration that fails.
    @Test func copiesAreKeptWhereSomethingIsLost() throws {
        func copies(_ world: MigrationWorld) throws -> Int {
            try world.files().keys.count { $0.contains(".schema-") && !$0.contains(".checkpoint") }
        }
        let old = Self.docs(1, [Self.attribute("price", .int64)])
        for (way, count) in [(MigrationMapping.Conversion.exactly, 0), (.nilIfNot, 1)] {
            let world = try fill(old, [["price": .integer(7)]])
            (Old.schema, New.schema) = (old, Self.docs(2, [Self.attribute("price", .string)]))
            (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.price", way), [], nil)
            try world.open(Schema(stored: New.schema), EdgePlan.self).close()
            #expect(try copies(world) == count)
            #expect(try records(world, New.schema) == [["price": .string("7")]])
        }
        // A disk on which there is room for the copy and not for the frame.
        let world = try fill(old, [["price": .integer(7)]])
        (Old.schema, New.schema) = (old, Self.docs(2, [Self.attribute("price", .string)]))
        EdgePlan.mapping = .inferred.converting("Doc.price", .nilIfNot)
        var number = 1
        while true {
            let start = world.disk.operationCount
            world.disk.inject(.fail(.noSpace), at: number)
            let result = Result { try world.open(Schema(stored: New.schema), EdgePlan.self).close() }
            let end = world.disk.operationCount
            world.disk.removeFaults()
            if case .success = result, end >= start + number { break }
            if end < start + number { break }
            // A latched log may have the frame: then the copy stays.
            if try world.configuration().storedSchema()?.version == Schema.Version(1, 0, 0) {
                #expect(try copies(world) <= 1, "\(number)")
            }
            number += 1
        }
        #expect(number > 10)
    }

    /// Defect that this prevents: what opening for a migration cut off was told to nobody.
    @Test func whatWasCutOffIsTold() throws {
        let old = Self.docs(1, [Self.attribute("price", .int64)])
        let world = try fill(old, [["price": .integer(7)]])
        let log = try world.disk.open(world.path, mode: .readWrite)
        let size = try log.info().size
        try log.writeAll([0x4D, 0x46, 0x52, 0x1A, 2, 0, 0, 0, 3], at: (size + 7) / 8 * 8)
        try log.close()
        (Old.schema, New.schema) = (old, Self.docs(2, [Self.attribute("price", .string)]))
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.price", .exactly), [], nil)
        nonisolated(unsafe) var told: [StoreEvent] = []
        StoreEvents.observe { event in
            if case .recovery(let store, _) = event, store == "trips" { told.append(event) }
        }
        defer { StoreEvents.observe(nil) }
        try world.open(Schema(stored: New.schema), EdgePlan.self).close()
        #expect(told.count == 1)
    }

    /// A store whose number the plan lacks and that could be at any of several versions: code might be due.
    @Test func aStoreThatMayBeAtSeveralVersionsIsNotPassedOver() throws {
        let old = Self.docs(1, [Self.attribute("name")])
        let world = try fill(old, [["name": .string("a")]])
        (Old.schema, New.schema) = (Self.docs(10, [Self.attribute("name")]), Self.docs(11, [Self.attribute("name")]))
        (EdgePlan.mapping, EdgePlan.rules) = (.inferred, [])
        EdgePlan.code = { _, _ in }
        #expect {
            try world.open(Schema(stored: New.schema), EdgePlan.self)
        } throws: { error in
            guard case MigrationError.ambiguousVersion(_, Schema.Version(1, 0, 0), let candidates) = error else {
                return false
            }
            return candidates == [Schema.Version(10, 0, 0), Schema.Version(11, 0, 0)]
        }
        #expect(throws: MigrationError.sharedElsewhere(store: "trips")) {
            let configuration = AppendLogConfiguration("trips", path: world.path, sharing: .shared, in: world.disk)
            (Old.schema, New.schema) = (old, Self.docs(2, [Self.attribute("name"), Self.attribute("more")]))
            _ = try ModelContainer(
                for: Schema(stored: New.schema), migrationPlan: EdgePlan.self, configurations: [configuration])
        }
    }

    // MARK: Options

    private func refusal(_ world: MigrationWorld) throws -> any Error {
        let before = try world.files()
        do {
            try world.open(Schema(stored: New.schema), EdgePlan.self).close()
        } catch MigrationError.stageFailed(let failure) {
            #expect(try world.files() == before)
            return failure.underlying
        }
        struct Taken: Error {}
        return Taken()
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func lossesAreRefusedUnlessDeclared(_ kind: MigrationWorld.Kind)
        throws
    {
        defer { EdgePlan.options = MigrationOptions() }
        let old = Self.docs(1, [Self.attribute("name"), Self.attribute("note"), Self.attribute("price", .int64)])
        let new = Self.docs(2, [Self.attribute("name"), Self.attribute("price", .string)])
        let world = try fill(
            old, [["name": .string("a"), "note": .string("n"), "price": .integer(1)], ["name": .string("b")]], kind)
        (Old.schema, New.schema) = (old, new)
        (EdgePlan.rules, EdgePlan.code) = ([], nil)
        let converting = MigrationMapping.inferred.converting("Doc.price", .nilIfNot)
        EdgePlan.mapping = converting
        for policy in [MigrationOptions.LossPolicy.declared, .refused] {
            EdgePlan.options.loss = policy
            guard case MigrationError.lossRefused("trips", let loss) = try refusal(world) else {
                Issue.record("\(policy)")
                return
            }
            #expect(loss.properties == [.init(entity: "Doc", name: "note", values: 1)])
        }
        EdgePlan.mapping = converting.dropping("Doc.note")
        guard case MigrationError.lossRefused = try refusal(world) else {
            Issue.record("What is declared is refused, too")
            return
        }
        EdgePlan.options.loss = .declared
        EdgePlan.mapping = converting.dropping("Doc.text")
        guard case MigrationError.invalidMapping(property: "Doc.text", _) = try refusal(world) else {
            Issue.record("A wrong name is refused")
            return
        }
        EdgePlan.mapping = converting.dropping("Doc.note")
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(
            try records(world, new) == [
                ["name": .string("a"), "price": .string("1")], ["name": .string("b"), "price": .null],
            ])
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func asManyCopiesStayAsTheOptionsSay(_ kind: MigrationWorld.Kind)
        throws
    {
        defer { EdgePlan.options = MigrationOptions() }
        EdgePlan.options.copies = .always
        EdgePlan.mapping = .inferred
        (EdgePlan.rules, EdgePlan.code) = ([], { _, _ in })
        let world = try fill(Self.docs(1, [Self.attribute("a")]), [["a": .string("x")]], kind)
        // Names that only resemble a copy's, and one that is in use.
        let similar = ["trips.schema-1.0.0-0123456789abcdeg", "trips.schema-old", "trip.schema-1.0.0-0123456789abcdef"]
        for name in similar {
            try world.disk.open("/data/\(name)", mode: .createExclusive(permissions: 0o600)).close()
        }
        var made: [Set<String>] = []
        func copies() throws -> Set<String> {
            Set(try world.disk.list("/data").filter { $0.wholeMatch(of: /trips\.schema-\d\.0\.0-[0-9a-f]{16}/) != nil })
        }
        for number in 2...6 {
            EdgePlan.options.mostCopies = number == 6 ? 1 : 3
            (Old.schema, New.schema) = (
                Self.docs(number - 1, [Self.attribute("a")]), Self.docs(number, [Self.attribute("a")])
            )
            let used = number == 6 ? made[3].filter { $0.contains("schema-3.0.0") } : []
            let lock = try used.first.map { try FileLock(forStoreAt: "/data/\($0)", in: world.disk) }
            try world.open(Schema(stored: New.schema), EdgePlan.self).close()
            lock?.release()
            made.append(try copies())
        }
        #expect(made.map(\.count) == [1, 2, 3, 3, 2], "\(made)")
        #expect(made[3].isDisjoint(with: made[0]), "the first went when there were four")
        #expect(made[4].contains { $0.contains("schema-5.0.0") })
        let left = Set(try world.disk.list("/data"))
        #expect(left.isSuperset(of: similar))
        #expect(!left.contains { name in name.contains(".schema-1.0.0-") && !similar.contains(name) })
        let copy = try #require(made[4].first { $0.contains("schema-5.0.0") })
        let other = try world.at("/data/\(copy)")
        #expect(try records(other, Self.docs(5, [Self.attribute("a")])) == [["a": .string("x")]])
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func aFullDiskIsSaidBeforeTheStart(_ kind: MigrationWorld.Kind)
        throws
    {
        defer { EdgePlan.options = MigrationOptions() }
        EdgePlan.options.copies = .always
        EdgePlan.mapping = .inferred
        nonisolated(unsafe) var ran = 0
        (EdgePlan.rules, EdgePlan.code) = ([], { _, _ in ran += 1 })
        (Old.schema, New.schema) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("a")]))
        let world = try fill(Old.schema, (0..<500).map { ["a": .string("text \($0)")] }, kind)
        let before = try world.files()
        let used = before.values.reduce(0) { $0 + $1.count }
        world.disk.limits.capacity = used + 4_096
        func space() throws -> MigrationSpace? {
            try ModelContainer.migrationPreview(
                for: Schema(stored: New.schema), migrationPlan: EdgePlan.self, configurations: [world.configuration()]
            ).first?.space
        }
        let space1 = try #require(try space())
        #expect(space1.free == 4_096 && space1.needed > used && !space1.isEnough)
        #expect(throws: MigrationError.notEnoughSpace(store: "trips", space: space1)) {
            try world.open(Schema(stored: New.schema), EdgePlan.self)
        }
        #expect(try world.files() == before)
        #expect(ran == 0)
        world.disk.limits.capacity = used + Int(space1.needed)
        #expect(try space()?.isEnough == true)
        try world.open(Schema(stored: New.schema), EdgePlan.self).close()
        #expect(ran == 1)
    }

    @MainActor @Test(arguments: MigrationWorld.Kind.allCases)
    func openingInTheBackgroundBlocksNobody(_ kind: MigrationWorld.Kind) async throws {
        defer { EdgePlan.options = MigrationOptions() }
        EdgePlan.mapping = .inferred
        EdgePlan.rules = []
        let (isRunning, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        EdgePlan.code = { _, new in
            isRunning.signal()
            mayGoOn.wait()
            try new.checkCancellation()
        }
        (Old.schema, New.schema) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("a")]))
        let world = try fill(Old.schema, [["a": .string("x")]], kind)
        let before = try world.files()
        func open() -> Task<ModelContainer, any Error> {
            Task {
                let configuration: any DataStoreConfiguration & Sendable =
                    switch kind {
                    case .json: JSONFileConfiguration("trips", path: world.path, in: world.disk)
                    case .log: world.logConfiguration()
                    }
                return try await ModelContainer.open(
                    for: Schema(stored: New.schema), migrationPlan: EdgePlan.self, configurations: [configuration])
            }
        }
        let cancelled = open()
        // The main actor goes on while the code of the stage waits for it.
        while isRunning.wait(timeout: .now()) != .success { await Task.yield() }
        cancelled.cancel()
        mayGoOn.signal()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(try world.files() == before)
        let opening = open()
        while isRunning.wait(timeout: .now()) != .success { await Task.yield() }
        mayGoOn.signal()
        let container = try await opening.value
        #expect(container.stores.count == 1)
        try container.close()
        #expect(try records(world, New.schema) == [["a": .string("x")]])
    }

    private enum PlainPlan: SchemaMigrationPlan {
        static var migrationOptions: MigrationOptions { EdgePlan.options }
        static var schemas: [any VersionedSchema.Type] { [Old.self, New.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: Old.self, toVersion: New.self)] }
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func optionsHoldWithoutCode(_ kind: MigrationWorld.Kind) throws {
        defer { EdgePlan.options = MigrationOptions() }
        (Old.schema, New.schema) = (
            Self.docs(1, [Self.attribute("name"), Self.attribute("note")]), Self.docs(2, [Self.attribute("name")])
        )
        let world = try fill(Old.schema, [["name": .string("a"), "note": .string("n")], ["name": .string("b")]], kind)
        let before = try world.files()
        func previewed() throws -> MigrationPreview? {
            try ModelContainer.migrationPreview(
                for: Schema(stored: New.schema), migrationPlan: PlainPlan.self,
                configurations: [world.configuration()]
            ).first
        }
        for policy in [MigrationOptions.LossPolicy.declared, .refused] {
            EdgePlan.options.loss = policy
            #expect {
                try world.open(Schema(stored: New.schema), PlainPlan.self)
            } throws: { error in
                guard case MigrationError.stageFailed(let failure) = error,
                    case MigrationError.lossRefused("trips", let loss) = failure.underlying
                else { return false }
                return loss.properties == [.init(entity: "Doc", name: "note", values: 1)]
            }
            #expect(try previewed()?.stages.last?.refusal != nil)
            // Nor is it lost to somebody who only reads.
            #expect {
                try world.open(Schema(stored: New.schema), PlainPlan.self, allowsSave: false)
            } throws: { error in
                guard case MigrationError.migrationNeeded = error else { return false }
                return true
            }
        }
        EdgePlan.options.loss = .allowed
        #expect(try previewed()?.stages.last?.refusal == nil)
        try world.open(Schema(stored: New.schema), PlainPlan.self, allowsSave: false).close()
        #expect(try world.files() == before)
        // Opening the store is enough; nothing need be saved.
        nonisolated(unsafe) var told: [MigrationProgress.Part] = []
        EdgePlan.options.progress = { told.append($0.part) }
        EdgePlan.options.copies = .always
        try world.open(Schema(stored: New.schema), PlainPlan.self).close()
        #expect(told.uniqued == [.mapping, .writing])
        #expect(try world.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
        let after = try world.files()
        #expect(after.keys.contains { $0.contains(".schema-1.0.0-") })
        try world.open(Schema(stored: New.schema), PlainPlan.self).close()
        #expect(try world.files() == after)
        #expect(try records(world, New.schema) == [["name": .string("a")], ["name": .string("b")]])
    }

    /// Bug: a plan without code brought a newer store, and one with an entity that the program forgets, to the program's schema.
    @Test(arguments: MigrationWorld.Kind.allCases) func whatOpeningRefusesAPlanWithoutCodeDoesNotDo(
        _ kind: MigrationWorld.Kind
    ) throws {
        let (doc, note) = (
            StoredEntity(name: "Doc", properties: [Self.attribute("name"), Self.attribute("note")]),
            StoredEntity(name: "Note", properties: [Self.attribute("text")])
        )
        Old.schema = Self.docs(1, [Self.attribute("name")])
        New.schema = Self.schema(2, [doc, note])
        let world = try fill(New.schema, [["name": .string("a"), "note": .string("n")]], kind)
        let before = try world.files()
        // Models that no version has, under a lower number.
        let older = Self.docs(1, [Self.attribute("name"), Self.attribute("else")])
        #expect(
            throws: MigrationError.newerStore(
                store: "trips", stored: Schema.Version(2, 0, 0), program: Schema.Version(1, 0, 0))
        ) {
            try world.open(Schema(stored: older), PlainPlan.self)
        }
        #expect(try world.files() == before)
        // Of the same version, without an entity that has records.
        let forgetful = Self.schema(2, [note])
        #expect {
            try world.open(Schema(stored: forgetful), PlainPlan.self)
        } throws: { error in
            guard case MigrationError.unnamedEntities(_, _, let entities) = error else { return false }
            return entities == [.init(name: "Doc", records: 1)]
        }
        #expect(try world.files() == before)
    }

    @Test(arguments: MigrationWorld.Kind.allCases)
    func aStoreOfAnotherSchemaIsAdoptedIfItFits(_ kind: MigrationWorld.Kind) throws {
        defer { EdgePlan.options = MigrationOptions() }
        let found = Self.docs(1, [Self.attribute("name")])
        let (one, two) = (
            Self.docs(1, [Self.attribute("name"), Self.attribute("note")]),
            Self.docs(2, [Self.attribute("name"), Self.attribute("note"), Self.attribute("more")])
        )
        let world = try fill(found, [["name": .string("a")]], kind)
        (Old.schema, New.schema) = (one, two)
        (EdgePlan.mapping, EdgePlan.rules) = (.inferred.filling("Doc.more", with: .string("m")), [])
        EdgePlan.code = nil
        let before = try world.files()
        #expect {
            try world.open(Schema(stored: two), EdgePlan.self)
        } throws: { error in
            guard case MigrationError.versionChanged = error else { return false }
            return true
        }
        EdgePlan.options.adopting = Old.self
        let preview = try ModelContainer.migrationPreview(
            for: Schema(stored: two), migrationPlan: EdgePlan.self, configurations: [world.configuration()])
        #expect(preview.first?.stages.count == 2)
        #expect(try world.files() == before)
        try world.open(Schema(stored: two), EdgePlan.self).close()
        #expect(try records(world, two) == [["name": .string("a"), "note": .null, "more": .string("m")]])
        // One that holds more than the version has a place for does not fit.
        let wide = Self.docs(1, [Self.attribute("name"), Self.attribute("extra")])
        let other = try fill(wide, [["name": .string("a"), "extra": .string("x")]], kind)
        guard case MigrationError.adoptionLosesData("trips", let loss) = try refusal(other) else {
            Issue.record("Adopted with a loss")
            return
        }
        #expect(loss.properties.map(\.name) == ["extra"])
        // A newer store cannot be adopted.
        let newer = try fill(
            StoredSchema(version: Schema.Version(9, 0, 0), entities: wide.entities), [["name": .string("a")]], kind)
        #expect {
            try newer.open(Schema(stored: two), EdgePlan.self)
        } throws: { error in
            guard case MigrationError.newerStore = error else { return false }
            return true
        }
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func aMigrationSaysHowFarItIsAndCanBeCancelled(
        _ kind: MigrationWorld.Kind
    ) async throws {
        defer { EdgePlan.options = MigrationOptions() }
        let (old, new) = (Self.docs(1, [Self.attribute("n", .int64)]), Self.docs(2, [Self.attribute("n", .string)]))
        let world = try fill(old, (0..<5_000).map { ["n": .integer($0)] }, kind)
        (Old.schema, New.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.n", .exactly), [], { _, _ in })
        let before = try world.files()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try world.open(Schema(stored: New.schema), EdgePlan.self)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try world.files() == before)
        nonisolated(unsafe) var told: [MigrationProgress] = []
        EdgePlan.options.progress = { told.append($0) }
        EdgePlan.options.copies = .always
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(told.map(\.part).uniqued == [.mapping, .code, .writing])
        #expect(told.allSatisfy { $0.records == 5_000 && $0.stage == 1 && $0.stages == 1 && $0.store == "trips" })
        #expect(told.allSatisfy { $0.from == Schema.Version(1, 0, 0) && $0.to == Schema.Version(2, 0, 0) })
        #expect(try world.files().keys.contains { $0.contains(".schema-1.0.0-") })
    }
}

extension [MigrationProgress.Part] {
    /// Without those that follow an equal one.
    fileprivate var uniqued: Self { reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
}
