import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// Which stages of a plan lead from a store to a program, and why none do.
extension MigrationTests {
    private static func version(_ major: Int, _ minor: Int = 0) -> Schema.Version { Schema.Version(major, minor, 0) }

    /// Stages that count, over versions with the models of V1 to V3.
    private enum One: VersionedSchema {
        static var models: [any PersistentModel.Type] { V1.models }
        static var versionIdentifier: Schema.Version { version(1) }
    }
    /// The same models under another number: only values change.
    private enum OneNine: VersionedSchema {
        static var models: [any PersistentModel.Type] { V1.models }
        static var versionIdentifier: Schema.Version { version(1, 9) }
    }
    private enum OneTen: VersionedSchema {
        static var models: [any PersistentModel.Type] { V1.models }
        static var versionIdentifier: Schema.Version { version(1, 10) }
    }
    private enum Two: VersionedSchema {
        static var models: [any PersistentModel.Type] { V2.models }
        static var versionIdentifier: Schema.Version { version(2) }
    }
    private enum Three: VersionedSchema {
        static var models: [any PersistentModel.Type] { V3.models }
        static var versionIdentifier: Schema.Version { version(3) }
    }
    /// The number of another version.
    private enum Twin: VersionedSchema {
        static var models: [any PersistentModel.Type] { V3.models }
        static var versionIdentifier: Schema.Version { version(2) }
    }

    /// Whether stages have no code.
    nonisolated(unsafe) private static var isLightweight = false

    private static func stage(
        _ from: any VersionedSchema.Type, _ to: any VersionedSchema.Type, unites: Bool = false
    ) -> MigrationStage {
        if isLightweight { return .lightweight(fromVersion: from, toVersion: to) }
        let before: ((ModelContext) throws -> Void)? = unites ? { try Plans.unite($0) } : nil
        let step = "\(from.versionIdentifier) to \(to.versionIdentifier)"
        return .custom(fromVersion: from, toVersion: to, willMigrate: before) { _ in try Plans.note(step) }
    }

    private enum InAnyOrder: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Two.self, One.self] }
        static var stages: [MigrationStage] {
            [
                stage(OneTen.self, Two.self, unites: true), stage(One.self, OneNine.self),
                stage(OneNine.self, OneTen.self), stage(Two.self, Three.self),
            ]
        }
    }

    /// Stages in any order, versions that only stages name, and 1.10.0 after 1.9.0.
    @Test func stagesRunInTheOrderOfTheirVersions() throws {
        let all = ["1.0.0 to 1.9.0", "1.9.0 to 1.10.0"]
        let starts: [any VersionedSchema.Type] = [One.self, OneNine.self, OneTen.self]
        for (number, start) in starts.enumerated() {
            let runs = Array(all.dropFirst(number))
            let world = try MigrationWorld(.log)
            _ = try world.fill(under: Schema(versionedSchema: start))
            Plans.runs = []
            try world.open(Two.self, InAnyOrder.self).close()
            let due: [String] = runs + ["will 2", "1.10.0 to 2.0.0"]
            #expect(Plans.runs == due)
            try world.open(Two.self, InAnyOrder.self).close()
            #expect(Plans.runs == due)
            try world.open(Three.self, InAnyOrder.self).close()
            #expect(Plans.runs.last == "2.0.0 to 3.0.0")
        }
    }

    private enum ValuesOnly: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, OneNine.self] }
        static var stages: [MigrationStage] { [stage(One.self, OneNine.self)] }
    }

    /// Defect that this prevents: a stage between equal models was passed over, or ran at each opening.
    @Test(arguments: MigrationWorld.Kind.allCases)
    func aStageBetweenEqualModelsRunsOnce(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        _ = try world.fill()
        Plans.runs = []
        for _ in 0..<3 { try world.open(OneNine.self, ValuesOnly.self).close() }
        #expect(Plans.runs == ["1.0.0 to 1.9.0"])
        #expect(try world.configuration().storedSchema()?.version == Self.version(1, 9))
        // A store that is new is of the version that the program asks for.
        let other = try MigrationWorld(kind)
        try other.open(OneNine.self, ValuesOnly.self).close()
        #expect(Plans.runs.count == 1)
    }

    private enum Unordered: VersionedSchema {
        static var models: [any PersistentModel.Type] { V1.models }
        static var versionIdentifier: Schema.Version { version(1, 5) }
    }
    private enum TwoOfOneKind: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [OneNine.self, OneTen.self, Two.self] }
        static var stages: [MigrationStage] {
            [stage(OneNine.self, OneTen.self), stage(OneTen.self, Two.self, unites: true)]
        }
    }
    private enum Backward: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self] }
        static var stages: [MigrationStage] { [stage(Two.self, One.self)] }
    }
    private enum Circle: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self] }
        static var stages: [MigrationStage] { [stage(One.self, One.self)] }
    }
    private enum Ambiguous: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self, Three.self] }
        static var stages: [MigrationStage] {
            [stage(One.self, Two.self), stage(Two.self, Three.self), stage(One.self, Three.self)]
        }
    }
    private enum Twice: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self, Twin.self] }
        static var stages: [MigrationStage] { [stage(One.self, Two.self)] }
    }
    private enum Gap: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self, Three.self] }
        static var stages: [MigrationStage] { [stage(One.self, Three.self)] }
    }
    private enum Short: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [One.self, Two.self] }
        static var stages: [MigrationStage] { [stage(One.self, Two.self, unites: true)] }
    }
    private enum Late: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Two.self, Three.self] }
        static var stages: [MigrationStage] { [stage(Two.self, Three.self)] }
    }
    private enum Edited: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Changed.self, Two.self] }
        static var stages: [MigrationStage] { [stage(Changed.self, Two.self)] }
    }
    private enum Changed: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Later.Note.self] }
        static var versionIdentifier: Schema.Version { version(1) }
    }

    /// Each leaves the store as it is, also where no stage has code.
    @Test(arguments: [false, true]) func plansThatLeadNowhereAreRefusedByName(isLightweight: Bool) throws {
        Self.isLightweight = isLightweight
        defer { Self.isLightweight = false }
        func refusal(
            _ plan: any SchemaMigrationPlan.Type, to target: any VersionedSchema.Type = Two.self,
            from start: any VersionedSchema.Type = One.self
        ) throws -> MigrationError? {
            let world = try MigrationWorld(.log)
            _ = try world.fill(under: Schema(versionedSchema: start), withDuplicates: !isLightweight)
            let before = try world.files()
            defer { #expect((try? world.files()) == before) }
            do {
                try world.open(target, plan).close()
                return nil
            } catch let error as MigrationError {
                return error
            }
        }
        #expect(try refusal(Backward.self) == .backwardStage(from: Self.version(2), to: Self.version(1)))
        #expect(try refusal(Circle.self) == .backwardStage(from: Self.version(1), to: Self.version(1)))
        #expect(
            try refusal(Ambiguous.self, to: Three.self) == .ambiguousPath(from: Self.version(1), to: Self.version(3)))
        #expect(try refusal(Twice.self) == .duplicateVersion(Self.version(2)))
        #expect(try refusal(Gap.self, to: Two.self) == .missingStage(from: Self.version(1), to: Self.version(2)))
        #expect(
            try refusal(TwoOfOneKind.self, from: Unordered.self)
                == .ambiguousVersion(
                    store: "trips", stored: Self.version(1, 5), candidates: [Self.version(1, 9), Self.version(1, 10)]))
        guard
            case .unknownVersion("trips", Self.version(1), Self.version(2), let unknown)? = try refusal(
                Late.self, to: Three.self)
        else {
            Issue.record("A store that no version has is taken")
            return
        }
        #expect(unknown.contains("Traveler.first (string) is missing"))
        #expect(unknown.contains("Traveler has other unique constraints than expected"))
        guard case .versionChanged("trips", Self.version(1), let changed)? = try refusal(Edited.self) else {
            Issue.record("A version whose models were changed is taken")
            return
        }
        #expect(changed == ["Note is missing", "Traveler is not expected", "Trip is not expected"])
        guard
            case .targetNotInPlan(Self.version(3), Self.version(2), let target)? = try refusal(Short.self, to: V3.self)
        else {
            Issue.record("A program that no version has is taken")
            return
        }
        #expect(target == ["Traveler.name (string) is missing", "Trip.note (optional string) is not expected"])
        let newer = try MigrationWorld(.log)
        _ = try newer.fill(withDuplicates: !isLightweight)
        try newer.open(Two.self, Short.self).close()
        #expect(
            throws: MigrationError.newerStore(store: "trips", stored: Self.version(2), program: Self.version(1))
        ) { try newer.open(One.self, Short.self) }
        for error in [
            MigrationError.backwardStage(from: Self.version(2), to: Self.version(1)),
            .duplicateVersion(Self.version(2)),
        ] {
            #expect(error.swiftDataError == .loadIssueModelContainer)
        }
    }

    // MARK: What plans of others do

    nonisolated(unsafe) private static var kept: [PersistentIdentifier: String] = [:]
    nonisolated(unsafe) private static var made: [V2.Trip] = []

    /// They carry identifiers, and new models, from one part of a stage to the other, and try the models of the other version.
    private enum Carrying: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: V1.self, toVersion: V2.self,
                    willMigrate: { context in
                        kept = Dictionary(
                            uniqueKeysWithValues: try context.fetch(FetchDescriptor<V1.Trip>()).map {
                                ($0.persistentModelID, $0.note ?? "")
                            })
                        made = [V2.Trip("Etna", price: 9)]
                        #expect(throws: ModelContextError.self) { try context.fetch(FetchDescriptor<V2.Trip>()) }
                        try Plans.unite(context)
                    },
                    didMigrate: { context in
                        for (identifier, note) in kept {
                            let trip = try #require(context.model(for: identifier) as? V2.Trip)
                            trip.name += " (\(note))"
                        }
                        for trip in made { context.insert(trip) }
                        try? context.save()
                    })
            ]
        }
    }

    @Test(arguments: MigrationWorld.Kind.allCases)
    func whatIsCarriedFromOnePartToTheOtherArrives(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        _ = try world.fill()
        let container = try world.open(V2.self, Carrying.self)
        let names = try ModelContext(container).fetch(FetchDescriptor<V2.Trip>()).map(\.name)
        #expect(names == ["Alps (note 0)", "Bergen (note 1)", "Cadiz (note 2)", "Dover (note 3)", "Etna"])
        try container.close()
        // Values that the new version has no place for were dropped by the plan: the store is kept as it was.
        let copies = try world.disk.list("/data").filter { $0.hasPrefix("trips.schema-1.0.0-") && !$0.contains(".ch") }
        #expect(copies.count >= 1)
        let copy = try world.at("/data/" + (copies.min { $0.count < $1.count } ?? ""))
        let old = try copy.open(V1.self, nil)
        #expect(try ModelContext(old).fetch(FetchDescriptor<V1.Trip>()).map(\.note).count == 4)
        try old.close()
    }

    private enum Swallowing: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: V1.self, toVersion: V2.self, willMigrate: Plans.unite,
                    didMigrate: { context in
                        for traveler in try context.fetch(FetchDescriptor<V2.Traveler>()) {
                            context.insert(V2.Trip(traveler.name, price: -1, traveler: traveler))
                        }
                        context.insert(V2.Traveler("x", "y", mail: "c@x"))
                        for trip in try context.fetch(FetchDescriptor<V2.Trip>()) { context.delete(trip) }
                        try? context.save()
                    })
            ]
        }
    }

    /// What a stage leaves unsaved is saved, and an error of that save refuses the migration: a `try?` swallows nothing.
    @Test func aSaveThatFailedInAStageIsTriedAgain() throws {
        let world = try MigrationWorld(.log)
        _ = try world.fill()
        let container = try world.open(V2.self, Swallowing.self)
        let context = ModelContext(container)
        #expect(try context.fetchCount(FetchDescriptor<V2.Trip>()) == 0)
        // The one with the same address took its values.
        #expect(try context.fetch(FetchDescriptor<V2.Traveler>()).map(\.first) == ["", "", "x"])
        try container.close()
    }
}
