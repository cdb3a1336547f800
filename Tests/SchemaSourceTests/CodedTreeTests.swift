#if Tool
import Foundation
import Mortise
@testable import MortiseCommands
import Testing

@Suite struct CodedTreeTests {
    @Test func aTreeIsStoredAsItIs() throws {
        let trees = Documents.values.filter { $0.kind == .coded }.map(\.value) + [.null, .double(1), .integer(1)]
        for value in trees {
            let tree = CodedTree(value)
            let stored = try StoredValueEncoder().encode(["a": tree])
            #expect(stored.isIdentical(to: .object(["a": value])))
            #expect(try StoredValueDecoder().decode(CodedTree.self, from: value).value.isIdentical(to: value))
            let nested = try StoredValueDecoder().decode([CodedTree].self, from: .array([value, .null]))
            #expect(nested.map(\.value) == [value, .null])
            let json = try #require(tree.json)
            #expect(try #require(CodedTree(json: json)).value.isIdentical(to: value), "\(json)")
        }
        #expect(CodedTree(.double(.nan)).json == nil)
    }

    @Test func otherCodersCarryTrees() throws {
        let tree = CodedTree(.object(["a": .array([.bool(true), .integer(-1), .string("x"), .null, .double(0.5)])]))
        let data = try JSONEncoder().encode(tree)
        #expect(try JSONDecoder().decode(CodedTree.self, from: data) == tree)
    }

    @Test func whatIsNoTreeIsNone() {
        for text in ["", "{", "[1,]", "1 2", "nul", "'a'", "1e999", String(repeating: "[", count: 100_000)] {
            #expect(CodedTree(json: text) == nil, "\(text.prefix(20))")
        }
    }

    /// Whatever differs between two schemas, there is a plan, and always the same.
    @Test func allSortsOfSchemasHavePlans() throws {
        for seed in UInt64(100)..<140 {
            var (old, new) = (try RandomModels.document(seed: seed), try RandomModels.document(seed: seed + 1_000))
            (old.schema.version, new.schema.version) = (Schema.Version(1, 0, 0), Schema.Version(2, 0, 0))
            let plan = try MigrationPlanSource(from: old, to: new, isStrict: true)
            #expect(plan.text == (try MigrationPlanSource(from: old, to: new, isStrict: true).text))
            #expect(plan.text.components(separatedBy: "#error(").count == plan.tasks.count + 1)
            #expect(try CoreDataSource(new).text.hasSuffix("#endif\n"))
        }
    }
}
#endif
