import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// What is easily overlooked in migrations, on versions that have no classes.
extension MigrationTests {
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
        // The zeros are one value; null, and what is not a number, is none.
        #expect(found.count == 5)
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
        (EdgeOld.schema, EdgeNew.schema) = (Self.family(1), Self.family(2))
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
        try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close()
        #expect(throws: MigrationRecordError.stageEnded) { try Self.escaped() }
        #expect(try records(world, EdgeNew.schema).map { $0["name"] } == [.string("b"), .string("c")])
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
        (EdgeOld.schema, EdgeNew.schema) = (Self.family(1), new)
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
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
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
            (EdgeOld.schema, EdgeNew.schema) = (old, Self.docs(2, [Self.attribute("price", .string)]))
            (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.price", way), [], nil)
            try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close()
            #expect(try copies(world) == count)
            #expect(try records(world, EdgeNew.schema) == [["price": .string("7")]])
        }
        // A disk on which there is room for the copy and not for the frame.
        let world = try fill(old, [["price": .integer(7)]])
        (EdgeOld.schema, EdgeNew.schema) = (old, Self.docs(2, [Self.attribute("price", .string)]))
        EdgePlan.mapping = .inferred.converting("Doc.price", .nilIfNot)
        var number = 1
        while true {
            let start = world.disk.operationCount
            world.disk.inject(.fail(.noSpace), at: number)
            let result = Result { try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close() }
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
        (EdgeOld.schema, EdgeNew.schema) = (old, Self.docs(2, [Self.attribute("price", .string)]))
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.price", .exactly), [], nil)
        nonisolated(unsafe) var told: [StoreEvent] = []
        StoreEvents.observe { event in
            if case .recovery(let store, _) = event, store == "trips" { told.append(event) }
        }
        defer { StoreEvents.observe(nil) }
        try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close()
        #expect(told.count == 1)
    }

    /// A store whose number the plan lacks and that could be at any of several versions: code might be due.
    @Test func aStoreThatMayBeAtSeveralVersionsIsNotPassedOver() throws {
        let old = Self.docs(1, [Self.attribute("name")])
        let world = try fill(old, [["name": .string("a")]])
        (EdgeOld.schema, EdgeNew.schema) = (
            Self.docs(10, [Self.attribute("name")]), Self.docs(11, [Self.attribute("name")])
        )
        (EdgePlan.mapping, EdgePlan.rules) = (.inferred, [])
        EdgePlan.code = { _, _ in }
        #expect {
            try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self)
        } throws: { error in
            guard case MigrationError.ambiguousVersion(_, Schema.Version(1, 0, 0), let candidates) = error else {
                return false
            }
            return candidates == [Schema.Version(10, 0, 0), Schema.Version(11, 0, 0)]
        }
        #expect(throws: MigrationError.sharedElsewhere(store: "trips")) {
            let configuration = AppendLogConfiguration("trips", path: world.path, sharing: .shared, in: world.disk)
            (EdgeOld.schema, EdgeNew.schema) = (old, Self.docs(2, [Self.attribute("name"), Self.attribute("more")]))
            _ = try ModelContainer(
                for: Schema(stored: EdgeNew.schema), migrationPlan: EdgePlan.self, configurations: [configuration])
        }
    }
}
