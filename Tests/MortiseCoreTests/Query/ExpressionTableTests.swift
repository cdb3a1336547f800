import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseEngine
import MortiseInMemory
import MortiseJSONFile
#if PostgreSQL
import MortisePostgreSQL
import SQLSupport
#endif
#if SQLite
import MortiseSQLite
#endif
import Testing
import MortiseTestSupport

/// `EXPRESSIONS.md` beside the code says what becomes of every kind of expression: this keeps it true.
@Suite struct ExpressionTableTests {
    @Test func theTableSaysWhatHappens() throws {
        let disk = SimulatedFileSystem()
        var configurations: [any DataStoreConfiguration] = [
            InMemoryConfiguration(), JSONFileConfiguration(path: "/a.json", in: disk),
            AppendLogConfiguration(path: "/a.log", in: disk), ClaimingConfiguration(.superset), PlainConfiguration(),
        ]
        #if SQLite
        let folder = FileManager.default.temporaryDirectory.appending(path: "expressions-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        configurations.append(
            SQLiteConfiguration(path: folder.appending(path: "a.sqlite").path(percentEncoded: false)))
        #endif
        #if SQLite && PostgreSQL
        if let url = TestServer.url {
            let name = "e_" + UUID().uuidString.lowercased().replacing("-", with: "")
            let text = url + (url.contains("?") ? "&" : "?") + "schema=\(name)"
            let made = try StoreRegistry(.postgres).configuration(for: text)
            configurations.append(made)
        }
        defer {
            for case let configuration as PostgreSQLConfiguration in configurations {
                try? configuration.removeNamespace()
            }
        }
        #endif
        let contexts = try configurations.map { ModelContext(try container($0)) }
        let actual = try ExpressionExample.all.map { example in
            let explained = try contexts.map { try example.explain($0) }
            let conjuncts = explained[0].conjuncts
            let lowered = conjuncts.filter { $0.status != .onModels }.map(\.text).joined(separator: "; ")
            return [example.kind, "`\(example.source)`", lowered.isEmpty ? "no" : "`\(lowered)`"]
                + explained.map(statuses)
        }
        // The last columns are of stores that are there with their traits alone.
        let documented = try rows().map { Array($0.prefix(3 + contexts.count)) }
        #expect(documented.map(\.first) == actual.map(\.first), "every kind has its row, in this order")
        for (row, wanted) in zip(documented, actual) { #expect(row == wanted) }
        if documented != actual {
            let lines = actual.map { cells in
                "| " + cells.map { $0.replacing("|", with: "&#124;") }.joined(separator: " | ") + " |"
            }
            print(lines.joined(separator: "\n"))
        }
    }

    /// The kinds that can be lowered are the extensions of the lowering.
    @Test func everyKindThatIsLoweredHasAnExample() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/MortiseCore/Query")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var lowered: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            for match in try String(contentsOf: file, encoding: .utf8).matches(
                of: /extension (?:PredicateExpressions\.)?(\w+): LowerableExpression/)
            {
                lowered.insert(String(match.1))
            }
        }
        #expect(lowered.count > 40)
        // `#Predicate` does not make it on every platform, and expressions of parameter packs cannot be made by hand.
        lowered.remove("ExpressionEvaluate")
        let shown = Set(ExpressionExample.all.flatMap { $0.type.split { !$0.isLetter }.map(String.init) })
        #expect(lowered.subtracting(shown) == [], "an example of each is in the table")
    }

    private func container(_ configuration: any DataStoreConfiguration) throws -> ModelContainer {
        try ModelContainer(for: Schema([Item.self, Special.self, Box.self]), configurations: [configuration])
    }

    private func statuses(_ found: FetchExplanation) -> String {
        var seen: [String] = []
        for conjunct in found.conjuncts where !seen.contains(conjunct.status.rawValue) {
            seen.append(conjunct.status.rawValue)
        }
        return seen.joined(separator: ", ")
    }

    private func rows() throws -> [[String]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/MortiseCore/Query/EXPRESSIONS.md")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| ") && !$0.hasPrefix("| Kind") }
            .map { line in
                line.dropFirst(2).dropLast(2).components(separatedBy: " | ").map { $0.replacing("&#124;", with: "|") }
            }
    }
}

/// A predicate of one kind, its text, and how a context carries it out.
struct ExpressionExample {
    let kind: String
    let source: String
    /// The name of the expression's type, in which those of its parts are.
    let type: String
    let explain: (ModelContext) throws -> FetchExplanation

    init<T: PersistentModel>(_ kind: String, _ source: String, _ predicate: Predicate<T>) {
        self.kind = kind
        self.source = source
        func name<E: PredicateExpression>(_ expression: E) -> String { String(reflecting: E.self) }
        type = name(predicate.expression)
        explain = { try $0.explain(FetchDescriptor(predicate: predicate)) }
    }

    private static let names = ["a", "b"]
    private static let place = Place()

    static var all: [ExpressionExample] {
        let (names, place, limit, run) = (names, place, 3, [1, 2])
        let (short, flagged) = (#Predicate<Item> { $0.size < 3 }, #Predicate<Item> { $0.flag })
        let pattern = Predicate<Item> {
            matches(Term<Item>($0)[\.name], "a.b").expression
        }
        return [
            .init("equality", "$0.name == \"a\"", #Predicate<Item> { $0.name == "a" }),
            .init("inequality", "$0.name != \"a\"", #Predicate<Item> { $0.name != "a" }),
            .init("comparison", "$0.size < 3", #Predicate<Item> { $0.size < 3 }),
            .init("captured value", "$0.size < limit", #Predicate<Item> { $0.size < limit }),
            .init("conjunction", "$0.flag && $0.size < 3", #Predicate<Item> { $0.flag && $0.size < 3 }),
            .init("disjunction", "$0.flag || $0.size < 3", #Predicate<Item> { $0.flag || $0.size < 3 }),
            .init("negation", "!$0.flag", #Predicate<Item> { !$0.flag }),
            .init("arithmetic", "$0.size + 1 == 3", #Predicate<Item> { $0.size + 1 == 3 }),
            .init("unary minus", "-$0.size == 3", #Predicate<Item> { -$0.size == 3 }),
            .init("division", "$0.weight / 2 < 1", #Predicate<Item> { $0.weight / 2 < 1 }),
            .init("integer division", "$0.size / 2 == 1", #Predicate<Item> { $0.size / 2 == 1 }),
            .init("remainder", "$0.size % 2 == 1", #Predicate<Item> { $0.size % 2 == 1 }),
            .init("conditional", "$0.flag ? $0.size < 3 : false", #Predicate<Item> { $0.flag ? $0.size < 3 : false }),
            .init("nil literal", "$0.note == nil", #Predicate<Item> { $0.note == nil }),
            .init("nil coalescing", "($0.rank ?? 0) > 1", #Predicate<Item> { ($0.rank ?? 0) > 1 }),
            .init("forced unwrap", "$0.rank! > 1", #Predicate<Item> { $0.rank! > 1 }),
            .init("optional chain", "$0.note?.isEmpty == true", #Predicate<Item> { $0.note?.isEmpty == true }),
            .init("to-one chain", "$0.box?.outer?.label == \"a\"", #Predicate<Item> { $0.box?.outer?.label == "a" }),
            .init("composite member", "$0.place.city == \"a\"", #Predicate<Item> { $0.place.city == "a" }),
            .init("optional composite", "$0.branch?.floor == 1", #Predicate<Item> { $0.branch?.floor == 1 }),
            .init("inherited property", "$0.size == $0.extra", #Predicate<Special> { $0.size == $0.extra }),
            .init("type check", "$0 is Special", #Predicate<Item> { $0 is Special }),
            .init("type cast", "($0 as? Special)?.extra == 1", #Predicate<Item> { ($0 as? Special)?.extra == 1 }),
            .init("enum", "$0.tone.rawValue == \"low\"", #Predicate<Item> { $0.tone.rawValue == "low" }),
            .init(
                "forced cast", "($0 as! Special).extra == 1", #Predicate<Item> { ($0 as! Special).extra == 1 }),
            .init("string contains", "$0.name.contains(\"a\")", #Predicate<Item> { $0.name.contains("a") }),
            .init(
                "string starts(with:)", "$0.name.starts(with: \"a\")", #Predicate<Item> { $0.name.starts(with: "a") }),
            .init("regular expression", "$0.name.contains(/a.b/)", pattern),
            .init(
                "searching as people do", "$0.name.localizedStandardContains(\"a\")",
                #Predicate<Item> { $0.name.localizedStandardContains("a") }),
            .init("count", "$0.name.count == 2", #Predicate<Item> { $0.name.count == 2 }),
            .init("isEmpty", "$0.peers.isEmpty", #Predicate<Item> { $0.peers.isEmpty }),
            .init("first", "$0.numbers.first == 1", #Predicate<Item> { $0.numbers.first == 1 }),
            .init("last", "$0.numbers.last == 1", #Predicate<Item> { $0.numbers.last == 1 }),
            .init("collection contains", "$0.numbers.contains(run)", #Predicate<Item> { $0.numbers.contains(run) }),
            .init("index", "$0.numbers[0] == 1", #Predicate<Item> { $0.numbers[0] == 1 }),
            .init("slice", "$0.numbers[0..<1].contains(1)", #Predicate<Item> { $0.numbers[0..<1].contains(1) }),
            .init("dictionary", "$0.marks[\"a\"] == 1", #Predicate<Item> { $0.marks["a"] == 1 }),
            .init(
                "dictionary default", "$0.marks[\"a\", default: 0] == 1",
                #Predicate<Item> { $0.marks["a", default: 0] == 1 }),
            .init("sequence contains", "$0.tags.contains(\"a\")", #Predicate<Item> { $0.tags.contains("a") }),
            .init("captured sequence", "names.contains($0.name)", #Predicate<Item> { names.contains($0.name) }),
            .init(
                "contains(where:)", "$0.peers.contains { $0.load > 1 }",
                #Predicate<Item> { $0.peers.contains { $0.load > 1 } }),
            .init(
                "allSatisfy", "$0.numbers.allSatisfy { $0 > 1 }", #Predicate<Item> { $0.numbers.allSatisfy { $0 > 1 } }),
            .init(
                "filter", "$0.numbers.filter { $0 > 1 }.count == 2",
                #Predicate<Item> { $0.numbers.filter { $0 > 1 }.count == 2 }),
            .init(
                "sequence starts(with:)", "$0.tags.starts(with: names)",
                #Predicate<Item> { $0.tags.starts(with: names) }),
            .init("minimum", "$0.scores.min() == 1", #Predicate<Item> { $0.scores.min() == 1 }),
            .init("maximum", "$0.days.max() == nil", #Predicate<Item> { $0.days.max() == nil }),
            .init("range", "(1..<3).contains($0.size)", #Predicate<Item> { (1..<3).contains($0.size) }),
            .init("closed range", "(1...$0.size).contains(2)", #Predicate<Item> { (1...$0.size).contains(2) }),
            .init(
                "identifier", "$0.box?.persistentModelID == nil", #Predicate<Item> { $0.box?.persistentModelID == nil }),
            .init("joined by and", "short.and(flagged)", short.and(flagged)),
            .init("joined by or", "short.or(flagged)", short.or(flagged)),
            .init("negated predicate", "short.not()", short.not()),
            .init("equality of a coded type", "$0.place == place", #Predicate<Item> { $0.place == place }),
            .init("property without storage", "$0.loud == \"A\"", #Predicate<Item> { $0.loud == "A" }),
        ]
    }
}

extension Item {
    /// A property that no store keeps.
    var loud: String { name.uppercased() }
}
