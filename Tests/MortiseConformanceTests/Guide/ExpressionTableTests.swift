import Foundation
import Testing

@testable import MortiseConformance
@testable import MortiseCore

/// The guide says which expressions predicates become: a table of predicates and of what a store gets for them.
@Suite struct ExpressionTableTests {
    private static let names = ["a", "b"]
    private static let limit = 5
    private static let team = PersistentIdentifier.numbered(5, storeIdentifier: "store", entityName: "Team")

    private static let rows: [(predicate: String, conjuncts: [QueryExpression])] = [
        ("$0.name == \"a\"", lowered(#Predicate<Entry> { $0.name == "a" })),
        ("$0.rank == nil", lowered(#Predicate<Entry> { $0.rank == nil })),
        ("$0.score < 1.5", lowered(#Predicate<Entry> { $0.score < 1.5 })),
        ("5 < $0.score", lowered(#Predicate<Entry> { 5 < $0.score })),
        ("$0.name == \"a\" && $0.score > 1", lowered(#Predicate<Entry> { $0.name == "a" && $0.score > 1 })),
        (
            "$0.name == \"a\" || $0.score > 1",
            lowered(#Predicate<Entry> { $0.name == "a" || $0.score > 1 })
        ),
        ("!($0.rank == 4)", lowered(#Predicate<Entry> { !($0.rank == 4) })),
        ("names.contains($0.name)", lowered { [names] in #Predicate<Entry> { names.contains($0.name) } }),
        ("(1.0...5.0).contains($0.score)", lowered(#Predicate<Entry> { (1.0...5.0).contains($0.score) })),
        ("$0.persistentModelID == id", lowered { [team] in #Predicate<Team> { $0.persistentModelID == team } }),
        (
            "$0.team?.persistentModelID == id",
            lowered { [team] in #Predicate<Person> { $0.team?.persistentModelID == team } }
        ),
        ("$0.team == nil", lowered(#Predicate<Person> { $0.team == nil })),
        ("$0.team?.name == \"a\"", lowered(#Predicate<Person> { $0.team?.name == "a" })),
        (
            "$0.projects.contains { $0.title == \"a\" }",
            lowered(#Predicate<Person> { $0.projects.contains { $0.title == "a" } })
        ),
        ("$0.name.starts(with: \"a\")", lowered(#Predicate<Entry> { $0.name.starts(with: "a") })),
        ("$0.name.contains(\"a\")", lowered(#Predicate<Entry> { $0.name.contains("a") })),
        (
            "$0.name.localizedStandardContains(\"a\")",
            lowered(#Predicate<Entry> { $0.name.localizedStandardContains("a") })
        ),
        ("($0.rank ?? 0) > 1", lowered(#Predicate<Entry> { ($0.rank ?? 0) > 1 })),
        ("$0.rank! > 1", lowered(#Predicate<Entry> { $0.rank! > 1 })),
        ("$0.score + 1 > 2", lowered(#Predicate<Entry> { $0.score + 1 > 2 })),
    ]

    private static func lowered<M>(_ predicate: () -> Predicate<M>) -> [QueryExpression] where M: PersistentModel {
        lowered(predicate())
    }

    private static func lowered<M: PersistentModel>(_ predicate: Predicate<M>) -> [QueryExpression] {
        PreparedQuery(FetchDescriptor<M>(predicate: predicate), under: nil).query.conjuncts.map(\.expression)
    }

    /// An expression in the notation of the guide.
    private static func text(_ expression: QueryExpression) -> String {
        func list(_ parts: [QueryExpression]) -> String { "[" + parts.map(text).joined(separator: ", ") + "]" }
        return switch expression {
        case .constant(.identifier): "c(id)"
        case .constant(let value): "c(\(value))"
        case .variable(let number): ".variable(\(number))"
        case .property(.variable(0), let property): "p(\"\(property.name)\")"
        case .property(let base, let property): ".property(\(text(base)), \(property.name))"
        case .identifier(let base): ".identifier(\(text(base)))"
        case .list(let parts): ".list(\(list(parts)))"
        case .compare(let comparison, let a, let b): ".compare(.\(comparison), \(text(a)), \(text(b)))"
        case .not(let part): ".not(\(text(part)))"
        case .and(let parts): ".and(\(list(parts)))"
        case .or(let parts): ".or(\(list(parts)))"
        case .contains(let a, let b): ".contains(\(text(a)), \(text(b)))"
        case .range(let a, let b, let isClosed): ".range(\(text(a)), \(text(b)), isClosed: \(isClosed))"
        case .exists(let a, let variable, let b): ".exists(\(text(a)), variable: \(variable), \(text(b)))"
        case .startsWith(let a, let b): ".startsWith(\(text(a)), \(text(b)))"
        case .containsSequence(let a, let b): ".containsSequence(\(text(a)), \(text(b)))"
        case .localizedStandardContains(let a, let b): ".localizedStandardContains(\(text(a)), \(text(b)))"
        case .coalesce(let a, let b): ".coalesce(\(text(a)), \(text(b)))"
        case .unwrap(let base): ".unwrap(\(text(base)))"
        case .arithmetic(let operation, let a, let b, let kind):
            ".arithmetic(.\(operation), \(text(a)), \(text(b)), .\(kind))"
        case .flatMap(let base, let variable, let body): ".flatMap(\(text(base)), variable: \(variable), \(text(body)))"
        default: "another expression"
        }
    }

    @Test func theGuideHasTheExpressionsThatStoresGet() throws {
        let table = Self.rows.map { row in
            let expressions = row.conjuncts.map { "`\(Self.text($0))`" }.joined(separator: " and ")
            return "| `\(row.predicate)` | \(expressions) |".replacing("||", with: "\\|\\|")
        }.joined(separator: "\n")
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Sources/MortiseConformance/MortiseConformance.docc/WritingASQLStore.md")
        #expect(try String(contentsOf: guide.standardizedFileURL, encoding: .utf8).contains(table), "\(table)")
    }
}
