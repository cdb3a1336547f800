import Foundation
import Logging
import Mortise
import MortiseEngine
import Testing

/// A store that holds an entity or values that the program's schema lacks: what may go is named, counted in the log, and
/// kept in a copy.
@Suite struct DroppingTests {
    enum Kind: String, CaseIterable { case json, log }

    private let folder: Folder

    init() throws { folder = try Folder() }

    private func configuration(
        _ kind: Kind, _ schema: Schema, dropping: [String] = [], allowsSave: Bool = true, copy: String? = nil
    ) -> ModelConfiguration {
        var configuration = ModelConfiguration(
            "store", schema: schema, url: URL(filePath: copy ?? folder.path("a.\(kind.rawValue)")),
            allowsSave: allowsSave)
        configuration.dropping = dropping
        return configuration
    }

    private func open(
        _ schema: Schema, _ configuration: ModelConfiguration, _ lines: LogLines = LogLines()
    ) throws -> ModelContainer {
        try ModelContainer(
            for: schema, configurations: [configuration as any DataStoreConfiguration],
            logger: Logger(label: "test") { _ in lines })
    }

    private static let whole = Schema([WholeStore.Keep.self, WholeStore.Gone.self, WholeStore.Spent.self])
    private static let narrow = Schema([NarrowStore.Keep.self])

    /// Three of `Keep`, two of them with a rank; five of `Gone`; none of `Spent`.
    private func fill(_ kind: Kind) throws {
        let container = try open(Self.whole, configuration(kind, Self.whole))
        let context = ModelContext(container)
        for number in 0..<3 { context.insert(WholeStore.Keep("k\(number)", rank: number == 0 ? nil : number)) }
        for number in 0..<5 { context.insert(WholeStore.Gone("g\(number)")) }
        context.insert(WholeStore.Spent("s"))
        try context.save()
        try context.delete(model: WholeStore.Spent.self)
        try container.close()
    }

    private let lacks = "Gone (5 records), Keep.rank (2 values)"

    private func expectRefused(_ kind: Kind, dropping: [String]) throws {
        let lines = LogLines()
        let container = { try open(Self.narrow, configuration(kind, Self.narrow, dropping: dropping), lines) }
        #expect {
            _ = try container()
        } throws: { error in
            guard case MigrationError.unnamedEntities(_, _, let entities) = error else { return false }
            return entities == [.init(name: "Gone", records: 5)]
        }
        #expect(lines.all == [])
    }

    /// Its one default value would make two records equal that nobody has made so.
    @Test(arguments: Kind.allCases) func aNewUniquePropertyWithADefaultIsNamedAndNotTheRecords(kind: Kind) throws {
        try fill(kind)
        let wide = Schema([WideStore.Keep.self, WholeStore.Gone.self, WholeStore.Spent.self])
        #expect(throws: EngineError.sameDefault(entity: "Keep", properties: ["code"])) {
            try open(wide, configuration(kind, wide))
        }
        // The way out that the error names.
        let loose = Schema([LooseStore.Keep.self, WholeStore.Gone.self, WholeStore.Spent.self])
        let filling = try open(loose, configuration(kind, loose))
        let context = ModelContext(filling)
        let kept = try context.fetch(FetchDescriptor<LooseStore.Keep>())
        #expect(kept.count == 3 && Set(kept.map(\.code)).count == 1)
        for keep in kept { keep.code = UUID() }
        let codes = Set(kept.map(\.code))
        try context.save()
        try filling.close()
        let container = try open(wide, configuration(kind, wide))
        let found = try ModelContext(container).fetch(FetchDescriptor<WideStore.Keep>())
        #expect(Set(found.map(\.code)) == codes && found.count == 3)
        try container.close()
    }

    @Test(arguments: Kind.allCases) func whatGoesIsNamedCountedAndCopied(kind: Kind) throws {
        try fill(kind)
        try expectRefused(kind, dropping: [])
        try expectRefused(kind, dropping: ["Spent", "gone"])
        let lines = LogLines()
        let dropping = configuration(kind, Self.narrow, dropping: ["Gone"])
        let container = try open(Self.narrow, dropping, lines)
        let warning =
            "warning the store holds data that the schema lacks [lacks: \(lacks), opened: 1.0.0, store: store, "
            + "stored: 1.0.0]"
        #expect(lines.all == [warning])
        let context = ModelContext(container)
        #expect(try context.fetchCount(FetchDescriptor<NarrowStore.Keep>()) == 3)
        try container.close()

        // Opening and closing drops nothing.
        let again = try open(Self.whole, configuration(kind, Self.whole))
        #expect(try ModelContext(again).fetchCount(FetchDescriptor<WholeStore.Gone>()) == 5)
        try again.close()

        let saving = LogLines()
        let last = try open(Self.narrow, dropping, saving)
        let writing = ModelContext(last)
        writing.insert(NarrowStore.Keep("new"))
        try writing.save()
        writing.insert(NarrowStore.Keep("newer"))
        try writing.save()
        try last.close()
        #expect(saving.all.count == 2 && saving.all.first == warning, "\(saving.all)")
        let second = try #require(saving.all.last)
        #expect(second.hasPrefix("warning dropped data that the schema lacks [copy: "))
        #expect(second.contains("lacks: \(lacks), opened: 1.0.0, store: store, stored: 1.0.0]"))
        let copy = try #require(second.firstMatch(of: /copy: ([^,]+),/)).1

        // Nothing is lacking any more, so nothing is logged; the copy has all that went.
        let quiet = LogLines()
        let after = try open(Self.narrow, configuration(kind, Self.narrow), quiet)
        #expect(quiet.all == [])
        #expect(try ModelContext(after).fetchCount(FetchDescriptor<NarrowStore.Keep>()) == 5)
        try after.close()
        let kept = try open(
            Self.whole, configuration(kind, Self.whole, allowsSave: false, copy: String(copy)))
        #expect(try ModelContext(kept).fetchCount(FetchDescriptor<WholeStore.Gone>()) == 5)
        let ranks = try ModelContext(kept).fetch(FetchDescriptor<WholeStore.Keep>()).map(\.rank)
        #expect(ranks.compactMap { $0 }.sorted() == [1, 2])
        try kept.close()
    }

    /// The same by store URL, whose option may name several entities.
    @Test(arguments: Kind.allCases) func aStoreURLNamesWhatMayGo(kind: Kind) throws {
        try fill(kind)
        let url = "\(kind.rawValue):\(folder.path("a.\(kind.rawValue)"))"
        func open(_ option: String, _ lines: LogLines = LogLines()) throws -> ModelContainer {
            try ModelContainer(
                for: Self.narrow, store: url + option, logger: Logger(label: "test") { _ in lines })
        }
        #expect(throws: MigrationError.self) { try open("") }
        #expect(throws: MigrationError.self) { try open("?dropping=Spent") }
        let lines = LogLines()
        let container = try open("?dropping=Spent,Gone", lines)
        #expect(lines.all.count == 1 && lines.all[0].contains("[lacks: \(lacks), "), "\(lines.all)")
        try container.close()
    }

    /// Defect that this prevents: what a plan dropped was told to nobody, nor where the copy is.
    @Test(arguments: Kind.allCases, [false, true])
    func whatAPlanDropsIsLoggedWithItsCopy(kind: Kind, withCode: Bool) throws {
        try fill(kind)
        let lines = LogLines()
        let plan: any SchemaMigrationPlan.Type = withCode ? CodedDroppingPlan.self : PlainDroppingPlan.self
        let schema = Schema(versionedSchema: NarrowVersion.self)
        let container = try ModelContainer(
            for: schema, migrationPlan: plan,
            configurations: [configuration(kind, Self.narrow) as any DataStoreConfiguration],
            logger: Logger(label: "test") { _ in lines })
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<NarrowStore.Keep>()) == 3)
        try container.close()
        let warnings = lines.all.filter { $0.hasPrefix("warning") }
        let warning = try #require(warnings.first)
        #expect(warnings.count == 1 && warning.hasPrefix("warning dropped data that the schema lacks [copy: "))
        #expect(warning.contains("lacks: \(lacks), opened: 2.0.0, store: store, stored: 1.0.0]"), "\(warning)")
        let copy = try #require(warning.firstMatch(of: /copy: ([^,]+),/)).1
        let kept = try open(Self.whole, configuration(kind, Self.whole, allowsSave: false, copy: String(copy)))
        #expect(try ModelContext(kept).fetchCount(FetchDescriptor<WholeStore.Gone>()) == 5)
        try kept.close()
    }

    /// In memory there is no copy, and what goes is counted all the same.
    @Test func whatAPlanDropsInMemoryIsLogged() throws {
        let storage = InMemoryStorage()
        func open(
            _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?, _ lines: LogLines
        ) throws -> ModelContainer {
            try ModelContainer(
                for: Schema(versionedSchema: version), migrationPlan: plan,
                configurations: [InMemoryConfiguration("store", storage: storage)],
                logger: Logger(label: "test") { _ in lines })
        }
        let first = try open(WholeVersion.self, nil, LogLines())
        let context = ModelContext(first)
        context.insert(WholeStore.Gone("g"))
        try context.save()
        try first.close()
        let lines = LogLines()
        try open(NarrowVersion.self, PlainDroppingPlan.self, lines).close()
        #expect(
            lines.all.filter { $0.hasPrefix("warning") } == [
                "warning dropped data that the schema lacks [lacks: Gone (1 record), opened: 2.0.0, store: store, stored: 1.0.0]"
            ])
    }

    /// A property alone needs no permission. Reading drops nothing, and says what it does not show.
    @Test(arguments: Kind.allCases) func aPropertyThatGoesIsCountedWithoutBeingNamed(kind: Kind) throws {
        try fill(kind)
        let schema = Schema([NarrowStore.Keep.self, WholeStore.Gone.self])
        for allowsSave in [false, true] {
            let lines = LogLines()
            let container = try open(schema, configuration(kind, schema, allowsSave: allowsSave), lines)
            #expect(lines.all.count == 1 && lines.all[0].contains("[lacks: Keep.rank (2 values), "), "\(lines.all)")
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<WholeStore.Gone>()) == 5)
            try container.close()
        }
    }

    @Test func configurationsThatDropOtherEntitiesDiffer() {
        let plain = ModelConfiguration(url: URL(filePath: "/a.json"))
        var dropping = plain
        dropping.dropping = ["Gone"]
        #expect(plain.dropping == [] && plain != dropping)
    }
}

private enum WholeStore {
    @Model final class Keep {
        var text: String
        var rank: Int?
        init(_ text: String, rank: Int?) {
            self.text = text
            self.rank = rank
        }
    }
    @Model final class Gone {
        var text: String
        init(_ text: String) { self.text = text }
    }
    @Model final class Spent {
        var text: String
        init(_ text: String) { self.text = text }
    }
}

private enum LooseStore {
    @Model final class Keep {
        var text: String
        var rank: Int?
        var code = UUID()
        init(_ text: String) { self.text = text }
    }
}

private enum WideStore {
    @Model final class Keep {
        var text: String
        var rank: Int?
        @Attribute(.unique) var code = UUID()
        init(_ text: String) { self.text = text }
    }
}

private enum NarrowStore {
    @Model final class Keep {
        var text: String
        init(_ text: String) { self.text = text }
    }
}

private enum WholeVersion: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] {
        [WholeStore.Keep.self, WholeStore.Gone.self, WholeStore.Spent.self]
    }
}

private enum NarrowVersion: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
    static var models: [any PersistentModel.Type] { [NarrowStore.Keep.self] }
}

private enum PlainDroppingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [WholeVersion.self, NarrowVersion.self] }
    static var stages: [MigrationStage] {
        [.lightweight(fromVersion: WholeVersion.self, toVersion: NarrowVersion.self)]
    }
}

private enum CodedDroppingPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { PlainDroppingPlan.schemas }
    static var stages: [MigrationStage] {
        [.custom(from: WholeVersion.self, to: NarrowVersion.self, migrate: { old, _ in _ = try old.count("Gone") })]
    }
}
