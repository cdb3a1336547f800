import Foundation
import MortiseCore

/// Three versions of an app's models, and the plan that leads from each to the next.
enum V1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Traveler.self, Trip.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    final class Traveler: PersistentModel {
        var persistentBackingData: any BackingData<Traveler> = Traveler.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Traveler.name), .init(name: "mail", keypath: \Traveler.mail),
                .init(
                    name: "trips", keypath: \Traveler.trips, defaultValue: [Trip](),
                    metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Trip.traveler)),
            ]
        }
        init(backingData: any BackingData<Traveler>) { persistentBackingData = backingData }
        init(_ name: String, mail: String? = nil) {
            self.name = name
            self.mail = mail
        }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var mail: String? {
            get { getValue(forKey: \.mail) }
            set { setValue(forKey: \.mail, to: newValue) }
        }
        var trips: [Trip] {
            get { getValue(forKey: \.trips) }
            set { setValue(forKey: \.trips, to: newValue) }
        }
    }

    final class Trip: PersistentModel {
        var persistentBackingData: any BackingData<Trip> = Trip.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "title", keypath: \Trip.title), .init(name: "price", keypath: \Trip.price),
                .init(name: "note", keypath: \Trip.note),
                .init(name: "map", keypath: \Trip.map, metadata: Schema.Attribute(.externalStorage)),
                .init(name: "traveler", keypath: \Trip.traveler),
            ]
        }
        init(backingData: any BackingData<Trip>) { persistentBackingData = backingData }
        init(_ title: String, price: Double, note: String? = nil, map: Data? = nil, traveler: Traveler? = nil) {
            self.title = title
            self.price = price
            self.note = note
            self.map = map
            self.traveler = traveler
        }
        var title: String {
            get { getValue(forKey: \.title) }
            set { setValue(forKey: \.title, to: newValue) }
        }
        var price: Double {
            get { getValue(forKey: \.price) }
            set { setValue(forKey: \.price, to: newValue) }
        }
        var note: String? {
            get { getValue(forKey: \.note) }
            set { setValue(forKey: \.note, to: newValue) }
        }
        var map: Data? {
            get { getValue(forKey: \.map) }
            set { setValue(forKey: \.map, to: newValue) }
        }
        var traveler: Traveler? {
            get { getValue(forKey: \.traveler) }
            set { setValue(forKey: \.traveler, to: newValue) }
        }
    }
}

/// Mail addresses are unique, names have parts, `title` is `name`, and `note` is gone.
enum V2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Traveler.self, Trip.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    final class Traveler: PersistentModel {
        var persistentBackingData: any BackingData<Traveler> = Traveler.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "first", keypath: \Traveler.first, defaultValue: ""),
                .init(name: "last", keypath: \Traveler.last, defaultValue: ""),
                .init(name: "name", keypath: \Traveler.name),
                .init(name: "mail", keypath: \Traveler.mail, metadata: Schema.Attribute(.unique)),
                .init(
                    name: "trips", keypath: \Traveler.trips, defaultValue: [Trip](),
                    metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Trip.traveler)),
            ]
        }
        init(backingData: any BackingData<Traveler>) { persistentBackingData = backingData }
        init(_ first: String, _ last: String, mail: String? = nil) {
            self.first = first
            self.last = last
            self.name = "\(first) \(last)"
            self.mail = mail
        }
        var first: String {
            get { getValue(forKey: \.first) }
            set { setValue(forKey: \.first, to: newValue) }
        }
        var last: String {
            get { getValue(forKey: \.last) }
            set { setValue(forKey: \.last, to: newValue) }
        }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var mail: String? {
            get { getValue(forKey: \.mail) }
            set { setValue(forKey: \.mail, to: newValue) }
        }
        var trips: [Trip] {
            get { getValue(forKey: \.trips) }
            set { setValue(forKey: \.trips, to: newValue) }
        }
    }

    final class Trip: PersistentModel {
        var persistentBackingData: any BackingData<Trip> = Trip.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Trip.name, metadata: Schema.Attribute(originalName: "title")),
                .init(name: "price", keypath: \Trip.price),
                .init(name: "map", keypath: \Trip.map, metadata: Schema.Attribute(.externalStorage)),
                .init(name: "traveler", keypath: \Trip.traveler),
            ]
        }
        init(backingData: any BackingData<Trip>) { persistentBackingData = backingData }
        init(_ name: String, price: Double, traveler: Traveler? = nil) {
            self.name = name
            self.price = price
            self.map = nil
            self.traveler = traveler
        }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var price: Double {
            get { getValue(forKey: \.price) }
            set { setValue(forKey: \.price, to: newValue) }
        }
        var map: Data? {
            get { getValue(forKey: \.map) }
            set { setValue(forKey: \.map, to: newValue) }
        }
        var traveler: Traveler? {
            get { getValue(forKey: \.traveler) }
            set { setValue(forKey: \.traveler, to: newValue) }
        }
    }
}

/// Trips have a `note` again, which is another one, and travelers no longer their whole name.
enum V3: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Traveler.self, Trip.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(3, 0, 0) }

    final class Traveler: PersistentModel {
        var persistentBackingData: any BackingData<Traveler> = Traveler.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "first", keypath: \Traveler.first, defaultValue: ""),
                .init(name: "last", keypath: \Traveler.last, defaultValue: ""),
                .init(name: "mail", keypath: \Traveler.mail, metadata: Schema.Attribute(.unique)),
                .init(
                    name: "trips", keypath: \Traveler.trips, defaultValue: [Trip](),
                    metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Trip.traveler)),
            ]
        }
        init(backingData: any BackingData<Traveler>) { persistentBackingData = backingData }
        var first: String {
            get { getValue(forKey: \.first) }
            set { setValue(forKey: \.first, to: newValue) }
        }
        var last: String {
            get { getValue(forKey: \.last) }
            set { setValue(forKey: \.last, to: newValue) }
        }
        var mail: String? {
            get { getValue(forKey: \.mail) }
            set { setValue(forKey: \.mail, to: newValue) }
        }
        var trips: [Trip] {
            get { getValue(forKey: \.trips) }
            set { setValue(forKey: \.trips, to: newValue) }
        }
    }

    final class Trip: PersistentModel {
        var persistentBackingData: any BackingData<Trip> = Trip.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Trip.name, metadata: Schema.Attribute(originalName: "title")),
                .init(name: "price", keypath: \Trip.price), .init(name: "note", keypath: \Trip.note),
                .init(name: "map", keypath: \Trip.map, metadata: Schema.Attribute(.externalStorage)),
                .init(name: "traveler", keypath: \Trip.traveler),
            ]
        }
        init(backingData: any BackingData<Trip>) { persistentBackingData = backingData }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
        var price: Double {
            get { getValue(forKey: \.price) }
            set { setValue(forKey: \.price, to: newValue) }
        }
        var note: String? {
            get { getValue(forKey: \.note) }
            set { setValue(forKey: \.note, to: newValue) }
        }
        var map: Data? {
            get { getValue(forKey: \.map) }
            set { setValue(forKey: \.map, to: newValue) }
        }
        var traveler: Traveler? {
            get { getValue(forKey: \.traveler) }
            set { setValue(forKey: \.traveler, to: newValue) }
        }
    }
}

/// Plans whose code counts how often it runs, and may be told to fail.
enum Plans {
    nonisolated(unsafe) static var runs: [String] = []
    nonisolated(unsafe) static var failing: String?
    struct Refused: Error, Hashable {}

    static func note(_ part: String) throws {
        runs.append(part)
        if failing == part { throw Refused() }
    }

    /// Travelers with one mail address become one.
    static func unite(_ context: ModelContext) throws {
        var known: [String: V1.Traveler] = [:]
        for traveler in try context.fetch(FetchDescriptor<V1.Traveler>()) {
            guard let mail = traveler.mail else { continue }
            if let first = known[mail] {
                for trip in traveler.trips { trip.traveler = first }
                try context.save()
                context.delete(traveler)
            } else {
                known[mail] = traveler
            }
        }
        try context.save()
        try note("will 2")
    }

    /// Names become their parts; what is left unsaved is saved all the same.
    static func split(_ context: ModelContext) throws {
        for traveler in try context.fetch(FetchDescriptor<V2.Traveler>()) {
            let parts = traveler.name.split(separator: " ")
            traveler.first = parts.first.map(String.init) ?? ""
            traveler.last = parts.dropFirst().joined(separator: " ")
        }
        try note("did 2")
    }

    static var toSecond: MigrationStage {
        .custom(fromVersion: V1.self, toVersion: V2.self, willMigrate: unite, didMigrate: split)
    }

    enum Two: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] { [toSecond] }
    }

    enum Three: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
        static var stages: [MigrationStage] { [toSecond, .lightweight(fromVersion: V2.self, toVersion: V3.self)] }
    }

    /// No stage has code, and still the way matters: `note` goes and comes again.
    enum Plain: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V3.self] }
        static var stages: [MigrationStage] {
            [
                .lightweight(fromVersion: V1.self, toVersion: V2.self),
                .lightweight(fromVersion: V2.self, toVersion: V3.self),
            ]
        }
    }
}
