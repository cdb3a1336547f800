import Foundation
import MortiseCore

// Models without macros, for tests of the log.

final class Box: PersistentModel {
    var persistentBackingData: any BackingData<Box> = Box.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "label", keypath: \Box.label, metadata: Schema.Attribute(.unique, .preserveValueOnDeletion)),
            .init(
                name: "items", keypath: \Box.items,
                metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Item.box)),
        ]
    }
    init(backingData: any BackingData<Box>) { persistentBackingData = backingData }
    init(_ label: String) { self.label = label }

    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }
    var items: [Item] {
        get { getValue(forKey: \.items) }
        set { setValue(forKey: \.items, to: newValue) }
    }
}

final class Item: PersistentModel {
    var persistentBackingData: any BackingData<Item> = Item.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Item.name, metadata: Schema.Attribute(.preserveValueOnDeletion)),
            .init(name: "count", keypath: \Item.count),
            .init(name: "made", keypath: \Item.made),
            .init(name: "tags", keypath: \Item.tags),
            .init(name: "box", keypath: \Item.box),
            .init(name: "scratch", keypath: \Item.scratch, defaultValue: 0, metadata: Schema.Attribute(.ephemeral)),
        ]
    }
    init(backingData: any BackingData<Item>) { persistentBackingData = backingData }
    init(_ name: String, count: Int? = nil, tags: [String] = [], box: Box? = nil) {
        self.name = name
        self.count = count
        self.made = Date(timeIntervalSinceReferenceDate: 123.456)
        self.tags = tags
        self.box = box
        self.scratch = 0
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var count: Int? {
        get { getValue(forKey: \.count) }
        set { setValue(forKey: \.count, to: newValue) }
    }
    var made: Date {
        get { getValue(forKey: \.made) }
        set { setValue(forKey: \.made, to: newValue) }
    }
    var tags: [String] {
        get { getValue(forKey: \.tags) }
        set { setValue(forKey: \.tags, to: newValue) }
    }
    var box: Box? {
        get { getValue(forKey: \.box) }
        set { setValue(forKey: \.box, to: newValue) }
    }
    var scratch: Int {
        get { getValue(forKey: \.scratch) }
        set { setValue(forKey: \.scratch, to: newValue) }
    }
}

/// One entity in two versions of its schema.
enum Earlier {
    final class Note: PersistentModel {
        var persistentBackingData: any BackingData<Note> = Note.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "text", keypath: \Note.text)] }
        init(backingData: any BackingData<Note>) { persistentBackingData = backingData }
        init(_ text: String) { self.text = text }
        var text: String {
            get { getValue(forKey: \.text) }
            set { setValue(forKey: \.text, to: newValue) }
        }
    }
}

/// With a value that no store keeps.
enum Between {
    final class Note: PersistentModel {
        var persistentBackingData: any BackingData<Note> = Note.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "text", keypath: \Note.text),
                .init(name: "rank", keypath: \Note.rank, metadata: Schema.Attribute(.ephemeral)),
            ]
        }
        init(backingData: any BackingData<Note>) { persistentBackingData = backingData }
        init(_ text: String, rank: Int) {
            self.text = text
            self.rank = rank
        }
        var text: String {
            get { getValue(forKey: \.text) }
            set { setValue(forKey: \.text, to: newValue) }
        }
        var rank: Int {
            get { getValue(forKey: \.rank) }
            set { setValue(forKey: \.rank, to: newValue) }
        }
    }
}

enum Later {
    final class Note: PersistentModel {
        var persistentBackingData: any BackingData<Note> = Note.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "text", keypath: \Note.text),
                .init(name: "rank", keypath: \Note.rank, defaultValue: 5),
            ]
        }
        init(backingData: any BackingData<Note>) { persistentBackingData = backingData }
        init(_ text: String, rank: Int) {
            self.text = text
            self.rank = rank
        }
        var text: String {
            get { getValue(forKey: \.text) }
            set { setValue(forKey: \.text, to: newValue) }
        }
        var rank: Int {
            get { getValue(forKey: \.rank) }
            set { setValue(forKey: \.rank, to: newValue) }
        }
    }
}
