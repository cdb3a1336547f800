import Foundation
import Mortise
import Testing

@Model private final class Note {
    var text: String
    @Attribute(.externalStorage) var picture: Data?
    init(_ text: String, _ picture: Data? = nil) { (self.text, self.picture) = (text, picture) }
}

@Model private final class Marker {
    var name: String
    init(_ name: String) { self.name = name }
}

/// `ModelContainer.backUp(to:)` and back, for every kind of store and configuration.
@Suite struct ContainerRestoringTests {
    private func save(_ texts: String..., to container: ModelContainer) throws {
        let context = ModelContext(container)
        for text in texts { context.insert(Note(text, Data(repeating: 1, count: 9_000))) }
        try context.save()
    }

    private func texts(_ container: ModelContainer) throws -> [String] {
        let notes = try ModelContext(container).fetch(FetchDescriptor<Note>(sortBy: [SortDescriptor(\.text)]))
        #expect(notes.allSatisfy { $0.picture?.count == 9_000 })
        return notes.map(\.text)
    }

    @Test(arguments: ["json:s.json", "log:s.log", "model:s.store", "model:s.json"])
    func aClosedContainerIsRestored(_ place: String) throws {
        let folder = try Folder()
        let path = folder.path(String(place.split(separator: ":")[1]))
        func open() throws -> ModelContainer {
            place.hasPrefix("model:")
                ? try ModelContainer(
                    for: Note.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
                : try ModelContainer(for: Note.self, store: place.prefix { $0 != ":" } + ":" + path)
        }
        let container = try open()
        try save("a", "b", to: container)
        let backup = folder.path("backup")
        try container.backUp(to: backup)
        try save("c", to: container)
        #expect(throws: RestoreError.containerIsOpen) { try container.restore(from: backup, replacing: true) }
        // Others find it locked.
        #expect {
            try ModelContainer.restore(container.storeConfigurations, from: backup, replacing: true)
        } throws: {
            ($0 as? any ClassifiedStoreError)?.errorClass == .locked
        }
        try container.close()
        #expect(throws: RestoreError.storeExists(location: path)) { try container.restore(from: backup) }
        #expect(try container.restore(from: backup, replacing: true).map(\.store) == ["s"])
        let again = try open()
        #expect(try texts(again) == ["a", "b"])
        try save("d", to: again)
        #expect(try again.verify().allSatisfy(\.report.problems.isEmpty))
        try again.close()
        // The file is gone, and the kind of a store is that of its backup.
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) where file.hasPrefix("s.") {
            try FileManager.default.removeItem(atPath: folder.path(file))
        }
        try container.restore(from: backup)
        let last = try open()
        #expect(try texts(last) == ["a", "b"])
        try last.close()
    }

    @Test(arguments: ["model", "memory:"]) func aStoreInMemorySaysWhatToDo(_ kind: String) throws {
        let folder = try Folder()
        let container =
            kind == "model"
            ? try ModelContainer(for: Note.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
            : try ModelContainer(for: Note.self, store: kind)
        try save("a", to: container)
        #expect(try container.backUp(to: folder.path("none")).isEmpty)
        try container.close()
        for restore in [
            { try container.restore(from: folder.path("none")) },
            { try ModelContainer.restore(container.storeConfigurations, from: folder.path("none")) },
        ] {
            #expect {
                _ = try restore()
            } throws: { error in
                guard case MaintenanceError.unsupported(.restore, let store)? = error as? MaintenanceError else {
                    return false
                }
                let text = error.localizedDescription
                return ["memory", "default"].contains(store) && text.contains(store) && text.contains("json:PATH")
            }
        }
    }

    @Test func allStoresOrNone() throws {
        let folder = try Folder()
        let configurations: [any DataStoreConfiguration] = [
            AppendLogConfiguration("notes", schema: Schema([Note.self]), path: folder.path("a.log")),
            JSONFileConfiguration("markers", schema: Schema([Marker.self]), path: folder.path("b.json")),
        ]
        func open() throws -> ModelContainer {
            try ModelContainer(for: Schema([Note.self, Marker.self]), configurations: configurations)
        }
        var container = try open()
        try save("a", to: container)
        let context = ModelContext(container)
        context.insert(Marker("m"))
        try context.save()
        let backup = folder.path("backup")
        try container.backUp(to: backup)
        try save("b", to: container)
        context.insert(Marker("n"))
        try context.save()
        try container.close()
        // The second is damaged, or missing: the first stays as it is.
        let file = URL(fileURLWithPath: backup + "/b.json")
        let good = try Data(contentsOf: file)
        try good.dropLast(20).write(to: file)
        #expect {
            try container.restore(from: backup, replacing: true)
        } throws: {
            if case RestoreError.damagedBackup(file.path, _) = $0 { true } else { false }
        }
        try FileManager.default.removeItem(at: file)
        #expect(throws: RestoreError.noBackup(store: "markers", path: file.path)) {
            try container.restore(from: backup, replacing: true)
        }
        container = try open()
        #expect(try texts(container) == ["a", "b"])
        try container.close()
        try good.write(to: file)
        let reports = try ModelContainer.restore(configurations, from: backup, replacing: true)
        #expect(reports.map(\.store) == ["notes", "markers"])
        container = try open()
        #expect(try texts(container) == ["a"])
        #expect(try ModelContext(container).fetch(FetchDescriptor<Marker>()).map(\.name) == ["m"])
        try container.close()
    }

    @Test func aBackupOfAnotherStoreOrKindIsRefused() throws {
        let folder = try Folder()
        for name in ["one", "two"] {
            let container = try ModelContainer(
                for: Note.self, store: "log:\(folder.path(name))/s.log", making: folder.path(name))
            try save(name, to: container)
            try container.backUp(to: folder.path("backup of \(name)"))
            try container.close()
        }
        #expect {
            try ModelContainer.restore(
                [AppendLogConfiguration(path: folder.path("one/s.log"))], from: folder.path("backup of two"),
                replacing: true)
        } throws: {
            ($0 as? any ClassifiedStoreError)?.errorClass == .conflict
        }
        let file = URL(fileURLWithPath: folder.path("one/s.log"))
        try FileManager.default.removeItem(atPath: folder.path("backup of two/s.log"))
        try Data("{}".utf8).write(to: URL(fileURLWithPath: folder.path("backup of two/s.log")))
        #expect {
            try ModelContainer.restore(
                [ModelConfiguration(url: file)], from: folder.path("backup of two"), replacing: true)
        } throws: {
            if case RestoreError.otherStore = $0 { true } else { false }
        }
    }
}

extension ModelContainer {
    fileprivate convenience init(for type: any PersistentModel.Type, store: String, making folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try self.init(for: Schema([type]), store: store)
    }
}
