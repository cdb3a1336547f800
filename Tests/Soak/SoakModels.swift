import MortiseCore

// Models without macros, so that the program is built without them.

final class Entry: PersistentModel {
    var persistentBackingData: any BackingData<Entry> = Entry.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "key", keypath: \Entry.key, metadata: Schema.Attribute(.unique)),
            .init(name: "rank", keypath: \Entry.rank),
            .init(name: "note", keypath: \Entry.note),
            .init(name: "shelf", keypath: \Entry.shelf),
            .init(name: "tags", keypath: \Entry.tags, metadata: Schema.Relationship(inverse: \Tag.entries)),
        ]
    }
    init(backingData: any BackingData<Entry>) { persistentBackingData = backingData }
    init(_ key: String, rank: Int, note: String?, shelf: Shelf?, tags: [Tag]) {
        self.key = key
        self.rank = rank
        self.note = note
        self.shelf = shelf
        self.tags = tags
    }

    var key: String {
        get { getValue(forKey: \.key) }
        set { setValue(forKey: \.key, to: newValue) }
    }
    var rank: Int {
        get { getValue(forKey: \.rank) }
        set { setValue(forKey: \.rank, to: newValue) }
    }
    var note: String? {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }
    var shelf: Shelf? {
        get { getValue(forKey: \.shelf) }
        set { setValue(forKey: \.shelf, to: newValue) }
    }
    var tags: [Tag] {
        get { getValue(forKey: \.tags) }
        set { setValue(forKey: \.tags, to: newValue) }
    }
}

final class Shelf: PersistentModel {
    var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Shelf.name, metadata: Schema.Attribute(.unique)),
            .init(
                name: "entries", keypath: \Shelf.entries,
                metadata: Schema.Relationship(deleteRule: .nullify, inverse: \Entry.shelf)),
        ]
    }
    init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var entries: [Entry] {
        get { getValue(forKey: \.entries) }
        set { setValue(forKey: \.entries, to: newValue) }
    }
}

final class Tag: PersistentModel {
    var persistentBackingData: any BackingData<Tag> = Tag.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Tag.name, metadata: Schema.Attribute(.unique)),
            .init(name: "entries", keypath: \Tag.entries),
        ]
    }
    init(backingData: any BackingData<Tag>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var entries: [Entry] {
        get { getValue(forKey: \.entries) }
        set { setValue(forKey: \.entries, to: newValue) }
    }
}
