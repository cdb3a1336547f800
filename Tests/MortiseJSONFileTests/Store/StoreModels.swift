import Foundation
import Mortise
import Testing

// One file under changing models: each namespace is a version of the app.

enum Original {
    @Model final class Note {
        @Attribute(.unique) var title: String
        var body: String?
        var pages: Int
        var folder: Drawer?
        init(title: String, body: String? = nil, pages: Int = 1, folder: Drawer? = nil) {
            self.title = title
            self.body = body
            self.pages = pages
            self.folder = folder
        }
    }

    @Model final class Drawer {
        var name: String
        @Relationship(inverse: \Note.folder) var notes: [Note] = []
        init(name: String) { self.name = name }
    }
}

/// Bridged without anybody's help: a property renamed, one removed, an optional and one with a default added, an entity
/// removed.
enum Bridged {
    @Model final class Note {
        @Attribute(.unique, originalName: "title") var heading: String
        var pages: Int
        var stars: Int = 3
        var author: String?
        init(heading: String) {
            self.heading = heading
            self.pages = 0
        }
    }
}

enum Demanding {
    @Model final class Note {
        var title: String
        var owner: String
        init(title: String, owner: String) {
            self.title = title
            self.owner = owner
        }
    }
}

enum Retyped {
    @Model final class Note {
        var title: String
        var pages: String
        init(title: String, pages: String) {
            self.title = title
            self.pages = pages
        }
    }
}

enum Stricter {
    @Model final class Note {
        var title: String
        var body: String
        var pages: Int
        init(title: String, body: String) {
            self.title = title
            self.body = body
            self.pages = 0
        }
    }
}

enum NewlyUnique {
    @Model final class Note {
        var title: String
        @Attribute(.unique) var pages: Int
        init(title: String, pages: Int) {
            self.title = title
            self.pages = pages
        }
    }
}

/// A folder with one store file in it, removed when the value goes.
final class StoreFolder {
    let folder: URL
    var path: String { folder.appending(path: "notes.json").path(percentEncoded: false) }
    var lockPath: String { path + ".lock" }

    init() throws {
        folder = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "mortise-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func open(
        _ types: any PersistentModel.Type..., allowsSave: Bool = true, integrity: JSONFileIntegrity = .required,
        dropping: [String] = []
    ) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(types.isEmpty ? [Original.Note.self] : types),
            configurations: [
                JSONFileConfiguration(path: path, allowsSave: allowsSave, integrity: integrity, dropping: dropping)
            ])
    }

    /// Makes the file, with one drawer and the notes in it.
    func fill(_ titles: String...) throws {
        let container = try open()
        let context = ModelContext(container)
        let drawer = Original.Drawer(name: "d")
        context.insert(drawer)
        for title in titles { context.insert(Original.Note(title: title, body: "b", folder: drawer)) }
        try context.save()
        try container.close()
    }

    func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
    func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: path)) }
    func write(_ text: String) throws { try write(Data(text.utf8)) }
}
