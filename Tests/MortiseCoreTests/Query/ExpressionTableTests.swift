import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// `EXPRESSIONS.md` beside the code says what becomes of every kind of expression: this keeps it true.
@Suite struct ExpressionTableTests {
    @Test func theTableSaysWhatHappens() throws {
        let engine = ModelContext(try container(InMemoryConfiguration()))
        let plain = ModelContext(try container(PlainConfiguration()))
        let actual = try ExpressionExample.all.map { example in
            let (pushed, left) = (try example.explain(engine), try example.explain(plain))
            let isCode = pushed.conjuncts.contains { $0.status == .onModels }
            let text = pushed.conjuncts.map(\.text).joined(separator: "; ")
            return [
                example.kind, "`\(example.source)`", isCode ? "no" : "`\(text)`", statuses(pushed), statuses(left),
            ]
        }
        let documented = try rows()
        #expect(documented.map(\.first) == actual.map(\.first), "every kind has its row, in this order")
        for (row, wanted) in zip(documented, actual) { #expect(row == wanted) }
        if documented != actual {
            let lines = actual.map { cells in
                "| " + cells.map { $0.replacing("|", with: "&#124;") }.joined(separator: " | ") + " |"
            }
            print(lines.joined(separator: "\n"))
        }
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
    let explain: (ModelContext) throws -> FetchExplanation

    init<T: PersistentModel>(_ kind: String, _ source: String, _ predicate: Predicate<T>) {
        self.kind = kind
        self.source = source
        explain = { try $0.explain(FetchDescriptor(predicate: predicate)) }
    }

    private static let names = ["a", "b"]
    private static let place = Place()

    static var all: [ExpressionExample] {
        let (names, place, limit) = (names, place, 3)
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
            .init("string contains", "$0.name.contains(\"a\")", #Predicate<Item> { $0.name.contains("a") }),
            .init(
                "string starts(with:)", "$0.name.starts(with: \"a\")", #Predicate<Item> { $0.name.starts(with: "a") }),
            .init("count", "$0.name.count == 2", #Predicate<Item> { $0.name.count == 2 }),
            .init("isEmpty", "$0.peers.isEmpty", #Predicate<Item> { $0.peers.isEmpty }),
            .init("first", "$0.numbers.first == 1", #Predicate<Item> { $0.numbers.first == 1 }),
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
            .init("equality of a coded type", "$0.place == place", #Predicate<Item> { $0.place == place }),
            .init("property without storage", "$0.loud == \"A\"", #Predicate<Item> { $0.loud == "A" }),
        ]
    }
}

extension Item {
    /// A property that no store keeps.
    var loud: String { name.uppercased() }
}
