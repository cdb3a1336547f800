import Foundation
import MortiseCore

/// Three versions of an app's harbours and ships.
enum Fleet {
    /// Version 1.
    enum Version1: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
        static var models: [any PersistentModel.Type] { [Harbour.self, Ship.self] }

        final class Harbour: PersistentModel {
            var persistentBackingData: any BackingData<Harbour> = Harbour.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "remark", keypath: \Harbour.remark), .init(name: "name", keypath: \Harbour.name),
                    .init(name: "mail", keypath: \Harbour.mail), .init(name: "depth", keypath: \Harbour.depth),
                    .init(
                        name: "ships", keypath: \Harbour.ships, defaultValue: [Ship](),
                        metadata: Schema.Relationship(inverse: \Ship.harbour)),
                ]
            }
            init(backingData: any BackingData<Harbour>) { persistentBackingData = backingData }
            init(_ name: String, mail: String?, depth: Int, remark: String?) {
                self.name = name
                self.mail = mail
                self.depth = depth
                self.remark = remark
            }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var mail: String? {
                get { getValue(forKey: \.mail) }
                set { setValue(forKey: \.mail, to: newValue) }
            }

            var depth: Int {
                get { getValue(forKey: \.depth) }
                set { setValue(forKey: \.depth, to: newValue) }
            }

            var remark: String? {
                get { getValue(forKey: \.remark) }
                set { setValue(forKey: \.remark, to: newValue) }
            }

            var ships: [Ship] {
                get { getValue(forKey: \.ships) }
                set { setValue(forKey: \.ships, to: newValue) }
            }
        }

        final class Ship: PersistentModel {
            var persistentBackingData: any BackingData<Ship> = Ship.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [.init(name: "title", keypath: \Ship.title), .init(name: "harbour", keypath: \Ship.harbour)]
            }
            init(backingData: any BackingData<Ship>) { persistentBackingData = backingData }
            init(_ title: String, in harbour: Harbour?) {
                self.title = title
                self.harbour = harbour
            }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }

            var harbour: Harbour? {
                get { getValue(forKey: \.harbour) }
                set { setValue(forKey: \.harbour, to: newValue) }
            }
        }
    }

    /// Version 2: remarks are gone, titles are names, and ships have a flag.
    enum Version2: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
        static var models: [any PersistentModel.Type] { [Harbour.self, Ship.self] }

        final class Harbour: PersistentModel {
            var persistentBackingData: any BackingData<Harbour> = Harbour.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \Harbour.name), .init(name: "mail", keypath: \Harbour.mail),
                    .init(name: "depth", keypath: \Harbour.depth),
                    .init(
                        name: "ships", keypath: \Harbour.ships, defaultValue: [Ship](),
                        metadata: Schema.Relationship(inverse: \Ship.harbour)),
                ]
            }
            init(backingData: any BackingData<Harbour>) { persistentBackingData = backingData }
            init(_ name: String, depth: Int) {
                self.name = name
                self.mail = nil
                self.depth = depth
            }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var mail: String? {
                get { getValue(forKey: \.mail) }
                set { setValue(forKey: \.mail, to: newValue) }
            }

            var depth: Int {
                get { getValue(forKey: \.depth) }
                set { setValue(forKey: \.depth, to: newValue) }
            }

            var ships: [Ship] {
                get { getValue(forKey: \.ships) }
                set { setValue(forKey: \.ships, to: newValue) }
            }
        }

        final class Ship: PersistentModel {
            var persistentBackingData: any BackingData<Ship> = Ship.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "flag", keypath: \Ship.flag, defaultValue: "none"),
                    .init(name: "name", keypath: \Ship.name, metadata: Schema.Attribute(originalName: "title")),
                    .init(name: "harbour", keypath: \Ship.harbour),
                ]
            }
            init(backingData: any BackingData<Ship>) { persistentBackingData = backingData }
            init(_ name: String, in harbour: Harbour?) {
                self.name = name
                self.flag = "new"
                self.harbour = harbour
            }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var flag: String {
                get { getValue(forKey: \.flag) }
                set { setValue(forKey: \.flag, to: newValue) }
            }

            var harbour: Harbour? {
                get { getValue(forKey: \.harbour) }
                set { setValue(forKey: \.harbour, to: newValue) }
            }
        }
    }

    /// Version 3: depths are texts, and mail addresses are unique.
    enum Version3: VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }
        static var models: [any PersistentModel.Type] { [Harbour.self, Ship.self] }

        final class Harbour: PersistentModel {
            var persistentBackingData: any BackingData<Harbour> = Harbour.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \Harbour.name),
                    .init(name: "mail", keypath: \Harbour.mail, metadata: Schema.Attribute(.unique)),
                    .init(name: "depth", keypath: \Harbour.depth),
                    .init(
                        name: "ships", keypath: \Harbour.ships, defaultValue: [Ship](),
                        metadata: Schema.Relationship(inverse: \Ship.harbour)),
                ]
            }
            init(backingData: any BackingData<Harbour>) { persistentBackingData = backingData }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var mail: String? {
                get { getValue(forKey: \.mail) }
                set { setValue(forKey: \.mail, to: newValue) }
            }

            var depth: String {
                get { getValue(forKey: \.depth) }
                set { setValue(forKey: \.depth, to: newValue) }
            }

            var ships: [Ship] {
                get { getValue(forKey: \.ships) }
                set { setValue(forKey: \.ships, to: newValue) }
            }
        }

        final class Ship: PersistentModel {
            var persistentBackingData: any BackingData<Ship> = Ship.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "flag", keypath: \Ship.flag, defaultValue: "none"),
                    .init(name: "name", keypath: \Ship.name), .init(name: "harbour", keypath: \Ship.harbour),
                ]
            }
            init(backingData: any BackingData<Ship>) { persistentBackingData = backingData }

            var name: String {
                get { getValue(forKey: \.name) }
                set { setValue(forKey: \.name, to: newValue) }
            }

            var flag: String {
                get { getValue(forKey: \.flag) }
                set { setValue(forKey: \.flag, to: newValue) }
            }

            var harbour: Harbour? {
                get { getValue(forKey: \.harbour) }
                set { setValue(forKey: \.harbour, to: newValue) }
            }
        }
    }
}

extension Fleet {
    /// What the stages do in one case. Code of stages runs on the thread that opens the storage, which is the case's.
    ///
    /// @unchecked Sendable: it does not leave that thread.
    struct Script: @unchecked Sendable {
        @TaskLocal static var current = Script()

        var before: ((ModelContext) throws -> Void)?
        var after: ((ModelContext) throws -> Void)?
        var mapping = MigrationMapping.inferred.converting("Harbour.depth", .exactly)
        var duplicates: [DuplicateRule] = [.keep(.first, on: "Harbour", ["mail"])]
        var migrate: ((MigrationSource, MigrationTarget) throws -> Void)?
        var validate: ((MigrationSource, MigrationSource) throws -> Void)?
        var options = MigrationOptions()
    }

    /// From version 1 to 2: a stage with code if the script has some.
    enum ToSecond: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Version1.self, Version2.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    fromVersion: Version1.self, toVersion: Version2.self, willMigrate: Script.current.before,
                    didMigrate: Script.current.after)
            ]
        }
        static var migrationOptions: MigrationOptions { Script.current.options }
    }

    /// From version 1 over 2 to 3.
    enum ToThird: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [Version1.self, Version2.self, Version3.self] }
        static var stages: [MigrationStage] {
            ToSecond.stages + [
                .custom(
                    from: Version2.self, to: Version3.self, mapping: Script.current.mapping,
                    duplicates: Script.current.duplicates, migrate: { try Script.current.migrate?($0, $1) },
                    validate: { try Script.current.validate?($0, $1) })
            ]
        }
        static var migrationOptions: MigrationOptions { Script.current.options }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String { "The stage of the plan fails, as it was made to." }
    }
}
