import MortiseCore

/// A document and what it leads to, which another version of the program has otherwise.
enum Leading {
    /// What a document leads to first.
    final class Holder: PersistentModel {
        var persistentBackingData: any BackingData<Holder> = Holder.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Holder.name)] }
        init(backingData: any BackingData<Holder>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
    }

    /// What it leads to later.
    final class Label: PersistentModel {
        var persistentBackingData: any BackingData<Label> = Label.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Label.name)] }
        init(backingData: any BackingData<Label>) { persistentBackingData = backingData }
        init(_ name: String) { self.name = name }

        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
    }

    /// The first version.
    enum First {
        final class Document: PersistentModel {
            var persistentBackingData: any BackingData<Document> = Document.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "title", keypath: \Document.title), .init(name: "owner", keypath: \Document.owner),
                    .init(name: "readers", keypath: \Document.readers),
                ]
            }
            init(backingData: any BackingData<Document>) { persistentBackingData = backingData }
            init(_ title: String) { self.title = title }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }
            var owner: Holder? {
                get { getValue(forKey: \.owner) }
                set { setValue(forKey: \.owner, to: newValue) }
            }
            var readers: [Holder] {
                get { getValue(forKey: \.readers) }
                set { setValue(forKey: \.readers, to: newValue) }
            }
        }
    }

    /// The owner is a label.
    enum OtherOwner {
        final class Document: PersistentModel {
            var persistentBackingData: any BackingData<Document> = Document.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "title", keypath: \Document.title), .init(name: "owner", keypath: \Document.owner),
                    .init(name: "readers", keypath: \Document.readers),
                ]
            }
            init(backingData: any BackingData<Document>) { persistentBackingData = backingData }
            init(_ title: String) { self.title = title }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }
            var owner: Label? {
                get { getValue(forKey: \.owner) }
                set { setValue(forKey: \.owner, to: newValue) }
            }
            var readers: [Holder] {
                get { getValue(forKey: \.readers) }
                set { setValue(forKey: \.readers, to: newValue) }
            }
        }
    }

    /// The readers are labels.
    enum OtherReaders {
        final class Document: PersistentModel {
            var persistentBackingData: any BackingData<Document> = Document.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "title", keypath: \Document.title), .init(name: "owner", keypath: \Document.owner),
                    .init(name: "readers", keypath: \Document.readers),
                ]
            }
            init(backingData: any BackingData<Document>) { persistentBackingData = backingData }
            init(_ title: String) { self.title = title }

            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }
            var owner: Holder? {
                get { getValue(forKey: \.owner) }
                set { setValue(forKey: \.owner, to: newValue) }
            }
            var readers: [Label] {
                get { getValue(forKey: \.readers) }
                set { setValue(forKey: \.readers, to: newValue) }
            }
        }
    }

}

/// Names that differ in the case of their letters, and names that a language of queries may have a meaning for.
enum Cased {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    final class Note: PersistentModel {
        var persistentBackingData: any BackingData<Note> = Note.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "title", keypath: \Note.title), .init(name: "Title", keypath: \Note.Title),
                .init(name: "TITLE", keypath: \Note.TITLE), .init(name: "größe", keypath: \Note.größe),
                .init(name: "GRÖSSE", keypath: \Note.GRÖSSE), .init(name: "Größe", keypath: \Note.Größe),
                .init(name: "next", keypath: \Note.next), .init(name: "Next", keypath: \Note.Next),
                .init(name: "all", keypath: \Note.all), .init(name: "All", keypath: \Note.All),
            ]
        }
        init(backingData: any BackingData<Note>) { persistentBackingData = backingData }
        init(_ title: String) {
            self.title = title
            Title = title + " 2"
        }

        var title: String {
            get { getValue(forKey: \.title) }
            set { setValue(forKey: \.title, to: newValue) }
        }
        var Title: String {
            get { getValue(forKey: \.Title) }
            set { setValue(forKey: \.Title, to: newValue) }
        }
        var TITLE: String? {
            get { getValue(forKey: \.TITLE) }
            set { setValue(forKey: \.TITLE, to: newValue) }
        }
        var größe: Int? {
            get { getValue(forKey: \.größe) }
            set { setValue(forKey: \.größe, to: newValue) }
        }
        var GRÖSSE: Int? {
            get { getValue(forKey: \.GRÖSSE) }
            set { setValue(forKey: \.GRÖSSE, to: newValue) }
        }
        var Größe: Int? {
            get { getValue(forKey: \.Größe) }
            set { setValue(forKey: \.Größe, to: newValue) }
        }
        var next: Note? {
            get { getValue(forKey: \.next) }
            set { setValue(forKey: \.next, to: newValue) }
        }
        var Next: Note? {
            get { getValue(forKey: \.Next) }
            set { setValue(forKey: \.Next, to: newValue) }
        }
        var all: [Note] {
            get { getValue(forKey: \.all) }
            set { setValue(forKey: \.all, to: newValue) }
        }
        var All: [Note] {
            get { getValue(forKey: \.All) }
            set { setValue(forKey: \.All, to: newValue) }
        }
    }

    /// Its name differs from that of the other one in case alone.
    final class NOTE: PersistentModel {
        var persistentBackingData: any BackingData<NOTE> = NOTE.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [.init(name: "title", keypath: \NOTE.title), .init(name: "note", keypath: \NOTE.note)]
        }
        init(backingData: any BackingData<NOTE>) { persistentBackingData = backingData }
        init(_ title: String, note: Note? = nil) {
            self.title = title
            self.note = note
        }

        var title: String {
            get { getValue(forKey: \.title) }
            set { setValue(forKey: \.title, to: newValue) }
        }
        var note: Note? {
            get { getValue(forKey: \.note) }
            set { setValue(forKey: \.note, to: newValue) }
        }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    final class Words: PersistentModel {
        var persistentBackingData: any BackingData<Words> = Words.createBackingData()
        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "rowid", keypath: \Words.rowid), .init(name: "oid", keypath: \Words.oid),
                .init(name: "_rowid_", keypath: \Words._rowid_), .init(name: "entity", keypath: \Words.entity),
                .init(name: "version", keypath: \Words.version), .init(name: "record", keypath: \Words.record),
                .init(name: "key", keypath: \Words.key), .init(name: "value", keypath: \Words.value),
                .init(name: "order", keypath: \Words.order), .init(name: "group", keypath: \Words.group),
                .init(name: "select", keypath: \Words.select), .init(name: "null", keypath: \Words.null),
                .init(name: "table", keypath: \Words.table), .init(name: "index", keypath: \Words.index),
            ]
        }
        init(backingData: any BackingData<Words>) { persistentBackingData = backingData }
        init(_ number: Int) {
            rowid = number
            oid = number + 1
            _rowid_ = number + 2
            entity = "entity \(number)"
            version = number + 3
            record = number + 4
            key = "key \(number)"
            value = "value \(number)"
            order = number + 5
            group = "group \(number)"
            select = number + 6
            null = "null \(number)"
            table = "table \(number)"
            index = number + 7
        }

        var rowid: Int {
            get { getValue(forKey: \.rowid) }
            set { setValue(forKey: \.rowid, to: newValue) }
        }
        var oid: Int {
            get { getValue(forKey: \.oid) }
            set { setValue(forKey: \.oid, to: newValue) }
        }
        var _rowid_: Int {
            get { getValue(forKey: \._rowid_) }
            set { setValue(forKey: \._rowid_, to: newValue) }
        }
        var entity: String {
            get { getValue(forKey: \.entity) }
            set { setValue(forKey: \.entity, to: newValue) }
        }
        var version: Int {
            get { getValue(forKey: \.version) }
            set { setValue(forKey: \.version, to: newValue) }
        }
        var record: Int {
            get { getValue(forKey: \.record) }
            set { setValue(forKey: \.record, to: newValue) }
        }
        var key: String {
            get { getValue(forKey: \.key) }
            set { setValue(forKey: \.key, to: newValue) }
        }
        var value: String {
            get { getValue(forKey: \.value) }
            set { setValue(forKey: \.value, to: newValue) }
        }
        var order: Int {
            get { getValue(forKey: \.order) }
            set { setValue(forKey: \.order, to: newValue) }
        }
        var group: String {
            get { getValue(forKey: \.group) }
            set { setValue(forKey: \.group, to: newValue) }
        }
        var select: Int {
            get { getValue(forKey: \.select) }
            set { setValue(forKey: \.select, to: newValue) }
        }
        var null: String {
            get { getValue(forKey: \.null) }
            set { setValue(forKey: \.null, to: newValue) }
        }
        var table: String {
            get { getValue(forKey: \.table) }
            set { setValue(forKey: \.table, to: newValue) }
        }
        var index: Int {
            get { getValue(forKey: \.index) }
            set { setValue(forKey: \.index, to: newValue) }
        }
    }
}
