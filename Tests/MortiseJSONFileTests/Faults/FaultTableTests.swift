import FaultWorkload
import Foundation
import Testing

/// The table of fault cases and the tests say the same.
@Suite struct FaultTableTests {
    private static let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let faults = ["MortiseJSONFileTests/Faults", "MortiseAppendLogTests/Faults"].map {
        tests.appending(path: $0)
    }

    private struct Row {
        var id: String
        var store: String
        var text: String
        var tests: [String]
        /// The tests of the mistakes that the checks find, and all that stands there.
        var variants: [String]
        var proof: String
    }

    private static func table() throws -> String {
        try String(contentsOf: tests.appending(path: "Faults/FAULTS.md"), encoding: .utf8)
    }

    private static func rows() throws -> [Row] {
        try table().split(separator: "\n").filter { $0.hasPrefix("| F") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 7)
            return Row(
                id: cells[0], store: cells[1], text: cells[5], tests: names(in: cells[5]),
                variants: names(in: cells[6]), proof: cells[6])
        }
    }

    /// What stands in a text as `Suite/test`.
    private static func names(in text: String) -> [String] {
        text.matches(of: /`([A-Za-z]+Tests\/[A-Za-z0-9]+)`/).map { String($0.output.1) }
    }

    /// Every test below a folder, as `Suite/test`. Each suite is one struct, with its tests inside.
    private static func declared(below folder: URL) throws -> Set<String> {
        var found: Set<String> = []
        for case let file as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            ?? .init()
        where file.pathExtension == "swift" {
            var suite = ""
            var isTest = false
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                // The expressions are slow; most lines need neither.
                if line.contains("struct "),
                    let name = line.firstMatch(of: /^ *(?:@Suite.* )?struct ([A-Za-z]+Tests)\b/)
                {
                    suite = String(name.output.1)
                }
                if line.drop(while: { $0 == " " }).hasPrefix("@Test") { isTest = true }
                if isTest, line.contains("func "), let name = line.firstMatch(of: /\bfunc ([A-Za-z0-9]+)\(/) {
                    found.insert("\(suite)/\(name.output.1)")
                    isTest = false
                }
            }
        }
        return found
    }

    /// The ids that each test counts its faults for, as `Suite/test`: those in its body, and where that takes them from a
    /// list, those of its file's lists.
    private static func credited(below folder: URL) throws -> [String: Set<String>] {
        var credits: [String: Set<String>] = [:]
        for case let file as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            ?? .init()
        where file.pathExtension == "swift" {
            var (suite, test, isTest) = ("", String?.none, false)
            var (listed, fromLists) = (Set<String>(), Set<String>())
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                if line.contains("struct "),
                    let name = line.firstMatch(of: /^ *(?:@Suite.* )?struct ([A-Za-z]+Tests)\b/)
                {
                    suite = String(name.output.1)
                }
                if line.drop(while: { $0 == " " }).hasPrefix("@Test") { isTest = true }
                let isFirst = line.contains("func ")
                if isTest, isFirst, let name = line.firstMatch(of: /\bfunc ([A-Za-z0-9]+)\(/) {
                    test = "\(suite)/\(name.output.1)"
                    isTest = false
                }
                let ids = line.contains("\"F") ? line.matches(of: /"(F[0-9]{2})"/).map { String($0.output.1) } : []
                guard let name = test else {
                    listed.formUnion(ids)
                    continue
                }
                if !ids.isEmpty { credits[name, default: []].formUnion(ids) }
                if line.contains(".verify("), line.contains(".id)") { fromLists.insert(name) }
                if line == "    }" || isFirst && line.hasSuffix("}") { test = nil }
            }
            for name in fromLists { credits[name, default: []].formUnion(listed) }
        }
        return credits
    }

    @Test func everyCaseIsThereOnceWithATestOfEachStore() throws {
        let rows = try Self.rows()
        #expect(rows.map(\.id) == (1...36).map { String(format: "F%02d", $0) })
        let json = try Self.declared(below: Self.tests.appending(path: "MortiseJSONFileTests"))
        let log = try Self.declared(below: Self.tests.appending(path: "MortiseAppendLogTests"))
        for row in rows {
            #expect(["L", "J", "B"].contains(row.store), "\(row.id)")
            if row.store != "L" { #expect(!json.isDisjoint(with: row.tests), "\(row.id) has no test of the JSON file") }
            if row.store != "J" { #expect(!log.isDisjoint(with: row.tests), "\(row.id) has no test of the log") }
        }
    }

    @Test func whateverIsCountedForACaseStandsInItsRow() throws {
        let rows = Dictionary(uniqueKeysWithValues: try Self.rows().map { ($0.id, $0) })
        var (cases, credits) = (Set<String>(), 0)
        for folder in ["MortiseJSONFileTests", "MortiseAppendLogTests"] {
            for (test, ids) in try Self.credited(below: Self.tests.appending(path: folder)) {
                for id in ids.sorted() {
                    #expect(rows[id]?.tests.contains(test) == true, "\(test) counts for \(id)")
                }
                cases.formUnion(ids)
                credits += 1
            }
        }
        #expect(credits > 70)
        // A case that nobody counts for fails the whole run.
        #expect(Set(rows.keys).subtracting(cases).sorted() == [])
    }

    /// For each store that a case concerns; and each mistake of the file system is there for some case.
    @Test func everyCaseHasAMistakeThatItsCheckFinds() throws {
        let rows = try Self.rows()
        for row in rows {
            let suites = Set(row.variants.compactMap { $0.split(separator: "/").first.map(String.init) })
            let wanted: Set<String> =
                switch row.store {
                case "J": ["BrokenVariantTests"]
                case "L": ["LogBrokenVariantTests"]
                default: ["BrokenVariantTests", "LogBrokenVariantTests"]
                }
            #expect(suites == wanted, "\(row.id)")
        }
        let listed = rows.flatMap { row in
            row.proof.matches(of: /\(([A-Za-z, ]+)\)/).flatMap { $0.output.1.split(separator: ", ").map(String.init) }
        }
        #expect(Set(listed) == Set(BrokenFileSystem.Mistake.allCases.map(\.rawValue)))
    }

    @Test func everyTestOfTheTableExists() throws {
        let declared = try Self.declared(below: Self.tests)
        for name in Self.names(in: try Self.table()) { #expect(declared.contains(name), "\(name)") }
    }

    @Test func everyFaultTestIsInTheTable() throws {
        let declared = try Self.faults.reduce(into: Set<String>()) { $0.formUnion(try Self.declared(below: $1)) }
        #expect(declared.count > 70)
        #expect(declared.subtracting(Self.names(in: try Self.table())).sorted() == [])
    }
}
