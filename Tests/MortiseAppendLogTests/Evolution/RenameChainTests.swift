import CustomStore
import Foundation
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// One entity and one of its properties, renamed in each version; each version only names the one before.
private enum Chain1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Ant.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    final class Ant: PersistentModel {
        var persistentBackingData: any BackingData<Ant> = Ant.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "a", keypath: \Ant.a), .init(name: "other", keypath: \Ant.other),
                .init(name: "next", keypath: \Ant.next),
            ]
        }
        init(backingData: any BackingData<Ant>) { persistentBackingData = backingData }
        init(_ a: String, next: Ant?) { (self.a, self.other, self.next) = (a, nil, next) }
        var a: String {
            get { getValue(forKey: \.a) }
            set { setValue(forKey: \.a, to: newValue) }
        }
        var other: Int? {
            get { getValue(forKey: \.other) }
            set { setValue(forKey: \.other, to: newValue) }
        }
        var next: Ant? {
            get { getValue(forKey: \.next) }
            set { setValue(forKey: \.next, to: newValue) }
        }
    }
}

private enum Chain2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Bee.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    final class Bee: PersistentModel {
        static var originalEntityName: String? { "Ant" }
        var persistentBackingData: any BackingData<Bee> = Bee.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "b", keypath: \Bee.b, metadata: Schema.Attribute(originalName: "a")),
                .init(name: "other", keypath: \Bee.other), .init(name: "next", keypath: \Bee.next),
            ]
        }
        init(backingData: any BackingData<Bee>) { persistentBackingData = backingData }
        var b: String {
            get { getValue(forKey: \.b) }
            set { setValue(forKey: \.b, to: newValue) }
        }
        var other: Int? {
            get { getValue(forKey: \.other) }
            set { setValue(forKey: \.other, to: newValue) }
        }
        var next: Bee? {
            get { getValue(forKey: \.next) }
            set { setValue(forKey: \.next, to: newValue) }
        }
    }
}

/// The first name comes again, for another entity.
private enum Chain3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Cow.self, Ant.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    final class Cow: PersistentModel {
        static var originalEntityName: String? { "Bee" }
        var persistentBackingData: any BackingData<Cow> = Cow.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "c", keypath: \Cow.c, metadata: Schema.Attribute(originalName: "b")),
                .init(name: "other", keypath: \Cow.other), .init(name: "next", keypath: \Cow.next),
            ]
        }
        init(backingData: any BackingData<Cow>) { persistentBackingData = backingData }
        var c: String {
            get { getValue(forKey: \.c) }
            set { setValue(forKey: \.c, to: newValue) }
        }
        var other: Int? {
            get { getValue(forKey: \.other) }
            set { setValue(forKey: \.other, to: newValue) }
        }
        var next: Cow? {
            get { getValue(forKey: \.next) }
            set { setValue(forKey: \.next, to: newValue) }
        }
    }

    final class Ant: PersistentModel {
        var persistentBackingData: any BackingData<Ant> = Ant.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Ant.name)] }
        init(backingData: any BackingData<Ant>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
    }
}

/// The same without the entity that has the first name again.
private enum Last: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Chain3.Cow.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
}

private enum Chain: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Chain1.self, Chain2.self, Chain3.self] }
    static var stages: [MigrationStage] { [] }
}

/// Knows nothing of the first version, but which one it is most like.
private enum Adopting: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Chain2.self, Last.self] }
    static var stages: [MigrationStage] { [] }
    static var migrationOptions: MigrationOptions {
        var options = MigrationOptions()
        options.adopting = Chain2.self
        return options
    }
}

private enum Late: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Chain2.self, Last.self] }
    static var stages: [MigrationStage] { [] }
}

extension MigrationTests {
    @Suite(.serialized) struct RenameChainTests {
        enum Kind: CaseIterable { case json, log, memory, csv }

        private final class Place {
            let configuration: any MigratableConfiguration
            private let folder: URL?

            init(_ kind: Kind) throws {
                folder =
                    kind == .csv
                    ? FileManager.default.temporaryDirectory.appending(path: "chain-\(UUID().uuidString)") : nil
                switch kind {
                case .json: configuration = try MigrationWorld(.json).configuration()
                case .log: configuration = try MigrationWorld(.log).configuration()
                case .memory: configuration = InMemoryConfiguration("memory", storage: InMemoryStorage())
                case .csv: configuration = CSVConfiguration(folder: folder ?? URL(fileURLWithPath: "/"))
                }
                if let folder { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
            }

            deinit { if let folder { try? FileManager.default.removeItem(at: folder) } }

            func open(_ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?) throws
                -> ModelContainer
            {
                try ModelContainer(
                    for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [configuration])
            }

            /// Two ants, of which the second leads to the first.
            func fill() throws -> [PersistentIdentifier] {
                let container = try open(Chain1.self, nil)
                let context = ModelContext(container)
                let first = Chain1.Ant("one", next: nil)
                context.insert(first)
                try context.save()
                let second = Chain1.Ant("two", next: first)
                context.insert(second)
                try context.save()
                defer { try? container.close() }
                return [first, second].map(\.persistentModelID)
            }
        }

        private func expectCows(
            _ context: ModelContext, _ ants: [PersistentIdentifier], bees: [PersistentIdentifier] = []
        )
            throws
        {
            let cows = try context.fetch(FetchDescriptor<Chain3.Cow>())
            #expect(cows.map(\.c) == ["one", "two"])
            #expect(cows.last?.next === cows.first)
            #expect(cows.map { $0.persistentModelID.sequenceNumber } == ants.map(\.sequenceNumber))
            // Whatever name an identifier has that was written down, with a new entity of the first name there.
            for (ant, cow) in zip(ants + bees, cows + cows) {
                #expect(context.model(for: ant) === cow)
                #expect(try context.existingModel(for: ant, as: Chain3.Cow.self) === cow)
                #expect(
                    try context.fetch(
                        FetchDescriptor<Chain3.Cow>(predicate: #Predicate { $0.persistentModelID == ant })) == [cow])
            }
            let first = ants[0]
            #expect(
                try context.fetchCount(
                    FetchDescriptor<Chain3.Cow>(predicate: #Predicate { $0.next?.persistentModelID == first })) == 1)
        }

        @Test(arguments: Kind.allCases, [true, false])
        func aPlanLeadsThroughAllNames(_ kind: Kind, stepwise: Bool) throws {
            let place = try Place(kind)
            let ants = try place.fill()
            var bees: [PersistentIdentifier] = []
            if stepwise {
                let container = try place.open(Chain2.self, Chain.self)
                let context = ModelContext(container)
                let found = try context.fetch(FetchDescriptor<Chain2.Bee>())
                #expect(found.map(\.b) == ["one", "two"])
                bees = found.map(\.persistentModelID)
                #expect(context.model(for: ants[1]) === found[1])
                try container.close()
            }
            for opening in 0..<2 {
                let container = try place.open(Chain3.self, Chain.self)
                let context = ModelContext(container)
                try expectCows(context, ants, bees: bees)
                if opening == 0 {
                    let ant = Chain3.Ant("new")
                    context.insert(ant)
                    try context.save()
                    #expect(context.model(for: ant.persistentModelID) === ant)
                }
                try container.close()
            }
        }

        /// Defect that this prevents: the records of the first version were dropped, since nothing said what became of them.
        @Test(arguments: Kind.allCases) func withoutThePlanTheErrorSaysWhatToDo(_ kind: Kind) throws {
            let place = try Place(kind)
            let ants = try place.fill()
            let error = #expect(throws: MigrationError.self) { try place.open(Last.self, nil) }
            let found = error?.cause
            if case .unknownOrigin(_, let name, let original, let candidates)? = found {
                #expect([name, original] == ["Cow", "Bee"] && candidates == ["Ant"])
                #expect("\(found ?? .storeGone(store: ""))".contains("version in between"))
            } else {
                Issue.record("\(String(describing: error))")
            }
            // A plan that begins later does not know the store.
            #expect {
                try place.open(Last.self, Late.self)
            } throws: { error in
                guard case MigrationError.unknownVersion(_, Schema.Version(1, 0, 0), _, _) = error else { return false }
                return SwiftDataError.loadIssueModelContainer ~= error
            }
            #expect(try place.configuration.storedSchema()?.version == Schema.Version(1, 0, 0))
            let container = try place.open(Last.self, Adopting.self)
            try expectCows(ModelContext(container), ants)
            try container.close()
        }
    }
}

extension MigrationError {
    /// What a stage failed with, where it is one of these.
    fileprivate var cause: MigrationError {
        if case .stageFailed(let failure) = self, let error = failure.underlying as? MigrationError {
            error
        } else {
            self
        }
    }
}
