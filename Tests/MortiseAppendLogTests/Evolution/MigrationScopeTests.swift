import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// What surrounds a migration: links, other stores, cancellation, missing files, and plans without code in stores that they do not know.
extension MigrationTests {
    // MARK: Plans without code

    private enum ScopeOne: VersionedSchema {
        static let schema = docs(1, [attribute("name"), attribute("note")])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum ScopeTwo: VersionedSchema {
        static let schema = docs(2, [attribute("name")])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum ScopeThree: VersionedSchema {
        static let schema = docs(3, [attribute("name"), attribute("note")])
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum ScopePlan: SchemaMigrationPlan {
        nonisolated(unsafe) static var options = MigrationOptions()
        static var migrationOptions: MigrationOptions { options }
        static var schemas: [any VersionedSchema.Type] { [ScopeOne.self, ScopeTwo.self, ScopeThree.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: ScopeOne.self, toVersion: ScopeTwo.self),
                .lightweight(fromVersion: ScopeTwo.self, toVersion: ScopeThree.self),
            ]
        }
    }

    /// Defect that this prevents: a plan without code took a store that none of its versions has from end to end, and values of a
    /// property that had been dropped came back in another of its name.
    @Test(arguments: MigrationWorld.Kind.allCases, [1, 0])
    func aPlanWithoutCodeAdoptsNothingInSilence(_ kind: MigrationWorld.Kind, number: Int) throws {
        defer { ScopePlan.options = MigrationOptions() }
        let edited = Self.docs(number, [Self.attribute("name"), Self.attribute("note"), Self.attribute("extra")])
        let world = try fill(edited, [["name": .string("a"), "note": .string("old")]], kind)
        let before = try world.files()
        func open() throws { try world.open(Schema(stored: ScopeThree.schema), ScopePlan.self).close() }
        #expect {
            try open()
        } throws: { error in
            switch error as? MigrationError {
            case .versionChanged(_, edited.version, let differences)? where number == 1:
                differences == ["Doc.extra (optional string) is not expected"]
            case .unknownVersion(_, edited.version, Schema.Version(1, 0, 0), let differences)? where number == 0:
                differences == ["Doc.extra (optional string) is not expected"]
            default: false
            }
        }
        #expect(try world.files() == before)
        // The way out takes it through the versions.
        ScopePlan.options.adopting = ScopeOne.self
        try open()
        #expect(try records(world, ScopeThree.schema) == [["name": .string("a"), "note": .null]])
    }

    /// All of them can be caught as SwiftData's one error, and those that say more as that, too.
    @Test func whatKeepsAStoreFromOpeningIsOneErrorOfSwiftData() throws {
        let (one, two) = (Schema.Version(1, 0, 0), Schema.Version(2, 0, 0))
        let errors: [any Error] = [
            MigrationError.newerStore(store: "", stored: two, program: one),
            MigrationError.unknownVersion(store: "", stored: one, nearest: two, differences: []),
            MigrationError.versionChanged(store: "", version: one, differences: []),
            EngineError.schemaMismatch(store: "", differences: []),
            EngineError.sameDefault(entity: "Doc", properties: ["a"]),
        ]
        for error in errors {
            do { throw error } catch SwiftDataError.loadIssueModelContainer {} catch { Issue.record("\(error)") }
        }
        #expect(SwiftDataError.backwardMigration ~= errors[0] && !(SwiftDataError.backwardMigration ~= errors[1]))
        #expect(errors.dropFirst().allSatisfy { SwiftDataError.unknownDataStoreSchema ~= $0 })
        #expect(!(SwiftDataError.loadIssueModelContainer ~= EngineError.readOnly(store: "")))
    }

    // MARK: Previews

    @Test(arguments: MigrationWorld.Kind.allCases)
    func aPreviewNamesWhatARuleRenames(_ kind: MigrationWorld.Kind) throws {
        let (old, new) = (Self.docs(1, [Self.attribute("title")]), Self.docs(2, [Self.attribute("name")]))
        let world = try fill(old, [["title": .string("a")]], kind)
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.renaming("Doc.name", from: "title"), [], nil)
        let preview = try ModelContainer.migrationPreview(
            for: Schema(stored: new), migrationPlan: EdgePlan.self, configurations: [world.configuration()])
        #expect(preview.first?.stages.map(\.changes) == [["Doc.name renamed from title"]])
    }

    /// Defect that this prevents: values that a rule converts were said to be dropped, although the migration itself says that
    /// nothing is. The copy that stays of what cannot be had back counts for the room all the same.
    @Test(arguments: MigrationWorld.Kind.allCases, [false, true])
    func aPreviewDropsNothingThatARuleConverts(_ kind: MigrationWorld.Kind, dropsNote: Bool) throws {
        defer { EdgePlan.options = MigrationOptions() }
        let note = dropsNote ? [Self.attribute("note")] : []
        let (old, new) = (
            Self.docs(1, [Self.attribute("price", .double)] + note), Self.docs(2, [Self.attribute("price", .int64)])
        )
        let values: [String: StoredValue] = ["price": .double(1.5), "note": .string("n")]
        let world = try fill(old, [values.filter { $0.key == "price" || dropsNote }], kind)
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.price", .rounding), [], nil)
        let preview = try #require(
            ModelContainer.migrationPreview(
                for: Schema(stored: new), migrationPlan: EdgePlan.self, configurations: [world.configuration()]
            ).first)
        let dropped = dropsNote ? [SchemaLoss.Property(entity: "Doc", name: "note", values: 1)] : nil
        #expect(preview.stages.map { $0.loss?.properties } == [dropped] && preview.stages[0].refusal == nil)
        #expect("\(preview)".contains("drops") == dropsNote)
        let space = try world.configuration().migrationSpace(keepingCopy: true)
        #expect(preview.space?.needed == space?.needed)
        // What it says is what comes of it.
        EdgePlan.options.loss = .refused
        if dropsNote {
            #expect(throws: MigrationError.self) { try world.open(Schema(stored: new), EdgePlan.self).close() }
            EdgePlan.options.loss = .allowed
        }
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(try records(world, new) == [["price": .integer(2)]])
    }

    // MARK: Records

    /// Defect that this prevents: the second part of a reading in parts of any size ended the process.
    @Test func anyNumberOfRecordsIsReadAtOnce() throws {
        let schema = Self.docs(1, [Self.attribute("name")])
        let world = try fill(schema, ["a", "b", "c"].map { ["name": .string($0)] })
        let container = try world.open(Schema(stored: schema), nil)
        let store = try #require(container.store(AppendLogStore.self))
        let next = try StoreTransfer(store).reader(ofEntity: "Doc", atMost: .max)
        #expect(try next().map { $0.values.first } == [.string("a"), .string("b"), .string("c")])
        #expect(try next().isEmpty)
        try container.close()
    }

    // MARK: Code

    private struct Unsaved: Error {}

    /// A shelf that may not go while it has books.
    private enum Shelves: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Shelf.self, Book.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        final class Shelf: PersistentModel {
            var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \Shelf.name),
                    .init(
                        name: "books", keypath: \Shelf.books, defaultValue: [Book](),
                        metadata: Schema.Relationship(deleteRule: .deny, inverse: \Book.shelf)),
                ]
            }
            init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
            init(_ name: String) { self.name = name }
            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }
            var books: [Book] {
                get { getValue(forKey: \.books) }
                set { setValue(forKey: \.books, to: newValue) }
            }
        }

        final class Book: PersistentModel {
            var persistentBackingData: any BackingData<Book> = Book.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [.init(name: "title", keypath: \Book.title), .init(name: "shelf", keypath: \Book.shelf)]
            }
            init(backingData: any BackingData<Book>) { persistentBackingData = backingData }
            init(_ title: String, _ shelf: Shelf?) { (self.title, self.shelf) = (title, shelf) }
            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }
            var shelf: Shelf? {
                get { getValue(forKey: \.shelf) }
                set { setValue(forKey: \.shelf, to: newValue) }
            }
        }
    }
    private enum ShelvesLater: VersionedSchema {
        static var models: [any PersistentModel.Type] { Shelves.models }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    }
    private enum ShelfPlan: SchemaMigrationPlan {
        nonisolated(unsafe) static var code: (ModelContext) throws -> Void = { _ in }
        static var schemas: [any VersionedSchema.Type] { [Shelves.self, ShelvesLater.self] }
        static var stages: [MigrationStage] {
            [.custom(fromVersion: Shelves.self, toVersion: ShelvesLater.self, willMigrate: nil, didMigrate: code)]
        }
    }

    private func shelves(_ kind: MigrationWorld.Kind, books: Int) throws -> MigrationWorld {
        let world = try MigrationWorld(kind)
        let container = try world.open(Shelves.self, nil)
        let context = ModelContext(container)
        let shelf = Shelves.Shelf("a")
        context.insert(shelf)
        for number in 0..<books { context.insert(Shelves.Book("\(number)", shelf)) }
        try context.save()
        try container.close()
        return world
    }

    /// A `try?` around a save swallows its error for the moment: what is still refused when the code returns ends the migration.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func aSaveThatWasRefusedInAStageRefusesTheMigration(_ kind: MigrationWorld.Kind) throws {
        defer { ShelfPlan.code = { _ in } }
        let world = try shelves(kind, books: 2)
        let before = try world.files()
        nonisolated(unsafe) var wasRefused = false
        ShelfPlan.code = { context in
            for shelf in try context.fetch(FetchDescriptor<Shelves.Shelf>()) { context.delete(shelf) }
            do { try context.save() } catch { wasRefused = true }
        }
        #expect {
            try world.open(ShelvesLater.self, ShelfPlan.self)
        } throws: { error in
            guard case MigrationError.stageFailed(let failure) = error else { return false }
            return failure.part == .didMigrate
        }
        #expect(wasRefused)
        #expect(try world.files() == before)
        // A later save of the context succeeds.
        ShelfPlan.code = { context in
            for shelf in try context.fetch(FetchDescriptor<Shelves.Shelf>()) { context.delete(shelf) }
            try? context.save()
            context.rollback()
            for book in try context.fetch(FetchDescriptor<Shelves.Book>()) { book.title += "!" }
        }
        let container = try world.open(ShelvesLater.self, ShelfPlan.self)
        #expect(try ModelContext(container).fetch(FetchDescriptor<Shelves.Book>()).map(\.title) == ["0!", "1!"])
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Shelves.Shelf>()) == 1)
        try container.close()
    }

    private enum ShelfLoop: SchemaMigrationPlan {
        nonisolated(unsafe) static var unsaved: [Int] = []
        static var schemas: [any VersionedSchema.Type] { [Shelves.self, ShelvesLater.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: Shelves.self, to: ShelvesLater.self,
                    migrate: { old, new in
                        for book in try old.fetch(Shelves.Book.self) {
                            try new.model(Shelves.Book.self, for: book.persistentModelID)?.title += "+"
                            unsaved.append(new.context.changedModelsArray.count)
                        }
                        for number in 0..<1_500 {
                            new.insert(Shelves.Book("new \(number)", nil))
                            unsaved.append(new.context.insertedModelsArray.count)
                        }
                    })
            ]
        }
    }

    /// Defect that this prevents: a loop over all records held every changed model until its end.
    @Test func modelsOfATargetAreSavedEveryThousand() throws {
        let world = try shelves(.log, books: 3_500)
        ShelfLoop.unsaved = []
        let container = try world.open(ShelvesLater.self, ShelfLoop.self)
        #expect(ShelfLoop.unsaved.max() == 1_000)
        let titles = try ModelContext(container).fetch(FetchDescriptor<Shelves.Book>()).map(\.title)
        #expect(titles.count == 5_000 && titles.prefix(3_500).allSatisfy { $0.hasSuffix("+") })
        try container.close()
    }

    /// Code of a plan that opens another store, whose plan opens the first one: nobody waits for himself.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func plansThatMigrateEachOthersStoresDoNotWait(_ kind: MigrationWorld.Kind) throws {
        defer { EdgePlan.code = nil }
        let one = try fill(Self.docs(1, [Self.attribute("a")]), [["a": .string("x")]], kind)
        let two = try shelves(kind, books: 1)
        (EdgeOld.schema, EdgeNew.schema) = (Self.docs(1, [Self.attribute("a")]), Self.docs(2, [Self.attribute("a")]))
        (EdgePlan.mapping, EdgePlan.rules) = (.inferred, [])
        nonisolated(unsafe) var inner: (any Error)?
        EdgePlan.code = { _, _ in try two.open(ShelvesLater.self, ShelfPlan.self).close() }
        ShelfPlan.code = { _ in
            do { try one.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close() } catch { inner = error }
        }
        defer { ShelfPlan.code = { _ in } }
        let start = ContinuousClock.now
        try one.open(Schema(stored: EdgeNew.schema), EdgePlan.self).close()
        #expect(ContinuousClock.now - start < .seconds(20))
        switch inner as? MigrationError {
        case .migrationInProgress?, .openElsewhere?: break
        default: Issue.record("\(String(describing: inner))")
        }
        #expect(try one.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
        #expect(try two.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
    }

    // MARK: Cancelling

    /// Whenever it is cancelled, the store is the old one or the new one.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func cancellingAtEachReportLeavesOneOrTheOther(_ kind: MigrationWorld.Kind) async throws {
        defer { EdgePlan.options = MigrationOptions() }
        let (old, new) = (Self.docs(1, [Self.attribute("n", .int64)]), Self.docs(2, [Self.attribute("n", .string)]))
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
        (EdgePlan.mapping, EdgePlan.rules, EdgePlan.code) = (.inferred.converting("Doc.n", .exactly), [], { _, _ in })
        var ends: Set<Bool> = []
        for report in 1...20 {
            let world = try fill(old, (0..<100).map { ["n": .integer($0)] }, kind)
            let before = try world.files()
            nonisolated(unsafe) var reports = 0
            EdgePlan.options.progress = { _ in
                reports += 1
                if reports == report { withUnsafeCurrentTask { $0?.cancel() } }
            }
            let isCancelled = await Task {
                do {
                    try world.open(Schema(stored: new), EdgePlan.self).close()
                    return false
                } catch is CancellationError {
                    return true
                } catch {
                    Issue.record("\(error)")
                    return false
                }
            }.value
            ends.insert(isCancelled)
            if isCancelled { #expect(try world.files() == before, "\(report)") }
            if !isCancelled { #expect(try records(world, new).count == 100, "\(report)") }
            if reports < report { break }
        }
        #expect(ends == [true, false])
    }

    // MARK: Files

    @Test(arguments: MigrationWorld.Kind.allCases) func aLinkToAStoreStaysOne(_ kind: MigrationWorld.Kind) throws {
        let real = try MigrationWorld(kind, at: "/data/real")
        _ = try real.fill()
        try real.disk.installLink(to: "real", at: "/data/trips")
        let linked = try real.at("/data/trips")
        let container = try linked.open(V2.self, Plans.Two.self)
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<V2.Traveler>()) == 3)
        try container.close()
        #expect(try real.disk.infoIfPresent("/data/trips", followingLinks: false)?.kind == .symbolicLink)
        #expect(try real.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
    }

    /// A file that was changed by hand is told as that, and not migrated.
    @Test func aFileWhoseSealIsBrokenIsNotMigrated() throws {
        let world = try MigrationWorld(.json)
        _ = try world.fill()
        let text = String(decoding: world.disk.contents(at: world.path) ?? [], as: UTF8.self)
        try world.disk.install(Array(text.replacing("Bob Byron", with: "Bob Bryon").utf8), at: world.path)
        let before = try world.files()
        Plans.runs = []
        #expect(throws: JSONFileError.self) { try world.open(V2.self, Plans.Two.self) }
        #expect(Plans.runs == [])
        #expect(try world.files() == before)
    }

    private enum ReadingMaps: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: V1.self, to: V2.self,
                    mapping: .inferred.converting(
                        "Trip.name",
                        .value { record in
                            .string("\(try record.value(Data.self, of: "map")?.count ?? 0)")
                        }))
            ]
        }
    }

    /// What nobody reads is not missed; who reads it is told which file is gone.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func aMissingFileIsMissedByThoseWhoReadIt(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        _ = try world.fill(withDuplicates: false)
        let folder = world.path + ".external"
        let file = try #require(try world.disk.list(folder).filter { !$0.hasSuffix(".lock") }.min())
        try world.disk.unlink("\(folder)/\(file)")
        let before = try world.files()
        #expect {
            try world.open(V2.self, ReadingMaps.self)
        } throws: { error in
            guard case MigrationError.stageFailed(let failure) = error else { return false }
            return "\(failure.underlying)".contains(file)
        }
        #expect(try world.files() == before)
        let schema = Schema(stored: WithRemark.schema)
        if kind == .json {
            // A file keeps a copy each time, which would lack it.
            #expect {
                try world.open(schema, AddingRemark.self)
            } throws: {
                "\($0)".contains(file)
            }
            #expect(try world.files() == before)
        } else {
            let container = try world.open(schema, AddingRemark.self)
            let version = (container.stores.first?.underlying as? any VersionedDataStore)?.currentVersion
            #expect(version?.rows(ofEntity: "Trip")?.count == 4)
            try container.close()
            #expect(try world.configuration().storedSchema()?.version == Schema.Version(2, 0, 0))
        }
    }

    private enum WithRemark: VersionedSchema {
        static let schema: StoredSchema = {
            var schema = Schema(versionedSchema: V1.self).stored
            schema.version = Schema.Version(2, 0, 0)
            for place in schema.entities.indices { schema.entities[place].properties.append(attribute("remark")) }
            return schema
        }()
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum AddingRemark: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, WithRemark.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: WithRemark.self)] }
    }

    private enum Mapless: VersionedSchema {
        static let schema: StoredSchema = {
            var schema = Schema(versionedSchema: V1.self).stored
            schema.version = Schema.Version(2, 0, 0)
            for place in schema.entities.indices { schema.entities[place].properties.removeAll { $0.name == "map" } }
            return schema
        }()
        static var models: [any PersistentModel.Type] { [] }
        static var versionIdentifier: Schema.Version { schema.version }
        static var stored: StoredSchema? { schema }
    }
    private enum DroppingMaps: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, Mapless.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: Mapless.self)] }
    }

    /// The copy is the store as it was, files and all, and comes to the same by the same plan.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func theCopyIsAStoreOfItsOwn(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        _ = try world.fill()
        let schema = Schema(stored: Mapless.schema)
        try world.open(schema, DroppingMaps.self).close()
        // What nobody names any more is removed.
        try world.open(schema, nil).close()
        let name = try #require(
            try world.disk.list("/data").first { $0.wholeMatch(of: /trips\.schema-1\.0\.0-[0-9a-f]{16}/) != nil })
        let copy = try world.at("/data/" + name)
        let old = try copy.open(V1.self, nil, allowsSave: false)
        let maps = try ModelContext(old).fetch(FetchDescriptor<V1.Trip>()).map(\.map)
        #expect(maps == [MigrationWorld.map(1), MigrationWorld.map(2), MigrationWorld.map(3), nil])
        try old.close()
        func names(_ world: MigrationWorld) throws -> [StoredValue?] {
            let container = try world.open(schema, DroppingMaps.self)
            defer { try? container.close() }
            let store = try #require(container.stores.first?.underlying as? any VersionedDataStore)
            return try StoredRecords(
                ofEntity: "Trip", in: store.currentVersion, schema.stored, schema.stored.recordLayouts()
            ).map { $0["title"] }
        }
        #expect(try names(copy) == names(world))
    }

    /// Nobody's store is changed where one of the container's cannot be.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func anOldStoreThatIsOnlyReadKeepsTheOthersFromMoving(_ kind: MigrationWorld.Kind) throws {
        let pair = try SeveralStoresTests.Pair([kind, kind])
        try pair.fill()
        let before = try pair.first.files()
        var trips = pair.first.configuration()
        trips.schema = Schema([V2.Traveler.self, V2.Trip.self])
        var others: any DataStoreConfiguration =
            kind == .json
            ? JSONFileConfiguration("others", path: pair.second.path, allowsSave: false, in: pair.disk)
            : AppendLogConfiguration("others", path: pair.second.path, allowsSave: false, in: pair.disk)
        others.schema = Schema([O2.Note.self])
        #expect {
            try ModelContainer(
                for: Schema([V2.Traveler.self, V2.Trip.self, O2.Note.self]), migrationPlan: TwoStores.self,
                configurations: [trips, others])
        } throws: { error in
            guard case MigrationError.migrationNeeded("others", _, _) = error else { return false }
            return true
        }
        #expect(try pair.first.files() == before)
    }

    // MARK: Values

    /// Dates become texts that do not depend on where the program runs.
    @Test func datesAndTextsAreTheSameEverywhere() throws {
        let zone = NSTimeZone.default
        defer { NSTimeZone.default = zone }
        let (old, new) = (Self.docs(1, [Self.attribute("d", .date)]), Self.docs(2, [Self.attribute("d", .string)]))
        let dates: [StoredValue] = [0, 86_399, -1, 700_000_000].map {
            .date(Date(timeIntervalSinceReferenceDate: $0))
        }
        var texts: Set<[[String: StoredValue]]> = []
        for name in ["UTC", "Pacific/Kiritimati", "America/St_Johns"] {
            NSTimeZone.default = try #require(TimeZone(identifier: name))
            let mapping = MigrationMapping.inferred.converting("Doc.d", .exactly)
            let found = try migrate(old, new, mapping, dates.map { ["d": $0] })
            texts.insert(found)
            let back = try migrate(
                StoredSchema(version: old.version, entities: new.entities),
                StoredSchema(version: new.version, entities: old.entities), mapping, found)
            #expect(back.map { $0["d"] ?? .null } == dates)
        }
        #expect(texts.count == 1)
        #expect(texts.first?.first?["d"] == .string("2001-01-01T00:00:00Z"))
    }

    /// A tree that no store keeps is refused before anything is replaced.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func aTreeBeyondTheBoundsEndsTheMigration(_ kind: MigrationWorld.Kind) throws {
        let (old, new) = (
            Self.docs(1, [Self.attribute("name")]),
            Self.docs(2, [Self.attribute("name"), Self.attribute("tree", .coded)])
        )
        let world = try fill(old, [["name": .string("a")]], kind)
        (EdgeOld.schema, EdgeNew.schema) = (old, new)
        (EdgePlan.rules, EdgePlan.code) = ([], nil)
        func tree(_ depth: Int) -> StoredValue { (0..<depth).reduce(.null) { tree, _ in .array([tree]) } }
        let before = try world.files()
        EdgePlan.mapping = .inferred.filling("Doc.tree", with: tree(600))
        #expect {
            try world.open(Schema(stored: new), EdgePlan.self)
        } throws: { error in
            guard case MigrationError.stageFailed(let failure) = error else { return false }
            return "\(failure.underlying)".contains("tree")
        }
        #expect(try world.files() == before)
        EdgePlan.mapping = .inferred.filling("Doc.tree", with: tree(500))
        try world.open(Schema(stored: new), EdgePlan.self).close()
        #expect(try records(world, new).map { $0["tree"] ?? .null } == [tree(500)])
    }
}
