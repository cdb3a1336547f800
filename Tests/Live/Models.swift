import MortiseCore

// Models without macros: few distinct values, so that many rows are tied, and relationships of each kind.

final class Item: PersistentModel {
    var persistentBackingData: any BackingData<Item> = Item.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Item.name),
            .init(name: "score", keypath: \Item.score),
            .init(name: "rank", keypath: \Item.rank),
            .init(name: "kind", keypath: \Item.kind),
            .init(name: "note", keypath: \Item.note),
            .init(name: "folder", keypath: \Item.folder),
            .init(name: "tags", keypath: \Item.tags),
            .init(name: "parent", keypath: \Item.parent),
            .init(name: "children", keypath: \Item.children, metadata: Schema.Relationship(inverse: \Item.parent)),
            .init(name: "link", keypath: \Item.link),
        ]
    }
    init(backingData: any BackingData<Item>) { persistentBackingData = backingData }
    init(name: String, score: Double, rank: Int?, kind: String?) {
        self.name = name
        self.score = score
        self.rank = rank
        self.kind = kind
        note = ""
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var score: Double {
        get { getValue(forKey: \.score) }
        set { setValue(forKey: \.score, to: newValue) }
    }

    var rank: Int? {
        get { getValue(forKey: \.rank) }
        set { setValue(forKey: \.rank, to: newValue) }
    }

    var kind: String? {
        get { getValue(forKey: \.kind) }
        set { setValue(forKey: \.kind, to: newValue) }
    }

    var note: String {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }

    var folder: Folder? {
        get { getValue(forKey: \.folder) }
        set { setValue(forKey: \.folder, to: newValue) }
    }

    var tags: [Tag] {
        get { getValue(forKey: \.tags) }
        set { setValue(forKey: \.tags, to: newValue) }
    }

    var parent: Item? {
        get { getValue(forKey: \.parent) }
        set { setValue(forKey: \.parent, to: newValue) }
    }

    var children: [Item] {
        get { getValue(forKey: \.children) }
        set { setValue(forKey: \.children, to: newValue) }
    }

    var link: Folder? {
        get { getValue(forKey: \.link) }
        set { setValue(forKey: \.link, to: newValue) }
    }
}

final class Folder: PersistentModel {
    var persistentBackingData: any BackingData<Folder> = Folder.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Folder.name),
            .init(name: "items", keypath: \Folder.items, metadata: Schema.Relationship(inverse: \Item.folder)),
        ]
    }
    init(backingData: any BackingData<Folder>) { persistentBackingData = backingData }
    init(name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var items: [Item] {
        get { getValue(forKey: \.items) }
        set { setValue(forKey: \.items, to: newValue) }
    }
}

final class Tag: PersistentModel {
    var persistentBackingData: any BackingData<Tag> = Tag.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "label", keypath: \Tag.label),
            .init(name: "items", keypath: \Tag.items, metadata: Schema.Relationship(inverse: \Item.tags)),
        ]
    }
    init(backingData: any BackingData<Tag>) { persistentBackingData = backingData }
    init(label: String) { self.label = label }

    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }

    var items: [Item] {
        get { getValue(forKey: \.items) }
        set { setValue(forKey: \.items, to: newValue) }
    }
}
