import Foundation
import MortiseCore

/// Several relationships to one entity, and one to another entity whose inverse has the same name.
final class Writer: PersistentModel {
    var persistentBackingData: any BackingData<Writer> = Writer.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Writer.name),
            .init(name: "written", keypath: \Writer.written, metadata: Schema.Relationship(inverse: \Book.author)),
            .init(name: "edited", keypath: \Writer.edited, metadata: Schema.Relationship(inverse: \Book.editor)),
            .init(name: "songs", keypath: \Writer.songs, metadata: Schema.Relationship(inverse: \Song.author)),
            .init(name: "read", keypath: \Writer.read, metadata: Schema.Relationship(inverse: \Book.readers)),
            .init(name: "reviewed", keypath: \Writer.reviewed, metadata: Schema.Relationship(inverse: \Book.reviewers)),
        ]
    }
    init(backingData: any BackingData<Writer>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var written: [Book] {
        get { getValue(forKey: \.written) }
        set { setValue(forKey: \.written, to: newValue) }
    }

    var edited: [Book] {
        get { getValue(forKey: \.edited) }
        set { setValue(forKey: \.edited, to: newValue) }
    }

    var songs: [Song] {
        get { getValue(forKey: \.songs) }
        set { setValue(forKey: \.songs, to: newValue) }
    }

    var read: [Book] {
        get { getValue(forKey: \.read) }
        set { setValue(forKey: \.read, to: newValue) }
    }

    var reviewed: [Book] {
        get { getValue(forKey: \.reviewed) }
        set { setValue(forKey: \.reviewed, to: newValue) }
    }
}

/// Four relationships to one entity.
final class Book: PersistentModel {
    var persistentBackingData: any BackingData<Book> = Book.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \Book.title),
            .init(name: "author", keypath: \Book.author),
            .init(name: "editor", keypath: \Book.editor),
            .init(name: "readers", keypath: \Book.readers),
            .init(name: "reviewers", keypath: \Book.reviewers),
        ]
    }
    init(backingData: any BackingData<Book>) { persistentBackingData = backingData }
    init(_ title: String, author: Writer? = nil, editor: Writer? = nil) {
        self.title = title
        self.author = author
        self.editor = editor
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }

    var author: Writer? {
        get { getValue(forKey: \.author) }
        set { setValue(forKey: \.author, to: newValue) }
    }

    var editor: Writer? {
        get { getValue(forKey: \.editor) }
        set { setValue(forKey: \.editor, to: newValue) }
    }

    var readers: [Writer] {
        get { getValue(forKey: \.readers) }
        set { setValue(forKey: \.readers, to: newValue) }
    }

    var reviewers: [Writer] {
        get { getValue(forKey: \.reviewers) }
        set { setValue(forKey: \.reviewers, to: newValue) }
    }
}

/// Refers to writers under the name under which books do.
final class Song: PersistentModel {
    var persistentBackingData: any BackingData<Song> = Song.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \Song.title),
            .init(name: "author", keypath: \Song.author),
        ]
    }
    init(backingData: any BackingData<Song>) { persistentBackingData = backingData }
    init(_ title: String, author: Writer? = nil) {
        self.title = title
        self.author = author
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }

    var author: Writer? {
        get { getValue(forKey: \.author) }
        set { setValue(forKey: \.author, to: newValue) }
    }
}

/// Refers to its own entity in every way there is.
final class Node: PersistentModel {
    var persistentBackingData: any BackingData<Node> = Node.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Node.name),
            .init(name: "next", keypath: \Node.next),
            .init(name: "last", keypath: \Node.last),
            .init(name: "parent", keypath: \Node.parent, metadata: Schema.Relationship(inverse: \Node.children)),
            .init(name: "children", keypath: \Node.children),
            .init(name: "twin", keypath: \Node.twin, metadata: Schema.Relationship(inverse: \Node.twinOf)),
            .init(name: "twinOf", keypath: \Node.twinOf),
            .init(name: "links", keypath: \Node.links),
            .init(name: "friends", keypath: \Node.friends, metadata: Schema.Relationship(inverse: \Node.admirers)),
            .init(name: "admirers", keypath: \Node.admirers),
            .init(name: "mates", keypath: \Node.mates, metadata: Schema.Relationship(inverse: \Node.mates)),
        ]
    }
    init(backingData: any BackingData<Node>) { persistentBackingData = backingData }
    init(_ name: String) { self.name = name }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var next: Node? {
        get { getValue(forKey: \.next) }
        set { setValue(forKey: \.next, to: newValue) }
    }

    var last: Node? {
        get { getValue(forKey: \.last) }
        set { setValue(forKey: \.last, to: newValue) }
    }

    var parent: Node? {
        get { getValue(forKey: \.parent) }
        set { setValue(forKey: \.parent, to: newValue) }
    }

    var children: [Node] {
        get { getValue(forKey: \.children) }
        set { setValue(forKey: \.children, to: newValue) }
    }

    var twin: Node? {
        get { getValue(forKey: \.twin) }
        set { setValue(forKey: \.twin, to: newValue) }
    }

    var twinOf: Node? {
        get { getValue(forKey: \.twinOf) }
        set { setValue(forKey: \.twinOf, to: newValue) }
    }

    var links: [Node] {
        get { getValue(forKey: \.links) }
        set { setValue(forKey: \.links, to: newValue) }
    }

    var friends: [Node] {
        get { getValue(forKey: \.friends) }
        set { setValue(forKey: \.friends, to: newValue) }
    }

    var admirers: [Node] {
        get { getValue(forKey: \.admirers) }
        set { setValue(forKey: \.admirers, to: newValue) }
    }

    var mates: [Node] {
        get { getValue(forKey: \.mates) }
        set { setValue(forKey: \.mates, to: newValue) }
    }
}
