import MortiseCore

/// The records that a killed migration changes, before and after.
enum KilledBefore: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Entry.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    final class Entry: PersistentModel {
        var persistentBackingData: any BackingData<Entry> = Entry.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "number", keypath: \Entry.number), .init(name: "text", keypath: \Entry.text)]
        }
        init(backingData: any BackingData<Entry>) { persistentBackingData = backingData }
        init(number: Int, text: String) {
            self.number = number
            self.text = text
        }

        var number: Int {
            get { getValue(forKey: \.number) }
            set { setValue(forKey: \.number, to: newValue) }
        }
        var text: String {
            get { getValue(forKey: \.text) }
            set { setValue(forKey: \.text, to: newValue) }
        }
    }
}

/// The number is a text now, and `label` is made of the text by code.
enum KilledAfter: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Entry.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    final class Entry: PersistentModel {
        var persistentBackingData: any BackingData<Entry> = Entry.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "number", keypath: \Entry.number),
                .init(name: "label", keypath: \Entry.label, defaultValue: ""),
            ]
        }
        init(backingData: any BackingData<Entry>) { persistentBackingData = backingData }

        var number: String {
            get { getValue(forKey: \.number) }
            set { setValue(forKey: \.number, to: newValue) }
        }
        var label: String {
            get { getValue(forKey: \.label) }
            set { setValue(forKey: \.label, to: newValue) }
        }
    }
}

enum KilledPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [KilledBefore.self, KilledAfter.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                from: KilledBefore.self, to: KilledAfter.self, mapping: .inferred.converting("Entry.number", .exactly),
                migrate: { old, new in
                    for entry in try old.fetch(KilledBefore.Entry.self) {
                        try new.model(KilledAfter.Entry.self, for: entry.persistentModelID)?.label =
                            "label " + entry.text
                    }
                })
        ]
    }
}
