import Foundation
import Mortise
import Testing

/// The page "What is stable" leaves nothing out that somebody may build on.
@Suite struct StabilityTests {
    private static let grades: Set = ["stable", "may change", "experimental"]

    /// The cells of the rows below a heading of the page, without the table's head.
    private func rows(below heading: String) throws -> [[String]] {
        let lines = try Document.guide("WhatIsStable").text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0 == "## \(heading)" })
        let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
        return section.filter { $0.hasPrefix("| ") }.dropFirst().map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        }
    }

    private func source(_ path: String) throws -> String {
        try String(contentsOf: Document.package.appending(path: path), encoding: .utf8)
    }

    @Test func everyProductHasARow() throws {
        let products = try source("Package.swift").matches(of: #/\.(?:library|executable)\(name: "([^"]+)"/#).map {
            "`\($0.1)`"
        }
        let rows = try rows(below: "Products")
        #expect(products.count > 20 && rows.compactMap(\.first).sorted() == products.sorted())
        for row in rows { #expect(row.count == 3 && Self.grades.contains(row[1]), "\(row)") }
    }

    @Test func everyFormatAndEverySchemeHasARow() throws {
        let rows = try rows(below: "Files and texts")
        for row in rows { #expect(row.count == 3 && Self.grades.contains(row[1]), "\(row)") }
        let adapters = Document.package.appending(path: "Adapters").path(percentEncoded: false)
        for file in try FileManager.default.subpathsOfDirectory(atPath: adapters) {
            guard ["FORMAT.md", "HISTORY.md", "MAPPING.md"].contains(file.split(separator: "/").last) else { continue }
            #expect(rows.contains { $0[0].contains("`Adapters/\(file)`") }, "\(file)")
        }
        let schemes = try self.rows(below: "Store URLs")
        for scheme in StoreRegistry.standard.knownSchemes {
            #expect(schemes.contains { $0.count == 2 && $0[0] == "`\(scheme.name):`" && Self.grades.contains($0[1]) })
        }
    }

    @Test func everyExitStatusIsThere() throws {
        let known = try source("Sources/MortiseCommands/MortiseTool.swift")
            .matches(of: #/public static let \w+: Int32 = (\d+)/#).map { String($0.1) }
        let row = try #require(try rows(below: "The tool").first { $0[0].hasPrefix("exit statuses: ") })
        let listed = row[0].dropFirst("exit statuses: ".count).split(separator: ", ").map(String.init)
        #expect(known.count > 10 && Set(known) == Set(listed))
    }

    /// The tool, the page, README and the list of supported versions name the version at the head of the changelog.
    @Test func theVersionIsThatOfTheChangelog() throws {
        let sections = try source("CHANGELOG.md").matches(of: #/\n## \[([^\]]+)\](?: - \d{4}-\d{2}-\d{2})?\n/#)
        try #require(sections.count >= 2)
        #expect(sections[0].1 == "Unreleased")
        let version = String(sections[1].1)
        #expect(try source("Sources/MortiseProgram/main.swift").contains("version: \"mortise \(version)\""))
        for page in ["README.md", ".github/SECURITY.md", "Sources/Mortise/Mortise.docc/WhatIsStable.md"] {
            #expect(try source(page).contains(version), "\(page)")
        }
    }
}
