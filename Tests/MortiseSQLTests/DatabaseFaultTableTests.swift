import Foundation
import Testing

/// The table of the fault cases of databases names tests that exist.
@Suite struct DatabaseFaultTableTests {
    private static let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Every test of the databases, as `Suite/test`.
    private static func declared() throws -> Set<String> {
        var found: Set<String> = []
        for folder in ["MortisePostgreSQLTests", "MortiseSQLiteTests", "MortiseSQLTests"] {
            let files = try FileManager.default.contentsOfDirectory(
                at: tests.appending(path: folder), includingPropertiesForKeys: nil)
            for file in files where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                guard let suite = text.firstMatch(of: /struct ([A-Za-z]+Tests)\b/)?.output.1 else { continue }
                for name in text.matches(of: /\n    (?:@Test[^\n]*\n? *)func ([A-Za-z0-9]+)\(/) {
                    found.insert("\(suite)/\(name.output.1)")
                }
            }
        }
        return found
    }

    private static func rows() throws -> [[String]] {
        try String(contentsOf: tests.appending(path: "Faults/DATABASES.md"), encoding: .utf8).split(separator: "\n")
            .filter { $0.firstMatch(of: /^\| [0-9]+ \|/) != nil }
            .map {
                $0.split(separator: "|", omittingEmptySubsequences: false).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
            }
    }

    @Test func everyTestThatTheTableNamesExists() throws {
        let declared = try Self.declared()
        let named = try Self.rows().flatMap { row in
            row.joined(separator: " ").matches(of: /`([A-Za-z]+Tests\/[A-Za-z0-9]+)`/).map { String($0.output.1) }
        }
        #expect(named.count > 40)
        #expect(Set(named).subtracting(declared).sorted() == [])
    }

    @Test func everyCaseIsInTheTableOnceOrSaysWhyNot() throws {
        let rows = try Self.rows()
        let cases = Set(rows.compactMap { Int($0[1]) })
        #expect(cases == Set(1...45))
        // Rows of the first table name a test, or a case of the kit.
        for row in rows where row.count == 8 {
            #expect(row[5].contains("Tests") || row[4].contains("*"), "case \(row[1])")
        }
    }
}
