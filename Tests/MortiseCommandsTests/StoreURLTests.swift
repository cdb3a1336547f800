import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseInMemory
import MortiseJSONFile
import Testing

/// What a store URL stands for, and what is said of one that stands for nothing.
@Suite struct StoreURLTests {
    private static let registry = StoreRegistry(.memory, .json, .log)

    @Test func pathsAreTakenAsTheyAre() throws {
        let json = try #require(
            try Self.registry.configuration(for: "json:a b/100%41#x.json") as? JSONFileConfiguration)
        #expect(json.path == "a b/100%41#x.json")
        #expect(json.allowsSave)
        let upper = try #require(try Self.registry.configuration(for: "JSON:x") as? JSONFileConfiguration)
        #expect(upper.path == "x")
        #expect(try Self.registry.configuration(for: "memory:") is InMemoryConfiguration)
    }

    @Test func optionsReachTheConfiguration() throws {
        func log(_ url: String) throws -> AppendLogConfiguration {
            try #require(try Self.registry.configuration(for: url) as? AppendLogConfiguration)
        }
        #expect(try log("log:a?durability=batched&interval=250ms").durability == .batched(.milliseconds(250)))
        #expect(try log("log:a?durability=batched").durability == .batched(.milliseconds(50)))
        #expect(try log("log:a?durability=none&allowsSave=false").durability == .none)
        #expect(try !log("log:a?allowsSave=false").allowsSave)
        #expect(try log("log:a?keepDays=30").history == .keep(days: 30))
        #expect(try log("log:a?durability=%66ull").durability == .full)
        let json = try #require(
            try Self.registry.configuration(for: "json:a?integrity=acceptEdits") as? JSONFileConfiguration)
        #expect(json.integrity == .acceptEdits)
    }

    @Test(arguments: [
        ("", "no scheme"), ("a", "no scheme"), (":a", "no scheme"), ("floppy:a", "Known schemes: json:, log:, memory:"),
        ("json:", "it has no path after the colon"), ("json:?allowsSave=true", "it has no path after the colon"),
        ("json:a\0b", "NUL"),
        ("json:a?", "name=value"), ("json:a?=1", "name=value"), ("json:a?allowsSave", "name=value"),
        ("json:a?allowsSave=true&", "name=value"), ("json:a?allowsSave=", "true or false, not \"\""),
        ("json:a?allowsSave=TRUE", "true or false"),
        ("json:a?allowssave=true", "Allowed options: allowsSave, dropping, integrity"),
        ("json:a?allowsSave=%zz", "two hexadecimal digits"), ("memory:?x=1", "Allowed options: name"),
        ("log:a?keepDays=-1", "a whole number from 0 to 36500"), ("log:a?keepDays=1e3", "a whole number"),
        ("log:a?keepDays=99999999999999999999", "a whole number"),
        ("log:a?durability=batched&interval=50", "50ms or 2s"),
        ("log:a?durability=batched&interval=3601s", "up to an hour"),
        ("log:a?durability=batched&interval=-1s", "50ms or 2s"),
        ("log:a?interval=50ms", "interval requires durability=batched"),
        ("log:a?durability=full&durability=full", "twice"),
    ]) func whatIsMalformedIsExplained(_ url: String, _ words: String) {
        #expect {
            _ = try Self.registry.configuration(for: url)
        } throws: { error in
            error is StoreURLError && "\(error)".contains(words)
                && (error as? any ClassifiedStoreError)?.errorClass == .usage
        }
    }

    @Test func secretsAreLeftOut() throws {
        var registry = Self.registry
        registry.register(
            StoreScheme(
                "db", summary: "a test", location: .other("//HOST"),
                options: [
                    StoreOption("pin", .wholeNumber(0...9), default: "0", "a secret number", isSecret: true),
                    StoreOption("password", .text, default: "", "a secret"),
                ]
            ) { url in throw url.malformed("no") })
        for url in [
            "db://ada:hunter2@host/x?password=hunter2", "db://ada:hunter2@host?colour=red",
            "db://ada:hunter2@host?password=hunter2&password=hunter2", "db://ada:hunter2@host?pin=hunter2",
            "nosuch://ada:hunter2@host?api_token=hunter2", "db://host?hunter2", "db://host?=hunter2",
            "json:a?allowsSave=true&hunter2", "json:a?=hunter2&allowsSave", "db://ada:hunter2/x@host?y",
        ] {
            #expect { _ = try registry.configuration(for: url) } throws: { !"\($0)".contains("hunter2") }
            #expect(!registry.redacted(url).contains("hunter2"), "\(registry.redacted(url))")
        }
        for url in ["db://ada:hunter2@host/x?password=hunter2", "nosuch://ada:hunter2@host?api_token=hunter2"] {
            #expect(try !StoreURL(url).description.contains("hunter2"))
        }
        #expect(registry.redacted("db://host?pin=3&colour=red") == "db://host?pin=…&colour=red")
        #expect(registry.redacted("nosuch:x?a&=b&c=d&") == "nosuch:x?…&=…&c=d&")
        #expect(try StoreURL("json:a?allowsSave=false").redacted == "json:a?allowsSave=false")
    }

    @Test func optionsCanBeAddedToAURL() throws {
        let url = try StoreURL("log:my log?durability=batched")
        let other = try StoreURL(url.with(options: url.options.merging(["interval": "5 & 6%"]) { $1 }))
        #expect(other.path == "my log")
        #expect(other.options == ["durability": "batched", "interval": "5 & 6%"])
    }
}
