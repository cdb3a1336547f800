import Foundation
import MortiseConformance
import Testing

/// A package that is not this one, made in a temporary folder, depends on the kit by path and runs it in ten lines.
@Suite struct OutsidePackageTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let manifest = """
        // swift-tools-version: 6.1
        import PackageDescription

        let package = Package(
            name: "outside",
            platforms: [.macOS(.v15)],
            dependencies: [.package(name: "Mortise", path: "\(root.path)")],
            targets: [
                .executableTarget(
                    name: "outside",
                    dependencies: [
                        .product(name: "MortiseConformance", package: "Mortise"),
                        .product(name: "MortiseCore", package: "Mortise"),
                    ])
            ]
        )
        """

    /// The ten lines.
    private static let program = """
        import Foundation
        import MortiseConformance
        import MortiseCore

        let subject = ConformanceSubject("a store from outside") {
            let storage = ReferenceStorage()
            return SubjectStorage(open: { ReferenceConfiguration("outside", storage: storage) }, crash: { storage.crash() })
        }
        exit(ConformanceProgram.main(subjects: [subject]))
        """

    /// The number of cases that need what the program's subject does not claim.
    private static var refusals: Int {
        let subject = ConformanceSubject("a store from outside") {
            let storage = ReferenceStorage()
            return SubjectStorage(
                open: { ReferenceConfiguration("outside", storage: storage) }, crash: { storage.crash() })
        }
        return ConformanceCase.all.count { $0.testsRefusal(by: subject) }
    }

    private func run(_ tool: String, _ arguments: [String], in folder: URL) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.currentDirectoryURL = folder
        process.standardOutput = output
        process.standardError = output
        // A package of others sees all of this one.
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "MORTISE_STORES_ONLY" }
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test(.enabled(if: isFullSize, "it builds the kit anew, which takes minutes; MORTISE_TEST_SIZE=full"))
    func aPackageFromOutsideRunsTheKit() throws {
        #expect(Self.program.split(separator: "\n").count <= 10)
        let folder = FileManager.default.temporaryDirectory.appending(path: "outside-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let sources = folder.appending(path: "Sources/outside")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try Self.manifest.write(to: folder.appending(path: "Package.swift"), atomically: true, encoding: .utf8)
        try Self.program.write(to: sources.appending(path: "main.swift"), atomically: true, encoding: .utf8)

        let build = try run("swift", ["build", "-j", "2", "--product", "outside"], in: folder)
        try #require(build.status == 0, "\(build.output)")
        #expect(!build.output.contains("Compiling SwiftSyntax"), "the kit needs no macros")
        let kit = try run(folder.appending(path: ".build/debug/outside").path, [], in: folder)
        #expect(kit.status == 0, "\(kit.output)")
        let counts = try #require(
            try Regex(
                "\n([0-9]+) passed, ([0-9]+) refused as declared, 0 failed, (?:([0-9]+) not tried, )?0 skipped\n$"
            ).firstMatch(in: kit.output),
            "\(kit.output)")
        let (passed, refused) = (counts[1].substring.flatMap { Int($0) }, counts[2].substring.flatMap { Int($0) })
        let untried = counts[3].substring.flatMap { Int($0) } ?? 0
        let reasons = kit.output.matches(of: /\(not tried: ([^)]*)\)/).map { String($0.output.1) }
        // The store has no folder that another process could open.
        #expect(
            Set(reasons).isSubset(of: [
                "the subject has no folder that another process could open", "the subject's storage is no folder",
            ]), "\(kit.output)")
        let refusals = Self.refusals
        #expect(refusals > 0 && refused == refusals, "\(kit.output)")
        #expect(untried == reasons.count, "\(kit.output)")
        #expect(passed == ConformanceCase.all.count - refusals - untried, "\(kit.output)")
    }
}
