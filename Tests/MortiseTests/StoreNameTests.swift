import Foundation
import Logging
import Mortise
import Testing

@Model private final class Entry {
    var text: String
    init(_ text: String) { self.text = text }
}

@Model private final class Setting {
    var key: String
    init(_ key: String) { self.key = key }
}

/// What a store is called: by its URL, in errors and logs, and when it is asked for.
@Suite struct StoreNameTests {
    @Test func aURLNamesItsStore() throws {
        let folder = try Folder()
        for (url, name) in [
            ("log:\(folder.path("app.log"))?name=ledger", "ledger"),
            ("json:\(folder.path("app.json"))?name=my%20ledger", "my ledger"),
            ("memory:?name=ledger", "ledger"), ("memory:ledger?name=ledger", "ledger"), ("memory:notes", "notes"),
            ("memory:", "memory"), ("log:\(folder.path("other.log"))", "other"),
            ("memory:?name=\u{e9}t\u{e9}", "\u{e9}t\u{e9}"),
        ] {
            let container = try ModelContainer(for: Entry.self, store: url)
            #expect(container.storeConfigurations.map(\.name) == [name])
            let store = try #require(container.store(named: name))
            #expect(container.store(named: "none") == nil)
            #expect(container.configurationName(forStoreIdentifier: store.identifier) == name)
            #expect(try container.statistics().map(\.store) == [name])
            #expect(container.health().map(\.store) == [name])
            try container.close()
        }
    }

    @Test(arguments: [
        "", "%20a", "a%20", "a/b", "..", ".", "a%00b", "a%0Ab", "a%E2%80%AEb", String(repeating: "n", count: 101),
        "%FF", "a&name=b",
    ]) func aBadNameIsRefused(_ name: String) throws {
        for url in ["log:a.log", "json:a.json", "memory:"] {
            #expect {
                try StoreRegistry.standard.configuration(for: "\(url)?name=\(name)")
            } throws: { error in
                guard case StoreURLError.malformed(_, let fault)? = error as? StoreURLError else { return false }
                return fault.contains("name")
            }
        }
    }

    @Test func aStoreInMemoryHasOneName() {
        #expect {
            try StoreRegistry.standard.configuration(for: "memory:a?name=b")
        } throws: {
            "\($0)".contains("two names")
        }
    }

    @Test func namesTellStoresWithFilesOfOneNameApart() throws {
        let folder = try Folder()
        for name in ["one", "two"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        let (log, json) = ("log:\(folder.path("one/app.log"))", "json:\(folder.path("two/app.json"))")
        #expect {
            try ModelContainer(stores: [log: [Entry.self], json: [Setting.self]])
        } throws: { error in
            let text = "\((error as? SwiftDataError)?.explanation ?? "\(error)")"
            return (error as? SwiftDataError) == .duplicateConfiguration && text.contains("?name=")
                && text.contains(folder.path("one/app.log")) && text.contains(folder.path("two/app.json"))
        }
        let lines = LogLines()
        let container = try ModelContainer(
            stores: [log: [Entry.self], "\(json)?name=settings": [Setting.self]],
            logger: .init(label: "t") { _ in lines })
        let context = ModelContext(container)
        context.insert(Entry("a"))
        context.insert(Setting("b"))
        try context.save()
        #expect(container.store(named: "app") is AppendLogStore && container.store(named: "settings") is JSONFileStore)
        #expect(try container.backUp(to: folder.path("backup")).map(\.store) == ["app", "settings"])
        try container.close()
    }
}
