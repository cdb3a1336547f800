import CustomStore
import Foundation
import Mortise
import MortiseEngine
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

@Suite struct ContainerMaintenanceTests {
    @Test func aContainerLooksAfterAllOfItsStores() throws {
        let folder = try Folder()
        let configurations: [any DataStoreConfiguration] = [
            AppendLogConfiguration(
                "notes", schema: Schema([Note.self]), path: folder.path("notes.log"), compaction: .onCall),
            InMemoryConfiguration("markers", schema: Schema([Marker.self])),
        ]
        let container = try ModelContainer(for: Schema([Note.self, Marker.self]), configurations: configurations)
        let context = ModelContext(container)
        for number in 0..<100 { context.insert(Note("note \(number)", Data(repeating: 7, count: 5_000))) }
        context.insert(Marker("one"))
        try context.save()

        // A store in memory is told, and not passed over in silence.
        let verified = try container.verify()
        #expect(verified.map(\.store) == ["notes", "markers"] && verified.map(\.passedOver) == [nil, .unsupported])
        #expect(verified.allSatisfy(\.report.problems.isEmpty) && !verified[0].report.figures.isEmpty)
        #expect(verified[1].report.figures.isEmpty)
        let statistics = try container.statistics()
        #expect(statistics.map(\.store) == ["notes", "markers"])
        #expect(statistics.map(\.records) == [["Note": 100], ["Marker": 1]])
        #expect(statistics[0].location == folder.path("notes.log"))
        #expect(statistics[0].bytes > 500_000 && statistics[1].bytes == 0)
        #expect(statistics[0].durability == .full && statistics[1].durability == nil)
        #expect(try container.compact().map(\.passedOver) == [nil, .unsupported])

        let backup = folder.path("backups/today")
        #expect(try container.backUp(to: backup).map(\.passedOver) == [nil, .unsupported])
        // What was copied stays; a copy is never written over.
        #expect {
            try container.backUp(to: backup)
        } throws: { error in
            (error as? any ClassifiedStoreError)?.errorClass == .alreadyExists
        }
        context.insert(Note("later"))
        try context.save()
        let copy = try ModelContainer(
            for: Schema([Note.self]), configurations: [AppendLogConfiguration(path: backup + "/notes.log")])
        let notes = try ModelContext(copy).fetch(FetchDescriptor<Note>())
        #expect(notes.count == 100 && notes.allSatisfy { $0.picture?.count == 5_000 })
        try container.close()
        for operation in [
            { _ = try container.verify() }, { _ = try container.compact() }, { _ = try container.statistics() },
        ] {
            #expect(throws: ModelContextError.containerClosed) { try operation() }
        }
    }

    /// Defect: the stores before one that is open for reading only were erased before that was found.
    @Test func nothingIsErasedBesideAStoreForReadingOnly() throws {
        let folder = try Folder()
        func container(allowsSave: Bool) throws -> ModelContainer {
            try ModelContainer(
                for: Schema([Note.self, Marker.self]),
                configurations: [
                    AppendLogConfiguration("notes", schema: Schema([Note.self]), path: folder.path("notes.log")),
                    AppendLogConfiguration(
                        "markers", schema: Schema([Marker.self]), path: folder.path("markers.log"),
                        allowsSave: allowsSave),
                ])
        }
        let made = try container(allowsSave: true)
        let context = ModelContext(made)
        context.insert(Note("a"))
        context.insert(Marker("b"))
        try context.save()
        try made.close()
        let opened = try container(allowsSave: false)
        #expect(throws: ModelContextError.readOnly(configuration: "markers")) { try opened.erase() }
        #expect(try ModelContext(opened).fetchCount(FetchDescriptor<Note>()) == 1)
        try opened.close()
    }

    @Test(arguments: ["a.store", "a.json"]) func aModelConfigurationIsLookedAfterAsWell(_ name: String) throws {
        let folder = try Folder()
        let file = URL(fileURLWithPath: folder.path(name))
        let container = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: file))
        let context = ModelContext(container)
        context.insert(Note("a"))
        try context.save()
        #expect(try container.verify().count == 1)
        #expect(try container.statistics().map(\.recordCount) == [1])
        #expect(try container.statistics()[0].bytes > 0)
        #expect(try container.compact().map(\.passedOver) == [name == "a.store" ? nil : .unsupported])
        try container.backUp(to: folder.path("copy"))
        let copy = try ModelContainer(
            for: Note.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: folder.path("copy/\(name)"))))
        #expect(try ModelContext(copy).fetchCount(FetchDescriptor<Note>()) == 1)

        let memory = try ModelContainer(for: Note.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        // A backup of nothing would be found out when it is needed.
        #expect(throws: MaintenanceError.unsupported(.verify, store: "memory")) { try memory.verify() }
        #expect(throws: MaintenanceError.unsupported(.backUp, store: "memory")) {
            try memory.backUp(to: folder.path("none"))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
        #expect(try memory.compact().map(\.passedOver) == [.unsupported])
        #expect(try memory.statistics().map(\.files.count) == [0])
    }

    /// Bug: of stores without versions, nothing was counted.
    @Test(arguments: StoreKinds.versioned + ["csv", "plain"] + StoreKinds.sqlite)
    func everyStoreCountsTheRecordsThatAreExactlyOfAnEntity(_ kind: String) throws {
        let folder = try Folder()
        let container: ModelContainer
        switch kind {
        case "plain":
            container = try ModelContainer(for: Medal.self, GoldMedal.self, configurations: PlainConfiguration())
        case "csv":
            container = try ModelContainer(
                for: Medal.self, GoldMedal.self, configurations: CSVConfiguration(folder: folder.url))
        default:
            let store = kind == "memory" ? "memory:" : "\(kind):\(folder.path("a.\(kind)"))"
            container = try ModelContainer(for: Medal.self, GoldMedal.self, store: store)
        }
        #expect(try container.statistics().map(\.records) == [["Medal": 0, "GoldMedal": 0]])
        let context = ModelContext(container)
        for number in 0..<5 { context.insert(Medal(number: number, holder: "\(number)")) }
        for number in 5..<7 { context.insert(GoldMedal(number: number, holder: "\(number)")) }
        try context.save()
        #expect(try container.statistics().map(\.records) == [["Medal": 5, "GoldMedal": 2]])
        #expect(try container.statistics().map(\.recordCount) == [7])
    }

    @Test func storesOfOneNameAndSuchWithoutFilesAreNoHindrance() throws {
        let folder = try Folder()
        for name in ["a", "b", "c"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        let first = try ModelContainer(
            for: Schema([Note.self]), configurations: [AppendLogConfiguration(path: folder.path("a/s.log"))])
        let seed = ModelContext(first)
        seed.insert(Note("old"))
        try seed.save()
        try first.close()
        let container = try ModelContainer(
            for: Schema([Note.self, Marker.self]),
            configurations: [
                AppendLogConfiguration(
                    "notes", schema: Schema([Note.self]), path: folder.path("a/s.log"), allowsSave: false),
                JSONFileConfiguration("markers", schema: Schema([Marker.self]), path: folder.path("b/s.log")),
            ])
        // The JSON store has no file before it has saved.
        #expect(try container.verify().map(\.passedOver) == [nil, .nothingStored])
        #expect(try container.backUp(to: folder.path("c/1")).map(\.passedOver) == [nil, .nothingStored])
        let context = ModelContext(container)
        context.insert(Marker("m"))
        try context.save()
        #expect(try container.backUp(to: folder.path("c/2")).map(\.passedOver) == [nil, nil])
        let copies = try FileManager.default.contentsOfDirectory(atPath: folder.path("c/2"))
        #expect(Set(copies).isSuperset(of: ["notes-s.log", "markers-s.log"]), "\(copies)")
        // The log is open for reading alone.
        #expect(try container.compact().map(\.passedOver) == [.readOnly, .unsupported])
    }

    /// Defect: what Foundation throws came through, without a class.
    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        let folder = try Folder()
        try Data().write(to: folder.url.appending(path: "file"))
        let container = try ModelContainer(for: Note.self, store: "log:\(folder.path("a.log"))")
        let context = ModelContext(container)
        context.insert(Note("a"))
        try context.save()
        let inside = folder.path("file/copies")
        #expect(throws: MaintenanceError.folderNotMade(path: inside, fault: .fileInTheWay)) {
            try container.backUp(to: inside)
        }
        #expect {
            try container.backUp(to: folder.path(String(repeating: "x", count: 300)))
        } throws: { error in
            (error as? any ClassifiedStoreError)?.errorClass == .usage
        }
        let file = URL(fileURLWithPath: folder.path("file/a/b/c.store"))
        #expect {
            try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: file))
        } throws: { error in
            (error as? FileError)?.reason == .notADirectory && error.localizedDescription.contains("file/a")
        }
        let new = URL(fileURLWithPath: folder.path("new/é b/c.store"))
        let made = try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: new))
        let other = ModelContext(made)
        other.insert(Note("b"))
        try other.save()
        #expect(FileManager.default.fileExists(atPath: new.path(percentEncoded: false)))
        // A step back from a link goes from where that leads, as the store's own path does.
        try FileManager.default.createDirectory(
            atPath: folder.path("deep/inner"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("deep/inner"))
        let back = ModelContext(
            try ModelContainer(
                for: Note.self,
                configurations: ModelConfiguration(url: URL(fileURLWithPath: folder.path("link/../made/c.store")))))
        back.insert(Note("c"))
        try back.save()
        #expect(FileManager.default.fileExists(atPath: folder.path("deep/made/c.store")))
        #expect(!FileManager.default.fileExists(atPath: folder.path("made")))
        // From a folder that is not there yet; this took all memory once.
        let absent = ModelContext(
            try ModelContainer(
                for: Note.self,
                configurations: ModelConfiguration(url: URL(fileURLWithPath: folder.path("absent/../near/d.store")))))
        absent.insert(Note("d"))
        try absent.save()
        #expect(FileManager.default.fileExists(atPath: folder.path("near/d.store")))
    }

    /// Defect: a store whose file was gone was taken for one that had saved nothing yet. It was passed over in silence, also by
    /// backups.
    @Test(arguments: ["log", "json", "model"]) func aStoreWhoseFileIsGoneIsNotPassedOver(_ kind: String) throws {
        let folder = try Folder()
        let path = folder.path("a." + kind)
        let container =
            kind == "model"
            ? try ModelContainer(for: Note.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
            : try ModelContainer(for: Note.self, store: "\(kind):\(path)")
        let context = ModelContext(container)
        context.insert(Note("a"))
        try context.save()
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) where !file.hasSuffix(".lock")
        {
            try FileManager.default.removeItem(atPath: folder.path(file))
        }
        for operation in [{ _ = try container.verify() }, { _ = try container.backUp(to: folder.path("copy")) }] {
            #expect {
                try operation()
            } throws: {
                ($0 as? FileError)?.reason == .changed(.deleted)
            }
        }
        try? container.close()
    }

    @Test func damageIsReported() throws {
        let folder = try Folder()
        let path = folder.path("a.log")
        let container = try ModelContainer(for: Note.self, store: "log:\(path)")
        let context = ModelContext(container)
        for number in 0..<10 {
            context.insert(Note("note \(number)"))
            try context.save()
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 700)
        try file.write(contentsOf: Data(repeating: 0xEE, count: 8))
        try file.close()
        #expect(try container.verify().contains { !$0.report.problems.isEmpty })
    }
}

@Suite struct IdentifierTextTests {
    @Test func identifiersComeBackFromTheirText() throws {
        let context = ModelContext(try memory(Note.self))
        let note = Note("a")
        #expect(note.persistentModelID.string == nil)
        context.insert(note)
        #expect(note.persistentModelID.string == nil)
        try context.save()
        let text = try #require(note.persistentModelID.string)
        #expect(text.count < 40 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
        #expect(try PersistentIdentifier(string: text) == note.persistentModelID)
        #expect(try context.existingModel(for: PersistentIdentifier(string: text), as: Note.self) === note)
        var keys: [PersistentIdentifier] = []
        for store in [UUID().uuidString, UUID().uuidString.lowercased(), "", "a store/é"] {
            for entity in ["Note", "Größe"] {
                keys.append(try .identifier(for: store, entityName: entity, primaryKey: UInt64.max))
                keys.append(try .identifier(for: store, entityName: entity, primaryKey: 0))
                keys.append(try .identifier(for: store, entityName: entity, primaryKey: -5))
                keys.append(try .identifier(for: store, entityName: entity, primaryKey: "key \u{0} é"))
                keys.append(try .identifier(for: store, entityName: entity, primaryKey: ""))
            }
        }
        for key in keys { #expect(try PersistentIdentifier(string: #require(key.string)) == key) }
        #expect(Set(keys.compactMap(\.string)).count == keys.count)
    }

    @Test func whatIsNoIdentifierIsRefused() throws {
        let identifier = try PersistentIdentifier.identifier(for: UUID().uuidString, entityName: "Note", primaryKey: 15)
        let text = try #require(identifier.string)
        var wrong = ["", "a", "Note/15", text + "=", text + "A", " " + text, String(repeating: "A", count: 100_000)]
        for count in 0..<text.count { wrong.append(String(text.prefix(count))) }
        for place in text.indices {
            for letter in ["A", "b", "-", "_", "+", "é"] where String(text[place]) != letter {
                wrong.append(text.replacingCharacters(in: place...place, with: letter))
            }
        }
        for text in wrong {
            #expect(throws: IdentifierTextError.malformed, "\(text.prefix(80))") {
                try PersistentIdentifier(string: text)
            }
        }
    }
}
