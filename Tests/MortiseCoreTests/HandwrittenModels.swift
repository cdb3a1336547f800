import Foundation
import MortiseCore
import MortiseInMemory

// Models without macros, as an adapter author outside the macro toolchain writes them.

enum Genre: String, Codable, CaseIterable { case novel, essay, poem }

final class Author: PersistentModel {
    var persistentBackingData: any BackingData<Author> = Author.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(
                name: "name", keypath: \Author.name, chained: \Author?.?.name, metadata: Schema.Attribute(.unique)),
            .init(name: "born", keypath: \Author.born, chained: \Author?.?.born),
            .init(
                name: "books", keypath: \Author.books,
                metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Book.author)),
        ]
    }
    init(backingData: any BackingData<Author>) { persistentBackingData = backingData }
    init(name: String, born: Int? = nil) {
        self.name = name
        self.born = born
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var born: Int? {
        get { getValue(forKey: \.born) }
        set { setValue(forKey: \.born, to: newValue) }
    }
    var books: [Book] {
        get { getValue(forKey: \.books) }
        set { setValue(forKey: \.books, to: newValue) }
    }
}

final class Book: PersistentModel {
    var persistentBackingData: any BackingData<Book> = Book.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \Book.title),
            .init(name: "genre", keypath: \Book.genre),
            .init(name: "pages", keypath: \Book.pages, defaultValue: 0),
            .init(name: "keywords", keypath: \Book.keywords),
            .init(name: "author", keypath: \Book.author),
            .init(name: "shelves", keypath: \Book.shelves),
        ]
    }
    init(backingData: any BackingData<Book>) { persistentBackingData = backingData }
    init(title: String, genre: Genre = .novel, pages: Int = 0, author: Author? = nil) {
        self.title = title
        self.genre = genre
        self.pages = pages
        self.keywords = []
        self.author = author
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var genre: Genre {
        get { getValue(forKey: \.genre) }
        set { setValue(forKey: \.genre, to: newValue) }
    }
    var pages: Int {
        get { getValue(forKey: \.pages) }
        set { setValue(forKey: \.pages, to: newValue) }
    }
    var keywords: [String] {
        get { getValue(forKey: \.keywords) }
        set { setValue(forKey: \.keywords, to: newValue) }
    }
    var author: Author? {
        get { getValue(forKey: \.author) }
        set { setValue(forKey: \.author, to: newValue) }
    }
    var shelves: [Shelf] {
        get { getValue(forKey: \.shelves) }
        set { setValue(forKey: \.shelves, to: newValue) }
    }
}

final class Shelf: PersistentModel {
    var persistentBackingData: any BackingData<Shelf> = Shelf.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "label", keypath: \Shelf.label),
            .init(name: "books", keypath: \Shelf.books, metadata: Schema.Relationship(inverse: \Book.shelves)),
        ]
    }
    init(backingData: any BackingData<Shelf>) { persistentBackingData = backingData }
    init(label: String) { self.label = label }

    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }
    var books: [Book] {
        get { getValue(forKey: \.books) }
        set { setValue(forKey: \.books, to: newValue) }
    }
}

/// A library in memory, whose every answer is compared with what is found without the store's help.
func makeLibrary() throws -> ModelContainer {
    let container = try ModelContainer(
        for: Schema([Author.self, Book.self, Shelf.self]), configurations: [InMemoryConfiguration()])
    container.verifiesPushDown = true
    return container
}
