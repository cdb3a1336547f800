import Foundation
import Mortise
import MortiseEngine
import Synchronization
import Testing

/// The history of a JSON store is in a file of its own, and nothing that becomes of that harms the records.
@Suite struct JSONHistoryTests {
    private let folder: Folder
    private var path: String { folder.path("store.json") }
    private var history: String { path + ".history" }

    init() throws { folder = try Folder() }

    private func withStore<R>(
        _ retention: HistoryRetention = .unlimited, allowsSave: Bool = true, _ body: (ModelContext) throws -> R
    ) throws -> R {
        let container = try ModelContainer(
            for: Schema([Parcel.self, Storehouse.self]),
            configurations: [JSONFileConfiguration(path: path, allowsSave: allowsSave, history: retention)])
        defer { try? container.close() }
        return try body(ModelContext(container))
    }

    private func tokens() throws -> [DefaultHistoryToken] { try withStore { try $0.history().map(\.token) } }

    @Test func itSurvivesReopeningWithMarksAndGoesOn() throws {
        let first = try withStore { context in
            try context.saveParcels(by: "a", "b")
            let parcel = try #require(try context.fetch(FetchDescriptor<Parcel>()).first)
            parcel.weight = 7
            parcel.house = Storehouse("d")
            try context.save()
            context.delete(parcel)
            try context.save()
            return try context.history()
        }
        try withStore { context in
            let again = try context.history()
            #expect(again.map(\.token) == first.map(\.token))
            #expect(again.map(\.token.marks) == first.map(\.token.marks))
            #expect(again.map { $0.changes.map(kind) } == first.map { $0.changes.map(kind) })
            #expect(first.last?.changes.map(kind).contains("delete") == true)
            guard case .delete(let deletion)? = again.last?.changes.last,
                let deletion = deletion as? DefaultHistoryDelete<Parcel>
            else { throw TestFailure() }
            #expect(deletion.tombstone[\.code] as? String == "a")
            #expect(deletion.tombstone[\.weight] == nil)
            try context.saveParcels(by: "c")
            #expect(try context.authors(after: first[3].token) == ["c"])
        }
        let read = try withStore(allowsSave: false) { try $0.history() }
        #expect(read.count == 5)
    }

    @Test func saveNotificationsHaveTokensThatCanBeAsked() throws {
        try withStore { context in
            try context.saveParcels(by: "a")
            nonisolated(unsafe) var token: DefaultHistoryToken?
            let observer = NotificationCenter.default.addObserver(
                forName: ModelContext.didSave, object: context, queue: nil
            ) { notification in
                let tokens = notification.userInfo?[ModelContext.NotificationKey.historyTokens.rawValue]
                token = (tokens as? [String: any HistoryToken])?.values.first as? DefaultHistoryToken
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            try context.saveParcels(by: "b")
            let told = try #require(token)
            #expect(told.marks.count == 1)
            #expect(try context.history().last?.token == told)
            try context.saveParcels(by: "c")
            #expect(try context.authors(after: told) == ["c"])
        }
    }

    @Test func aFileThatWasEditedByHandLetsTokensExpire() throws {
        try withStore { try $0.saveParcels(by: "a", "b") }
        let before = try tokens()
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacingOccurrences(of: "\"code\": \"a\"", with: "\"code\": \"edited\"")
            .write(toFile: path, atomically: false, encoding: .utf8)
        try JSONFileStore.reseal(path)
        try withStore { context in
            for token in before {
                #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: token) }
            }
            #expect(try context.fetchCount(FetchDescriptor<Parcel>(predicate: #Predicate { $0.code == "edited" })) == 1)
            try context.saveParcels(by: "c")
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: before[1]) }
            #expect(try context.history().map(\.author) == ["c"])
        }
        try withStore { context in
            let found = try context.history()
            #expect(found.map(\.author) == ["c"])
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: before[1]) }
        }
    }

    @Test func anOlderCopyOfTheFileTakesItsHistoryBack() throws {
        try withStore { try $0.saveParcels(by: "a", "b") }
        let copy = try Data(contentsOf: URL(filePath: path))
        let kept = try tokens()
        try withStore { try $0.saveParcels(by: "lost 1", "lost 2") }
        let lost = try #require(try tokens().last)
        try copy.write(to: URL(filePath: path))
        try withStore { context in
            #expect(try context.history().map(\.author) == ["a", "b"])
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: lost) }
            try context.saveParcels(by: "c", "d", "e")
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: lost) }
            #expect(try context.authors(after: kept[1]) == ["c", "d", "e"])
        }
    }

    @Test func aDamagedHistoryLeavesTheRecordsAlone() throws {
        try withStore { try $0.saveParcels(by: "a", "b", "c") }
        let whole = try Data(contentsOf: URL(filePath: history))
        var damaged: [Data] = [Data(), whole.prefix(40), whole.prefix(200), Data("not a history".utf8)]
        for offset in stride(from: 0, to: whole.count, by: 37) {
            var copy = whole
            copy[copy.startIndex + offset] ^= 0x40
            damaged.append(copy)
        }
        let records = try Data(contentsOf: URL(filePath: path))
        var refused = 0
        for (place, bytes) in damaged.enumerated() {
            try records.write(to: URL(filePath: path))
            try bytes.write(to: URL(filePath: history))
            try withStore { context in
                #expect(try context.fetchCount(FetchDescriptor<Parcel>()) == 3)
                do {
                    let found = try context.history()
                    // Without its frame the file is one that was written by somebody else.
                    #expect(found.map(\.author) == ["a", "b", "c"] || found.isEmpty, "damage \(place)")
                } catch is HistoryDamaged {
                    refused += 1
                }
                context.insert(Parcel("more"))
                try context.save()
            }
            let count = try withStore { try $0.fetchCount(FetchDescriptor<Parcel>()) }
            #expect(count == 4)
        }
        #expect(refused > damaged.count / 2)
    }

    /// Bug: the part of a frame that a power cut had left was damage, and no save wrote a history any more.
    @Test(arguments: [1, 40, 64]) func aHistoryWhoseEndAPowerCutHasTakenBeginsAnew(_ lost: Int) throws {
        func withStore<R>(_ durability: JSONFileHistoryDurability, _ body: (ModelContext) throws -> R) throws -> R {
            let container = try ModelContainer(
                for: Schema([Parcel.self, Storehouse.self]),
                configurations: [JSONFileConfiguration(path: path, historyDurability: durability)])
            defer { try? container.close() }
            return try body(ModelContext(container))
        }
        try withStore(.later) { try $0.saveParcels(by: "a", "b", "c") }
        let before = try withStore(.later) { try $0.history().map(\.token) }
        let whole = try Data(contentsOf: URL(filePath: history))
        let missing = [whole.dropLast(lost), whole.dropLast(lost) + Data(repeating: 0, count: lost)]
        let records = try Data(contentsOf: URL(filePath: path))
        for (place, bytes) in missing.enumerated() {
            try records.write(to: URL(filePath: path))
            try bytes.write(to: URL(filePath: history))
            let damage = try withStore(.withSave) { context in
                #expect(throws: HistoryDamaged.self, "\(place)") { try context.history() }
            }
            #expect(damage?.path == history)
            try withStore(.later) { context in
                #expect(try context.history().isEmpty, "\(place)")
                for token in before {
                    #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: token) }
                }
                try context.saveParcels(by: "d", "e")
                #expect(try context.history().map(\.author) == ["d", "e"])
            }
            let (authors, count) = try withStore(.withSave) { context in
                #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: before[2]) }
                return (try context.history().map(\.author), try context.fetchCount(FetchDescriptor<Parcel>()))
            }
            #expect(authors == ["d", "e"] && count == 5)
        }
    }

    @Test func aHistoryThatIsRemovedOrOfAnotherStoreBeginsAnew() throws {
        try withStore { try $0.saveParcels(by: "a") }
        let token = try tokens()[0]
        try FileManager.default.removeItem(atPath: history)
        try withStore { context in
            #expect(try context.history().isEmpty)
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: token) }
            try context.saveParcels(by: "b")
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: token) }
            #expect(throws: SwiftDataError.historyTokenExpired) {
                try context.authors(after: DefaultHistoryToken([:]))
            }
            #expect(try context.history().map(\.author) == ["b"])
        }
        let next = try #require(try tokens().first)
        #expect((next.tokenValue?.values.first ?? 0) > (token.tokenValue?.values.first ?? 0))
        // While it is open, too.
        try withStore { context in
            try context.saveParcels(by: "c")
            try FileManager.default.removeItem(atPath: history)
            try context.saveParcels(by: "d")
            #expect(try context.history().map(\.author) == ["d"])
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: next) }
        }
        let last = try withStore { try $0.history() }
        #expect(last.map(\.author) == ["d"])
        // A new store takes the place of one whose history is gone too.
        try FileManager.default.removeItem(atPath: path)
        #expect {
            try withStore { _ in }
        } throws: { error in
            if case .historyWithoutStore? = (error as? FileError)?.reason { true } else { false }
        }
        try FileManager.default.removeItem(atPath: history)
        try withStore { context in
            try context.saveParcels(by: "new")
            #expect(try context.history().map(\.author) == ["new"])
            #expect(try context.authors(after: DefaultHistoryToken([:])) == ["new"])
        }
    }

    @Test func whatTheConfigurationDoesNotKeepIsDropped() throws {
        let kept = HistoryRetention(transactions: 10)
        try withStore(kept) { context in
            for number in 0..<100 { try context.saveParcels(by: "\(number)") }
            let found = try context.history().map { $0.author ?? "" }
            #expect(found.count >= 10 && found.count <= 40)
            #expect(found == (0..<100).suffix(found.count).map { "\($0)" })
        }
        let found = try withStore(kept) { try $0.history() }
        #expect(found.last?.author == "99")
        let later = try withStore(kept) { try $0.authors(after: found[0].token) }
        #expect(later.count == found.count - 1)
    }

    @Test func whatNoFileKeepsIsRecordedByTheContainer() throws {
        let token = try withStore(HistoryRetention.none) { context in
            try context.saveParcels(by: "a", "b")
            let found = try context.history()
            #expect(found.map(\.author) == ["a", "b"])
            #expect(found.map { $0.changes.map(kind) } == [["insert"], ["insert"]])
            #expect(try context.authors(after: found[0].token) == ["b"])
            #expect(try context.container.historyStatus().first?.isRecorded == true)
            #expect(throws: SwiftDataError.historyTokenExpired) {
                try context.authors(after: DefaultHistoryToken([:]))
            }
            try context.container.holdHistory("sync", after: found[0].token)
            #expect(throws: HistoryHeld.self) { try context.deleteHistory(HistoryOf()) }
            return found[0].token
        }
        #expect(!FileManager.default.fileExists(atPath: history))
        try withStore(HistoryRetention.none) { context in
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: token) }
            try context.saveParcels(by: "c", "d", "e")
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: token) }
        }
    }

    /// Bug: its token was never replaced by an earlier one, also not by one of the past that the store has now, so that it held nothing
    /// until the numbers had come as far again.
    @Test func aHolderFromBeforeARestoreGoesOn() throws {
        try withStore { try $0.saveParcels(by: "a", "b") }
        let copy = try Data(contentsOf: URL(filePath: path))
        let lost = try withStore { context in
            try context.saveParcels(by: "lost 1", "lost 2")
            return try context.container.holdHistory("sync").token
        }
        try copy.write(to: URL(filePath: path))
        try withStore { context in
            try context.saveParcels(by: "c")
            let now = try #require(try context.history().last).token
            #expect(throws: SwiftDataError.historyTokenExpired) {
                try context.container.advanceHistory("sync", to: lost)
            }
            try context.container.advanceHistory("sync", to: now)
            #expect(try context.container.historyHolders.map(\.token) == [now])
            try context.saveParcels(by: "d")
            #expect(throws: HistoryHeld(store: try place(of: context.container), holders: ["sync"])) {
                try context.deleteHistory(HistoryOf())
            }
            #expect(try context.authors(after: now) == ["d"])
            // From now on backwards as ever.
            let next = try #require(try context.history().last).token
            try context.container.advanceHistory("sync", to: next)
            try context.container.advanceHistory("sync", to: now)
            #expect(try context.container.historyHolders.map(\.token) == [next])
        }
    }

    /// Bug: who had held the history of the store that was in the place before held all of this one's.
    @Test func aStoreThatIsGoneLeavesNoHolders() throws {
        try withStore { context in
            try context.saveParcels(by: "a")
            try context.container.holdHistory("sync")
        }
        for suffix in ["", ".history"] { try FileManager.default.removeItem(atPath: path + suffix) }
        try withStore { context in
            try context.saveParcels(by: "b")
            #expect(try context.container.historyHolders.isEmpty)
            try context.deleteHistory(HistoryOf())
            #expect(try context.history().isEmpty)
            #expect(try context.container.holdHistory("sync").token.tokenValue?.values.first == 1)
        }
    }

    @Test func aHolderThatIsLeftBehindIsLost() throws {
        try withStore(HistoryRetention(transactions: 4)) { context in
            try context.saveParcels(by: "first")
            let lost = Mutex<[String]>([])
            try #require(context.container.store(JSONFileStore.self)).reportEvents { event in
                if case .historyHolderLost(_, let holder) = event { lost.withLock { $0.append(holder) } }
            }
            try context.container.holdHistory("held")
            try context.container.holdHistory("lazy", maximumLag: 2_000)
            for number in 0..<40 { try context.saveParcels(by: "\(number)") }
            #expect(try context.history().count >= 40)
            #expect(lost.withLock { $0 } == [])
            try context.container.releaseHistory("held")
            for number in 0..<100 { try context.saveParcels(by: "\(number)") }
            #expect(try context.container.historyHolders.map(\.state) == [.lost])
            #expect(lost.withLock { $0 } == ["lazy"])
            #expect(try context.history().count < 60)
        }
    }

    private var configuration: JSONFileConfiguration {
        JSONFileConfiguration(schema: Schema([Parcel.self, Storehouse.self]), path: path)
    }

    private func removeStore() throws {
        for suffix in ["", ".history", ".lock"] { try FileManager.default.removeItem(atPath: path + suffix) }
    }

    @Test(arguments: [true, false]) func aRestoredStoreHasTheHistoryOfItsBackup(isThere: Bool) throws {
        try withStore { try $0.saveParcels(by: "a", "b") }
        let kept = try tokens()
        let backup = folder.path("backup.json")
        _ = try configuration.backUpStore(to: backup)
        try withStore { try $0.saveParcels(by: "lost") }
        let lost = try #require(try tokens().last)
        if !isThere { try removeStore() }
        let report = try configuration.restoreStore(from: backup, replacing: isThere) {}
        #expect(report.notes.isEmpty, "\(report.notes)")
        try withStore { context in
            #expect(try context.history().map(\.author) == ["a", "b"])
            #expect(try context.authors(after: kept[0]) == ["b"])
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: lost) }
            try context.saveParcels(by: "c", "d")
            #expect(try context.authors(after: kept[1]) == ["c", "d"])
            #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: lost) }
        }
    }

    /// It keeps nobody from the records.
    @Test func aDamagedHistoryOfABackupIsLeftOutAndNoted() throws {
        try withStore { try $0.saveParcels(by: "a", "b") }
        let kept = try tokens()
        let backup = folder.path("backup.json")
        _ = try configuration.backUpStore(to: backup)
        let whole = try Data(contentsOf: URL(filePath: backup + ".history"))
        var noted = 0
        for offset in stride(from: 0, to: whole.count, by: 61) {
            var damaged = whole
            damaged[damaged.startIndex + offset] ^= 0x20
            try damaged.write(to: URL(filePath: backup + ".history"))
            try removeStore()
            let report = try configuration.restoreStore(from: backup, replacing: false) {}
            #expect(report.problems.isEmpty && report.notes.count <= 1, "byte \(offset)")
            noted += report.notes.count
            try withStore { context in
                #expect(try context.fetchCount(FetchDescriptor<Parcel>()) == 2)
                // Of the last frame nothing is missed: without it the backup has no history.
                #expect(try context.history().isEmpty, "byte \(offset)")
                #expect(throws: SwiftDataError.historyTokenExpired) { try context.authors(after: kept[0]) }
                try context.saveParcels(by: "c")
                #expect(try context.history().map(\.author) == ["c"])
            }
        }
        #expect(noted > whole.count / 61 / 2)
    }

    @Test func savesInBulkAreATransactionEach() throws {
        let container = try ModelContainer(
            for: Schema([Parcel.self, Storehouse.self]), configurations: [JSONFileConfiguration(path: path)])
        defer { try? container.close() }
        let context = ModelContext(container)
        let store = try #require(container.store(JSONFileStore.self))
        try store.saveInBulk { flush in
            try context.saveParcels(by: "a", "b")
            try flush()
            try context.saveParcels(by: "c")
        }
        #expect(try context.history().map(\.author) == ["a", "b", "c"])
        try container.close()
        let found = try withStore { try $0.history() }
        #expect(found.map(\.author) == ["a", "b", "c"])
    }
}

private struct TestFailure: Error {}
