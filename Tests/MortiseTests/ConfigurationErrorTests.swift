import Foundation
import Mortise
import Testing

@Suite struct ConfigurationErrorTests {
    private func expect<E: Error & Equatable>(
        _ error: E, _ sort: SwiftDataError, saying words: String..., at location: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        #expect(sourceLocation: location) {
            try body()
        } throws: { thrown in
            guard case sort = thrown else { return false }
            return thrown as? E == error && words.allSatisfy("\(thrown)".contains)
        }
    }

    private func open(_ configuration: ModelConfiguration) throws {
        _ = try ModelContainer(for: Gauge.self, configurations: configuration)
    }

    @Test func iCloudDatabasesAreRefusedByName() {
        expect(
            ModelConfigurationError.noCloudKit(configuration: "c", database: "db"), .loadIssueModelContainer,
            saying: "\"c\"", "db", ".automatic"
        ) {
            try open(ModelConfiguration("c", isStoredInMemoryOnly: true, cloudKitDatabase: .private("db")))
        }
    }

    @Test func appGroupsAreRefusedByName() {
        expect(
            ModelConfigurationError.noAppGroups(configuration: "g", group: "team"), .loadIssueModelContainer,
            saying: "\"g\"", "team", "url"
        ) {
            try open(ModelConfiguration("g", isStoredInMemoryOnly: true, groupContainer: .identifier("team")))
        }
    }

    @Test func automaticAndNoneAreSilent() throws {
        try open(
            ModelConfiguration(
                "a", isStoredInMemoryOnly: true, groupContainer: .automatic, cloudKitDatabase: .automatic))
        try open(ModelConfiguration("n", isStoredInMemoryOnly: true, groupContainer: .none, cloudKitDatabase: .none))
    }

    @Test func fileNamesThatNoFileSystemTakesAreRefused() throws {
        let folder = try Folder()
        let long = String(repeating: "x", count: 300)
        expect(
            ModelConfigurationError.fileNameTooLong(configuration: long, bytes: 300), .configurationFileNameTooLong,
            saying: "300", "Shorten"
        ) {
            try open(ModelConfiguration(url: folder.url.appending(path: long)))
        }
        #expect {
            try open(ModelConfiguration("a/b", url: folder.url.appending(path: "f")))
        } throws: { error in
            guard case SwiftDataError.configurationFileNameContainsInvalidCharacters = error else { return false }
            return "\(error)".contains("\"a/b\"")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).isEmpty)
    }

    @Test(arguments: ["json:library.json", "log:/library.log", "memory:", "http://example.org/a.store"])
    func aModelConfigurationHasAFile(_ text: String) throws {
        let url = try #require(URL(string: text))
        #expect {
            try ModelContainer(for: Gauge.self, configurations: ModelConfiguration("a", url: url))
        } throws: { error in
            guard case ModelConfigurationError.notAFile("a", let scheme)? = error as? ModelConfigurationError else {
                return false
            }
            return text.hasPrefix(scheme + ":") && error.localizedDescription.contains("ModelContainer(for:store:)")
        }
    }

    @Test func storeURLsThatNameNoStoreAreExplained() {
        func container(_ url: String) throws { _ = try ModelContainer(for: Gauge.self, store: url) }
        let sort = SwiftDataError.loadIssueModelContainer
        let known = StoreRegistry.standard.knownSchemes.map(\.name)
        #expect(known.starts(with: ["json", "log", "memory"]))
        expect(
            StoreURLError.unknownScheme(url: "floppy:a", scheme: "floppy", known: known), sort,
            saying: "floppy", "json:", "memory:"
        ) { try container("floppy:a") }
        expect(
            StoreURLError.unknownOption(
                url: "json:a?colour=red", option: "colour", allowed: ["allowsSave", "dropping", "integrity", "name"]),
            sort, saying: "colour", "allowsSave, dropping, integrity, name"
        ) { try container("json:a?colour=red") }
        expect(
            StoreURLError.unknownOption(url: "memory:?a=b", option: "a", allowed: ["name"]), sort,
            saying: "Allowed options: name"
        ) { try container("memory:?a=b") }
        for (url, word) in [
            ("library.json", "no scheme"), (":x", "no scheme"), ("json:", "it has no path after the colon"),
            ("json:a?b", "name=value"), ("json:a?allowsSave=true&allowsSave=true", "twice"),
            ("json:a?allowsSave=yes", "true or false"), ("json:a?integrity=none", "required or acceptEdits"),
        ] {
            // What stands there without a name may be a secret.
            let shown = url == "json:a?b" ? "json:a?…" : url
            #expect {
                try container(url)
            } throws: { error in
                guard case sort = error, case .malformed(shown, _)? = error as? StoreURLError else { return false }
                return "\(error)".contains(word) && "\(error)".contains("\"\(shown)\"")
            }
        }
    }
}
