#if Tool
import Foundation
@testable import MortiseCommands
import MortiseAppendLog
import MortiseConfiguration
import MortiseCore
import MortiseInMemory
import MortiseJSONFile
import Testing

/// Where stores are, from arguments, environment and file.
@Suite struct StoreSettingsTests {
    private static let registry = StoreRegistry(.memory, .json, .log)

    private func settings(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws -> StoreSettings {
        try .standard(arguments: ["program"] + arguments, environment: environment)
    }

    private func file(
        _ text: String, _ folder: ToolFolder, _ name: String = "settings.json"
    ) throws -> [String: String] {
        try Data(text.utf8).write(to: folder.url.appending(path: name))
        return ["MORTISE_CONFIG": folder.path(name)]
    }

    @Test(arguments: [
        ("MORTISE_STORE_DURABILTY", nil), ("MORTISE_STORE_URI", nil), ("MORTISE_STORES_LOCAL_ALLOW_SAVE", "local"),
    ]) func aMisspeltVariableIsAnErrorThatListsWhatIsAllowed(_ variable: String, _ name: String?) throws {
        let environment = [
            "MORTISE_STORE_URL": "log:a.log", "MORTISE_STORES_LOCAL_URL": "log:b.log", variable: "hunter2",
            "MORTISE_TEST_SIZE": "full", "MORTISE_STORES_LOCAL_TWO_ALLOWS_SAVE": "true",
        ]
        #expect { _ = try settings([], environment).url(named: name, registry: Self.registry) } throws: { error in
            let text = "\(error)"
            return error is StoreSettingsError && text.contains(variable) && text.contains("durability")
                && text.contains("allowsSave") && !text.contains("hunter2")
        }
        // Nobody asks for the other store.
        #expect(try settings([], environment).url(named: "local_two", registry: Self.registry) == nil)
    }

    @Test func anOptionOfAnotherSchemeIsNoMistake() throws {
        let environment = ["MORTISE_STORE_URL": "json:a.json", "MORTISE_STORE_DURABILITY": "none"]
        #expect(try settings([], environment).url(registry: Self.registry) == "json:a.json")
    }

    @Test func theEnvironmentNamesAStore() throws {
        let found = try settings([], ["MORTISE_STORE_URL": "log:a.log", "MORTISE_STORE_DURABILITY": "none"])
        #expect(try found.url(registry: Self.registry) == "log:a.log?durability=none")
        #expect(try found.url(named: "other", registry: Self.registry) == nil)
        let configuration = try #require(try found.configuration(registry: Self.registry) as? AppendLogConfiguration)
        #expect(configuration.durability == .none)
    }

    @Test func severalStoresHaveNames() throws {
        let found = try settings(
            [],
            [
                "MORTISE_STORES_LOCAL_URL": "json:l.json", "MORTISE_STORES_SHARED_URL": "log:s.log",
                "MORTISE_STORES_SHARED_ALLOWS_SAVE": "false",
            ])
        #expect(try found.url(named: "local", registry: Self.registry) == "json:l.json")
        #expect(try found.url(named: "shared", registry: Self.registry) == "log:s.log?allowsSave=false")
        #expect(throws: StoreSettingsError.noStore(key: "mortise.store.url")) {
            try found.configuration(registry: Self.registry)
        }
    }

    @Test func nothingSaidIsNothing() throws {
        #expect(try settings().url(registry: Self.registry) == nil)
        #expect { _ = try settings().configuration(registry: Self.registry) } throws: { error in
            "\(error)".contains("MORTISE_STORE_URL")
        }
    }

    #if compiler(>=6.2)
    @Test func argumentsGoBeforeTheEnvironmentAndThatBeforeAFile() throws {
        let folder = try ToolFolder()
        var environment = try file(
            #"{"mortise": {"store": {"url": "json:file.json", "integrity": "acceptEdits", "allowsSave": false}}}"#,
            folder)
        #expect(
            try settings([], environment).url(registry: Self.registry)
                == "json:file.json?allowsSave=false&integrity=acceptEdits")
        environment["MORTISE_STORE_URL"] = "log:environment.log"
        #expect(try settings([], environment).url(registry: Self.registry) == "log:environment.log?allowsSave=false")
        #expect(
            try settings(["--mortise-store-url", "json:argument.json"], environment).url(registry: Self.registry)
                == "json:argument.json?allowsSave=false&integrity=acceptEdits")
    }

    @Test func misspeltFlagsAndKeysOfFilesAreErrors() throws {
        let folder = try ToolFolder()
        let right = ["MORTISE_STORE_URL": "log:a.log"]
        for (arguments, text) in [
            (["--mortise-store-durabilty", "none"], "{}"), (["--mortise-stroe-url=log:b.log"], "{}"),
            ([], #"{"mortise": {"store": {"durabilty": "none"}}}"#), ([], #"{"mortise": {"stroe": {"url": "log:b"}}}"#),
        ] {
            let environment = right.merging(try file(text, folder)) { $1 }
            #expect(throws: StoreSettingsError.self, "\(arguments) \(text)") {
                try settings(arguments, environment).url(registry: Self.registry)
            }
        }
        let others = try file(#"{"app": {"colour": "red"}, "mortise": {"store": {"url": "log:a.log"}}}"#, folder)
        #expect(try settings(["--colour"], others).url(registry: Self.registry) == "log:a.log")
    }

    @Test(arguments: ["settings.yaml", "settings.yml"]) func aFileMayBeYAML(_ name: String) throws {
        let folder = try ToolFolder()
        let environment = try file(
            """
            # Where the stores are.
            mortise:
              store:
                url: "log:a.log"
                keepDays: 0
                allowsSave: false
              stores:
                shared: &shared
                  url: json:s.json
            """, folder, name)
        #expect(try settings([], environment).url(registry: Self.registry) == "log:a.log?allowsSave=false&keepDays=0")
        #expect(try settings([], environment).url(named: "shared", registry: Self.registry) == "json:s.json")
    }

    @Test func yamlThatIsNoMappingIsNamedAndNotQuoted() throws {
        let folder = try ToolFolder()
        let bomb = (1...40).reduce("a0: &a0 hunter2\n") { $0 + "a\($1): &a\($1) [*a\($1 - 1), *a\($1 - 1)]\n" }
        for text in ["", "hunter2", "- hunter2", "a: [hunter2", "a: hunter2\na: hunter2", "\u{0}", bomb] {
            #expect { _ = try settings([], try file(text, folder, "settings.yaml")) } throws: { error in
                error is StoreSettingsError && "\(error)".contains("settings.yaml") && !"\(error)".contains("hunter2")
            }
        }
        let deep = String(repeating: "[", count: 200_000)
        #expect(throws: StoreSettingsError.self) { try settings([], try file(deep, folder, "settings.yaml")) }
    }

    @Test func numbersInAFileAreNumbers() throws {
        let folder = try ToolFolder()
        for (value, expected) in [("0", "0"), ("1", "1"), ("30", "30"), ("\"7\"", "7")] {
            let environment = try file(#"{"mortise": {"store": {"url": "log:a.log", "keepDays": \#(value)}}}"#, folder)
            #expect(try settings([], environment).url(registry: Self.registry) == "log:a.log?keepDays=\(expected)")
        }
        let wrong = try file(#"{"mortise": {"store": {"url": "log:a.log", "keepDays": true}}}"#, folder)
        #expect(throws: StoreURLError.self) { try settings([], wrong).configuration(registry: Self.registry) }
        let list = try file(#"{"mortise": {"store": {"url": ["log:a.log"]}}}"#, folder)
        #expect(throws: StoreSettingsError.self) { try settings([], list).configuration(registry: Self.registry) }
    }

    @Test func aFileThatIsNoneIsNamedAndNotQuoted() throws {
        let folder = try ToolFolder()
        for text in ["", "hunter2", "[\"hunter2\"]", "{\"mortise\": {\"store\": {\"url\": hunter2}}}"] {
            #expect { _ = try settings([], try file(text, folder)) } throws: { error in
                error is StoreSettingsError && "\(error)".contains("settings.json") && !"\(error)".contains("hunter2")
            }
        }
        #expect { _ = try settings([], ["MORTISE_CONFIG": folder.path("nowhere")]) } throws: { error in
            "\(error)".contains("the file does not exist")
        }
    }

    /// The limit is looked at before the file is read: the long one is a hole of a terabyte, which no memory holds.
    @Test func aFileOverTheLimitIsRefusedUnread() throws {
        let folder = try ToolFolder()
        let short = #"{"mortise": {"store": {"url": "log:a.log"}}}"#
        let atLimit = try file(short + String(repeating: " ", count: 1 << 20 - short.utf8.count), folder)
        #expect(try settings([], atLimit).url(registry: Self.registry) == "log:a.log")
        let path = folder.path("settings.json")
        for length in [off_t(1 << 20) + 1, 1 << 40] {
            #expect(truncate(path, length) == 0)
            #expect {
                _ = try settings([], atLimit)
            } throws: { error in
                "\(error)".contains(path) && "\(error)".contains("more than 1048576 bytes")
            }
        }
    }

    @Test func secretsStayOutOfErrors() throws {
        let folder = try ToolFolder()
        var registry = Self.registry
        registry.register(
            StoreScheme(
                "db", summary: "a test", location: .other("//HOST"),
                options: [StoreOption("pin", .wholeNumber(0...9), default: "0", "a secret", isSecret: true)]
            ) { throw $0.malformed("no") })
        let environment = try file(
            #"{"mortise": {"store": {"url": "db://ada:hunter2@host", "pin": "hunter2"}}}"#, folder)
        #expect { _ = try settings([], environment).configuration(registry: registry) } throws: { error in
            error is StoreURLError && !"\(error)".contains("hunter2")
        }
    }

    @Test func theToolTakesNamesFromThem() throws {
        let folder = try ToolFolder()
        let store = try folder.trips("trips.json", 4)
        let environment = try file(#"{"mortise": {"stores": {"library": {"url": "\#(store)"}}}}"#, folder)
        let run = try ToolRun(["fetch", "@library", "Trip", "--count"], environment: environment)
        #expect(run.output == "4\n", "\(run.errors)")
        let unknown = try ToolRun(["fetch", "@nothing", "Trip", "--count"], environment: environment)
        #expect(unknown.status == ToolExitStatus.usage && unknown.errors.contains("\"nothing\""))
    }
    #endif
}
#endif
