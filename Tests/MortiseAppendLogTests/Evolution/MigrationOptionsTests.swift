import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// What the options of a plan ask for.
extension MigrationTests {
    private func refusal(_ world: MigrationWorld) throws -> any Error {
        let before = try world.files()
        do {
            try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close()
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
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
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
            (EdgeOld.schema, EdgeNew.schema) = (
                Self.docs(number - 1, [Self.attribute("a")]), Self.docs(number, [Self.attribute("a")])
            )
            let used = number == 6 ? made[3].filter { $0.contains("schema-3.0.0") } : []
            let lock = try used.first.map { try FileLock(forStoreAt: "/data/\($0)", in: world.disk) }
            try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close()
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
        (EdgeOld.schema, EdgeNew.schema) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("a")]))
        let world = try fill(EdgeOld.schema, (0..<500).map { ["a": .string("text \($0)")] }, kind)
        let before = try world.files()
        let used = before.values.reduce(0) { $0 + $1.count }
        world.disk.limits.capacity = used + 4_096
        func space() throws -> MigrationSpace? {
            try ModelContainer.migrationPreview(
                for: Schema(stored: EdgeNew.schema), migrationPlan: EdgePlan.self,
                configurations: [world.configuration()]
            ).first?.space
        }
        let space1 = try #require(try space())
        #expect(space1.free == 4_096 && space1.needed > used && !space1.isEnough)
        #expect(throws: MigrationError.notEnoughSpace(store: "trips", space: space1)) {
            try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self)
        }
        #expect(try world.files() == before)
        #expect(ran == 0)
        world.disk.limits.capacity = used + Int(space1.needed)
        #expect(try space()?.isEnough == true)
        try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close()
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
        (EdgeOld.schema, EdgeNew.schema) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("a")]))
        let world = try fill(EdgeOld.schema, [["a": .string("x")]], kind)
        let before = try world.files()
        func open() -> Task<ModelContainer, any Error> {
            Task {
                let configuration: any DataStoreConfiguration & Sendable =
                    switch kind {
                    case .json: JSONFileConfiguration("trips", path: world.path, in: world.disk)
                    case .log: world.logConfiguration()
                    }
                return try await ModelContainer.open(
                    for: Schema(stored: EdgeNew.schema), migrationPlan: EdgePlan.self, configurations: [configuration])
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
        #expect(try records(world, EdgeNew.schema) == [["a": .string("x")]])
    }

    private enum PlainPlan: SchemaMigrationPlan {
        static var migrationOptions: MigrationOptions { EdgePlan.options }
        static var schemas: [any VersionedSchema.Type] { [EdgeOld.self, EdgeNew.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: EdgeOld.self, toVersion: EdgeNew.self)] }
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func optionsHoldWithoutCode(_ kind: MigrationWorld.Kind) throws {
        defer { EdgePlan.options = MigrationOptions() }
        (EdgeOld.schema, EdgeNew.schema) = (
            Self.docs(1, [Self.attribute("name"), Self.attribute("note")]), Self.docs(2, [Self.attribute("name")])
        )
        let world = try fill(
            EdgeOld.schema, [["name": .string("a"), "note": .string("n")], ["name": .string("b")]], kind)
        let before = try world.files()
        func previewed() throws -> MigrationPreview? {
            try ModelContainer.migrationPreview(
                for: Schema(stored: EdgeNew.schema), migrationPlan: PlainPlan.self,
                configurations: [world.configuration()]
            ).first
        }
        for policy in [MigrationOptions.LossPolicy.declared, .refused] {
            EdgePlan.options.loss = policy
            #expect {
                try world.open(Schema(stored: EdgeNew.schema), PlainPlan.self)
            } throws: { error in
                guard case MigrationError.stageFailed(let failure) = error,
                    case MigrationError.lossRefused("trips", let loss) = failure.underlying
                else { return false }
                return loss.properties == [.init(entity: "Doc", name: "note", values: 1)]
            }
            #expect(try previewed()?.stages.last?.refusal != nil)
            // Nor is it lost to somebody who only reads.
            #expect {
                try world.open(Schema(stored: EdgeNew.schema), PlainPlan.self, allowsSave: false)
            } throws: { error in
                guard case MigrationError.migrationNeeded = error else { return false }
                return true
            }
        }
        EdgePlan.options.loss = .allowed
        #expect(try previewed()?.stages.last?.refusal == nil)
        try world.open(Schema(stored: EdgeNew.schema), PlainPlan.self, allowsSave: false).close()
        #expect(try world.files() == before)
        // Opening the store is enough; nothing need be saved.
        nonisolated(unsafe) var told: [MigrationProgress.Part] = []
        EdgePlan.options.progress = { told.append($0.part) }
        EdgePlan.options.copies = .always
        try world.open(Schema(stored: EdgeNew.schema), PlainPlan.self).close()
        #expect(told.uniqued == [.mapping, .writing])
        #expect(try world.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
        let after = try world.files()
        #expect(after.keys.contains { $0.contains(".schema-1.0.0-") })
        try world.open(Schema(stored: EdgeNew.schema), PlainPlan.self).close()
        #expect(try world.files() == after)
        #expect(try records(world, EdgeNew.schema) == [["name": .string("a")], ["name": .string("b")]])
    }

    /// Bug: a plan without code brought a newer store, and one with an entity that the program forgets, to the program's schema.
    @Test(arguments: MigrationWorld.Kind.allCases) func whatOpeningRefusesAPlanWithoutCodeDoesNotDo(
        _ kind: MigrationWorld.Kind
    ) throws {
        let (doc, note) = (
            StoredEntity(name: "Doc", properties: [Self.attribute("name"), Self.attribute("note")]),
            StoredEntity(name: "Note", properties: [Self.attribute("text")])
        )
        EdgeOld.schema = Self.docs(1, [Self.attribute("name")])
        EdgeNew.schema = Self.schema(2, [doc, note])
        let world = try fill(EdgeNew.schema, [["name": .string("a"), "note": .string("n")]], kind)
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
            guard case MigrationError.targetNotInPlan(_, _, let differences) = error else { return false }
            return differences == ["Doc is not expected"] || differences == ["Doc is missing"]
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
        (EdgeOld.schema, EdgeNew.schema) = (one, two)
        (EdgePlan.mapping, EdgePlan.rules) = (.inferred.filling("Doc.more", with: .string("m")), [])
        EdgePlan.code = nil
        let before = try world.files()
        #expect {
            try world.open(Schema(stored: two), EdgePlan.self)
        } throws: { error in
            guard case MigrationError.versionChanged = error else { return false }
            return true
        }
        EdgePlan.options.adopting = EdgeOld.self
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
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.n", .exactly), [], { _, _ in })
        let before = try world.files()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try world.open(Schema(stored: EdgeNew.schema), EdgePlan.self)
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
