import CustomStore
import Foundation
import MortiseCore
import MortiseEngine
import Synchronization
import Testing

/// What a migration by copying must not pass over.
extension MigrationTests {
    @Suite struct CopyingRefusalTests {
        private typealias Allowing = CopyingTests.Allowing

        private func open(
            _ version: any VersionedSchema.Type, _ plan: (any SchemaMigrationPlan.Type)?,
            _ configuration: any DataStoreConfiguration
        ) throws -> ModelContainer {
            try ModelContainer(
                for: Schema(versionedSchema: version), migrationPlan: plan, configurations: [configuration])
        }

        private func filled() throws -> (AppleShapedDisk, ReplaceableAppleShapedConfiguration) {
            let disk = AppleShapedDisk()
            let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
            try CopyingTests.fill(configuration)
            return (disk, configuration)
        }

        private func paths(_ disk: AppleShapedDisk) -> Set<String> { disk.tables.withLock { Set($0.keys) } }

        private func isContractFault(_ error: any Error) -> Bool {
            if case ModelContextError.storeContract = error { true } else { false }
        }

        @Test func whatAnotherSavesMeanwhileIsNotLost() throws {
            let (disk, configuration) = try filled()
            disk.saved.withLock { saved in
                saved = { path in
                    guard path == "store.new" else { return }
                    disk.saved.withLock { $0 = nil }
                    #expect(throws: Never.self) {
                        let other = try ModelContainer(
                            for: Schema(versionedSchema: V1.self), configurations: [configuration])
                        let context = ModelContext(other)
                        context.insert(V1.Traveler("Eve Eaton", mail: "e@x"))
                        try context.save()
                    }
                }
            }
            #expect(throws: MigrationError.changedMeanwhile(store: "apple")) {
                try open(V2.self, Allowing.self, configuration)
            }
            #expect(paths(disk) == ["store"])
            let container = try open(V2.self, Allowing.self, configuration)
            #expect(try ModelContext(container).fetch(FetchDescriptor<V2.Traveler>()).map(\.first).contains("Eve"))
            try container.close()
        }

        /// Where replacing fails, the new store may be all that there is.
        @Test func theNewStoreStaysWhereReplacingFailed() throws {
            let (disk, configuration) = try filled()
            disk.failsToReplace.withLock { $0 = true }
            #expect(throws: CocoaError.self) { try open(V2.self, Allowing.self, configuration) }
            #expect(paths(disk) == ["store", "store.new"])
            disk.failsToReplace.withLock { $0 = false }
            try open(V2.self, Allowing.self, configuration).close()
            #expect(paths(disk) == ["store", "store.old.1"])
        }

        @Test func aStoreWithoutRecordsComesToTheNextVersion() throws {
            let disk = AppleShapedDisk()
            let configuration = ReplaceableAppleShapedConfiguration(disk: disk)
            let old = try open(V1.self, nil, configuration)
            let context = ModelContext(old)
            let traveler = V1.Traveler("Ada Lovelace")
            context.insert(traveler)
            try context.save()
            context.delete(traveler)
            try context.save()
            try old.close()
            let saves = Saves()
            disk.saved.withLock { $0 = { path in saves.all.withLock { $0.append(path) } } }
            // Nobody has written down an identifier.
            let container = try open(V2.self, Plans.Two.self, configuration)
            // Stores of other kinds are not there before something was saved.
            #expect(saves.all.withLock { $0 } == ["store.new"])
            #expect(try ModelContext(container).fetchCount(FetchDescriptor<V2.Traveler>()) == 0)
            try container.close()
            #expect(try configuration.storedSchema()?.version == Schema.Version(2, 0, 0))
        }

        /// A store that does not say what it holds might have needed the plan's code.
        @Test func codeIsNotPassedOverWhereNoSchemaIsTold() throws {
            let (disk, configuration) = try filled()
            disk.hidesSchema.withLock { $0 = true }
            Plans.runs = []
            #expect(throws: MigrationError.plansNotRun(store: "apple", stage: Schema.Version(2, 0, 0))) {
                try open(V2.self, Plans.Two.self, configuration)
            }
            #expect(Plans.runs.isEmpty && paths(disk) == ["store"])
            let empty = AppleShapedDisk()
            empty.hidesSchema.withLock { $0 = true }
            try open(V2.self, Plans.Two.self, ReplaceableAppleShapedConfiguration(disk: empty)).close()
        }

        @Test func identifiersThatAreLeftOutReplaceNothing() throws {
            let (disk, configuration) = try filled()
            disk.hidesIdentifiers.withLock { $0 = true }
            #expect { try open(V2.self, Allowing.self, configuration) } throws: { isContractFault($0) }
            #expect(paths(disk) == ["store"])
        }

        // MARK: What only the engine sees

        @Test func aDefaultThatManyRecordsWouldShareIsRefused() throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "copying-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let configuration = CSVConfiguration(folder: folder)
            let old = try ModelContainer(
                for: Schema([Loose.Doc.self], version: Schema.Version(1, 0, 0)), configurations: [configuration])
            let context = ModelContext(old)
            for _ in 0..<2 { context.insert(Loose.Doc()) }
            try context.save()
            try old.close()
            #expect(throws: MigrationError.self) {
                try ModelContainer(
                    for: Schema([Strict.Doc.self], version: Schema.Version(2, 0, 0)), configurations: [configuration])
            }
            #expect(try configuration.storedSchema()?.version == Schema.Version(1, 0, 0))
        }
    }
}

private final class Saves: Sendable {
    let all = Mutex<[String]>([])
}

private enum Loose {
    final class Doc: PersistentModel {
        var persistentBackingData: any BackingData<Doc> = Doc.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "mail", keypath: \Doc.mail, metadata: Schema.Attribute(.unique))]
        }
        init(backingData: any BackingData<Doc>) { persistentBackingData = backingData }
        init() {}
        var mail: String? {
            get { getValue(forKey: \.mail) }
            set { setValue(forKey: \.mail, to: newValue) }
        }
    }
}

private enum Strict {
    final class Doc: PersistentModel {
        var persistentBackingData: any BackingData<Doc> = Doc.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "mail", keypath: \Doc.mail, defaultValue: "", metadata: Schema.Attribute(.unique))]
        }
        init(backingData: any BackingData<Doc>) { persistentBackingData = backingData }
        var mail: String {
            get { getValue(forKey: \.mail) }
            set { setValue(forKey: \.mail, to: newValue) }
        }
    }
}
