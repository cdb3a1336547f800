import CustomStore
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

/// Stores that cannot bring their records to another schema themselves, and are copied.
extension MigrationTests {
    @Suite struct CopyingTests {
        /// As `MigrationWorld.fill()`, into any store. Travelers with trips come before those without; the last identifier is of a
        /// record that is gone.
        @discardableResult
        static func fill(_ configuration: any DataStoreConfiguration, travelers count: Int = 0) throws
            -> [PersistentIdentifier]
        {
            let container = try ModelContainer(
                for: Schema(versionedSchema: V1.self), configurations: [configuration])
            let context = ModelContext(container)
            let travelers =
                [
                    V1.Traveler("Ada Lovelace", mail: "a@x"), V1.Traveler("A. Lovelace", mail: "a@x"),
                    V1.Traveler("Bob Byron"), V1.Traveler("Cleo", mail: "c@x"),
                ] + (0..<count).map { V1.Traveler("Traveler \($0)", mail: "\($0)@x") }
            // One that is gone leaves a gap in the numbers.
            let gone = V1.Trip("Gone", price: 0)
            context.insert(gone)
            try context.save()
            context.delete(gone)
            for (number, (title, place)) in [("Alps", 0), ("Bergen", 0), ("Cadiz", 1), ("Dover", 3)].enumerated() {
                context.insert(
                    V1.Trip(
                        title, price: Double(number), note: "note \(number)", map: Data([UInt8(number)]),
                        traveler: travelers[place]))
            }
            for traveler in travelers { context.insert(traveler) }
            try context.save()
            let last = V1.Trip("Last", price: 0)
            context.insert(last)
            try context.save()
            let identifiers = travelers.map(\.persistentModelID) + [last.persistentModelID]
            context.delete(last)
            try context.save()
            try container.close()
            return identifiers
        }

        private static func open(
            _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?,
            _ configuration: any DataStoreConfiguration
        ) throws -> ModelContainer {
            try ModelContainer(
                for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [configuration])
        }

        private static func withFolder(_ body: (URL) throws -> Void) throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "copying-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            try body(folder)
        }

        private static func files(_ folder: URL) throws -> [String: Data] {
            var found: [String: Data] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                let file = folder.appending(path: path)
                found[path] = (try? Data(contentsOf: file)) ?? Data()
            }
            return found
        }

        private static func seconds(_ context: ModelContext) throws -> [String] {
            try context.fetch(FetchDescriptor<V2.Traveler>()).map { traveler in
                "\(traveler.first)|\(traveler.last)|\(traveler.mail ?? "-"): "
                    + traveler.trips.map(\.name).sorted().joined(separator: ", ")
            }
        }

        private static let expected = [
            "Ada|Lovelace|a@x: Alps, Bergen, Cadiz", "Cleo||c@x: Dover", "Bob|Byron|-: ",
        ]

        @Test func bothPartsOfAStageRunOnceAndIdentifiersStay() throws {
            try Self.withFolder { folder in
                let configuration = CSVConfiguration(folder: folder)
                let identifiers = try Self.fill(configuration)
                Plans.runs = []
                for _ in 0..<2 {
                    let container = try Self.open(V2.self, Plans.Two.self, configuration)
                    let context = ModelContext(container)
                    #expect(try Self.seconds(context) == Self.expected)
                    #expect(
                        try context.fetch(FetchDescriptor<V2.Traveler>()).map(\.persistentModelID)
                            == [identifiers[0], identifiers[3], identifiers[2]])
                    try container.close()
                }
                #expect(Plans.runs == ["will 2", "did 2"])
                #expect(try configuration.storedSchema()?.version == Schema.Version(2, 0, 0))
                // Numbers of records that are gone are not given again.
                let container = try Self.open(V2.self, nil, configuration)
                let context = ModelContext(container)
                let new = V2.Traveler("Dora", "Dunn")
                context.insert(new)
                try context.save()
                #expect(identifiers.allSatisfy { $0 < new.persistentModelID })
                try container.close()
                // One program at a time, as before.
                #expect(throws: MigrationError.self) { try Self.open(V1.self, Plans.Two.self, configuration) }
            }
        }

        @Test(arguments: ["will 2", "did 2"]) func codeThatThrowsLeavesTheFilesAsTheyWere(_ part: String) throws {
            try Self.withFolder { folder in
                let configuration = CSVConfiguration(folder: folder)
                try Self.fill(configuration)
                let before = try Self.files(folder)
                Plans.failing = part
                defer { Plans.failing = nil }
                #expect(throws: MigrationError.self) { try Self.open(V2.self, Plans.Two.self, configuration) }
                #expect(try Self.files(folder) == before)
                Plans.failing = nil
                let container = try Self.open(V2.self, Plans.Two.self, configuration)
                #expect(try Self.seconds(ModelContext(container)) == Self.expected)
                try container.close()
            }
        }

        /// Defect that this prevents: without a plan, nobody looked at what the next version has no place for.
        @Test func withoutAPlanARaisedVersionDropsAndKeepsACopy() throws {
            try Self.withFolder { folder in
                let configuration = CSVConfiguration(folder: folder)
                let identifiers = try Self.fill(configuration)
                let generations = try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap {
                    Int($0)
                }
                let unraised = Schema([Only.Trip.self], version: Schema.Version(1, 0, 0))
                #expect(throws: MigrationError.self) {
                    try ModelContainer(for: unraised, configurations: [configuration])
                }
                let raised = Schema([Only.Trip.self], version: Schema.Version(2, 0, 0))
                let container = try ModelContainer(for: raised, configurations: [configuration])
                #expect(
                    try ModelContext(container).fetch(FetchDescriptor<Only.Trip>()).map(\.title)
                        == ["Alps", "Bergen", "Cadiz", "Dover"])
                #expect(container.storeIdentifier(forConfigurationNamed: "csv") == identifiers[0].storeIdentifier)
                try container.close()
                let after = try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { Int($0) }
                #expect(Set(after).isSuperset(of: generations) && after.count == generations.count + 1)
            }
        }

        @Test func aPreviewChangesNothing() throws {
            try Self.withFolder { folder in
                let configuration = CSVConfiguration(folder: folder)
                try Self.fill(configuration)
                let before = try Self.files(folder)
                let previews = try ModelContainer.migrationPreview(
                    for: Schema(versionedSchema: V2.self), migrationPlan: Plans.Two.self,
                    configurations: [configuration])
                #expect(previews.map(\.records) == [8] && previews.map(\.keepsIdentifiers) == [true])
                #expect(previews.first?.stages.map(\.hasCode) == [true])
                #expect(try Self.files(folder) == before)
            }
        }

        // MARK: Stores that number anew

        @Test func newIdentifiersHaveToBeAllowed() throws {
            let disk = AppleShapedDisk()
            let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
            let identifiers = try Self.fill(configuration)
            #expect(throws: MigrationError.identifiersWouldChange(store: "apple")) {
                try Self.open(V2.self, Plans.Two.self, configuration)
            }
            let preview = try ModelContainer.migrationPreview(
                for: Schema(versionedSchema: V2.self), migrationPlan: Plans.Two.self, configurations: [configuration])
            #expect(preview.first?.keepsIdentifiers == false && preview.first?.stages.first?.refusal != nil)
            #expect("\(preview[0])".contains("in which records get new identifiers"))
            Plans.runs = []
            for _ in 0..<2 {
                let container = try Self.open(V2.self, Allowing.self, configuration)
                #expect(try Self.seconds(ModelContext(container)) == Self.expected)
                #expect(container.storeIdentifier(forConfigurationNamed: "apple") != identifiers[0].storeIdentifier)
                try container.close()
            }
            #expect(Plans.runs == ["will 2", "did 2"])
            // What has no place any more was kept.
            #expect(disk.tables.withLock { Set($0.keys) } == ["store", "store.old.1"])
        }

        /// A trip leads to a traveler that is written much later.
        @Test func manyRecordsAreWrittenSomeAtATime() throws {
            let disk = AppleShapedDisk()
            let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
            try Self.fill(configuration, travelers: 10_500)
            let old = try Self.open(V1.self, nil, configuration)
            let before = ModelContext(old)
            let dover = try #require(
                try before.fetch(FetchDescriptor<V1.Trip>(predicate: #Predicate { $0.title == "Dover" })).first)
            dover.traveler = try before.fetch(FetchDescriptor<V1.Traveler>()).last
            try before.save()
            try old.close()
            disk.mostInserted.withLock { $0 = 0 }
            let container = try Self.open(V2.self, AllowingWithoutCode.self, configuration)
            let context = ModelContext(container)
            let found = try context.fetch(FetchDescriptor<V2.Traveler>())
            #expect(found.count == 10_503 && found[0].trips.map(\.name).sorted() == ["Alps", "Bergen", "Cadiz"])
            #expect(found.last?.name == "Traveler 10499" && found.last?.trips.map(\.name) == ["Dover"])
            #expect(disk.mostInserted.withLock { $0 } == 10_000)
            try container.close()
        }

        @Test func aStoreThatIsAskedByClassNeedsOne() throws {
            let disk = AppleShapedDisk()
            let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
            try Self.fill(configuration)
            let before = disk.tables.withLock { $0["store"]?.table.count(of: "Traveler") }
            #expect(throws: MigrationError.classNeeded(store: "apple", entity: "Traveler")) {
                try ModelContainer(
                    for: Schema([Only.Trip.self], version: Schema.Version(2, 0, 0)), configurations: [configuration])
            }
            #expect(disk.tables.withLock { $0["store"]?.table.count(of: "Traveler") } == before)
        }

        @Test func aWrongNewStoreReplacesNothing() throws {
            let faults: [@Sendable (DefaultSnapshot) -> DefaultSnapshot?] = [
                { $0.layout.entityName == "Trip" && $0[property: "name"] == .string("Dover") ? nil : $0 },
                { record in
                    guard let slot = record.layout.slot(named: "price") else { return record }
                    var values = record.values
                    values[slot] = .double(7)
                    return DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                },
                { record in
                    guard let slot = record.layout.slot(named: "traveler") else { return record }
                    var values = record.values
                    values[slot] = .null
                    return DefaultSnapshot(
                        persistentIdentifier: record.persistentIdentifier, layout: record.layout, values: values)
                },
            ]
            for (number, fault) in faults.enumerated() {
                let disk = AppleShapedDisk()
                let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
                try Self.fill(configuration)
                disk.spoil.withLock { $0 = fault }
                // A link to a record that comes later is set by a later save, which the third fault leaves alone.
                if number < 2 {
                    #expect {
                        try Self.open(V2.self, Allowing.self, configuration)
                    } throws: { error in
                        if case ModelContextError.storeContract(store: "apple", _) = error { true } else { false }
                    }
                    #expect(disk.tables.withLock { Array($0.keys) } == ["store"])
                    #expect(try configuration.storedSchema()?.version == Schema.Version(1, 0, 0))
                }
                disk.spoil.withLock { $0 = nil }
                let container = try Self.open(V2.self, Allowing.self, configuration)
                #expect(try Self.seconds(ModelContext(container)) == Self.expected)
                try container.close()
            }
        }

        @Test(arguments: 1...3) func aFailedWriteLeavesTheOldStore(_ save: Int) throws {
            let disk = AppleShapedDisk()
            let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
            try Self.fill(configuration)
            disk.failingSave.withLock { $0 = save }
            let outcome = Result { try Self.open(V2.self, Allowing.self, configuration).close() }
            disk.failingSave.withLock { $0 = nil }
            if case .failure = outcome {
                #expect(disk.tables.withLock { Array($0.keys) } == ["store"])
                #expect(try configuration.storedSchema()?.version == Schema.Version(1, 0, 0))
            }
            let container = try Self.open(V2.self, Allowing.self, configuration)
            #expect(try Self.seconds(ModelContext(container)) == Self.expected)
            try container.close()
        }

        // MARK: Stores without a place for a new one

        @Test func aStoreThatNamesNoPlaceIsRefusedWithATypedError() throws {
            let configuration = AppleShapedConfiguration(disk: AppleShapedDisk())
            try Self.fill(configuration)
            Plans.runs = []
            #expect(throws: MigrationError.plansNotRun(store: "apple", stage: Schema.Version(2, 0, 0))) {
                try Self.open(V2.self, Plans.Two.self, configuration)
            }
            #expect(Plans.runs.isEmpty)
            // Nor can it be told what a plan without code has to do.
            #expect(throws: MigrationError.plansNotRun(store: "apple", stage: Schema.Version(2, 0, 0))) {
                try Self.open(V3.self, Plans.Plain.self, configuration)
            }
            #expect(throws: MigrationError.optionsNotFollowed(store: "apple", options: ["adopting", "loss", "copies"]))
            {
                try Self.open(V1.self, Demanding.self, configuration)
            }
            let container = try Self.open(V1.self, nil, configuration)
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<V1.Traveler>()) == 4)
            try container.close()
            // The first version of a plan has nothing before it.
            try Self.open(V1.self, Plans.Plain.self, configuration).close()
        }

        /// Asks for what only a container that migrates the store can do.
        private enum Demanding: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [V1.self] }
            static var stages: [MigrationStage] { [] }
            static var migrationOptions: MigrationOptions {
                var options = MigrationOptions()
                options.adopting = V1.self
                options.loss = .declared
                options.copies = .always
                return options
            }
        }

        enum Allowing: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
            static var stages: [MigrationStage] { [Plans.toSecond] }
            static var migrationOptions: MigrationOptions {
                var options = MigrationOptions()
                options.identifiers = .mayChange
                return options
            }
        }

        enum AllowingWithoutCode: SchemaMigrationPlan {
            static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
            static var stages: [MigrationStage] {
                [
                    .custom(
                        from: V1.self, to: V2.self,
                        duplicates: [.keep(.first, on: "Traveler", ["mail"])])
                ]
            }
            static var migrationOptions: MigrationOptions { Allowing.migrationOptions }
        }
    }
}

/// A trip without all that is around it.
private enum Only {
    final class Trip: PersistentModel {
        var persistentBackingData: any BackingData<Trip> = Trip.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "title", keypath: \Trip.title)] }
        init(backingData: any BackingData<Trip>) { persistentBackingData = backingData }
        var title: String {
            get { getValue(forKey: \.title) }
            set { setValue(forKey: \.title, to: newValue) }
        }
    }
}
