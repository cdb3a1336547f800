import Foundation
import Testing

/// Every sample has a page that says how to run it, what it teaches, and which file shows what.
struct SamplePagesTests {
    private static let samples = Package.root.appending(path: "Samples")
    private static let names =
        (try? FileManager.default.contentsOfDirectory(atPath: samples.path))?.sorted().filter { !$0.hasPrefix(".") }
        ?? []

    @Test func thereAreSamples() { #expect(Self.names.count >= 8) }

    @Test(arguments: names) func thePageLeadsToEveryFile(_ name: String) throws {
        let folder = Self.samples.appending(path: name)
        let page = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        let links = Set(page.matches(of: #/\]\(([^)#\s]+)/#).map { String($0.1) })
        for link in links where !link.contains("://") {
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: link).path), "there is no \(link)")
        }
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
            let parts = file.split(separator: "/")
            let leading = (1...parts.count).map { parts.prefix($0).joined(separator: "/") }
            #expect(!links.isDisjoint(with: leading), "nothing leads to \(file)")
        }
    }

    /// The commands name products and traits of the package.
    @Test(arguments: names) func theCommandsExist(_ name: String) throws {
        let manifest = try String(contentsOf: Package.root.appending(path: "Package.swift"), encoding: .utf8)
        let page = try String(contentsOf: Self.samples.appending(path: "\(name)/README.md"), encoding: .utf8)
        let commands = page.matches(of: #/swift run (?:--traits (\w+) )?([a-z-]+)/#)
        #expect(!commands.isEmpty)
        for command in commands {
            #expect(manifest.contains(".executable(name: \"\(command.2)\""), "there is no program \(command.2)")
            if let trait = command.1 { #expect(manifest.contains("name: \"\(trait)\""), "there is no trait \(trait)") }
        }
    }
}
