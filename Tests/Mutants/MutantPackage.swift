#if Mutants
import Foundation
import SwiftParser
import SwiftSyntax

/// A sample store whose sources are rewritten.
struct SampleStore: Sendable {
    let name: String
    /// The folder in the package.
    let folder: String
    let product: String

    static let all = [
        SampleStore(name: "csv", folder: "Samples/CustomStore", product: "custom-store"),
        SampleStore(name: "sqlite", folder: "Samples/SQLiteStore", product: "sqlite-store"),
    ]
}

/// What the program cannot go on with.
struct MutantError: Error, CustomStringConvertible {
    let description: String
}

/// A package of its own under `.build/mutants`, with copies of the kit and of a store that holds all its mutants.
struct MutantPackage {
    let root: URL
    var folder: URL { root.appending(path: ".build/mutants/package") }

    /// Written here and not taken from the package's own, which has to build macros for its other products.
    private static let manifest = """
        // swift-tools-version: 6.1
        import PackageDescription

        let sqlite: [SwiftSetting] = [.define("SQLite")]
        let package = Package(
            name: "Mutants",
            platforms: [.macOS(.v15)],
            dependencies: [.package(path: "../../mutants-program/checkouts/swift-log")],
            targets: [
                .target(name: "CMortisePlatform"),
                .target(
                    name: "MortiseCore", dependencies: ["CMortisePlatform", .product(name: "Logging", package: "swift-log")],
                    exclude: ["Query/EXPRESSIONS.md"]),
                .target(name: "MortiseEngine", dependencies: ["CMortisePlatform", "MortiseCore"]),
                .target(name: "MortiseConformance", dependencies: ["MortiseCore"]),
                .target(
                    name: "CustomStore", dependencies: ["MortiseCore", "MortiseEngine"],
                    path: "Samples/CustomStore/Store"),
                .executableTarget(
                    name: "custom-store", dependencies: ["CustomStore", "MortiseConformance"],
                    path: "Samples/CustomStore/Program"),
                .systemLibrary(name: "CSQLite", path: "Sources/CSQLite"),
                .target(
                    name: "SQLiteStore", dependencies: ["MortiseCore", "CSQLite"], path: "Samples/SQLiteStore/Store",
                    swiftSettings: sqlite),
                .executableTarget(
                    name: "sqlite-store", dependencies: ["SQLiteStore", "MortiseConformance"],
                    path: "Samples/SQLiteStore/Program", swiftSettings: sqlite),
            ],
            swiftLanguageModes: [.v6]
        )
        for target in package.targets where target.type != .system && target.name != "CMortisePlatform" {
            target.swiftSettings =
                (target.swiftSettings ?? []) + [
                    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
                ]
        }

        """

    /// Switches a mutant on where the environment names it.
    private static let mutantSwitch = """
        import Foundation

        enum Mutant {
            private static let number = ProcessInfo.processInfo.environment["MORTISE_MUTANT"].flatMap { Int($0) }

            static func isOn(_ number: Int) -> Bool { number == Self.number }
        }

        """

    /// Copies what is built and leaves files alone that are as they should be, so that they are not compiled again.
    func copyKit() throws {
        try write(Self.manifest, to: "Package.swift")
        for path in ["CMortisePlatform", "CSQLite", "MortiseCore", "MortiseEngine", "MortiseConformance"] {
            try copy("Sources/\(path)")
        }
        for store in SampleStore.all { try copy(store.folder, leavingOut: "Store/") }
    }

    /// Writes the store's sources with their mutants, but those that do not compile.
    /// - Returns: the mutants.
    func rewrite(_ store: SampleStore, leavingOut leftOut: Set<Int>) throws -> [Mutant] {
        let writer = MutantWriter(leavingOut: leftOut)
        for path in try files(in: "\(store.folder)/Store") {
            let source = try String(contentsOf: root.appending(path: "\(store.folder)/Store/\(path)"), encoding: .utf8)
            try write(try writer.rewrite(source, file: path), to: "\(store.folder)/Store/\(path)")
        }
        try write(Self.mutantSwitch, to: "\(store.folder)/Store/Mutant.swift")
        return writer.mutants
    }

    /// Builds a store's program. What does not compile is left out, and tried again without.
    /// - Returns: the mutants, those that were left out, and the program.
    func build(_ store: SampleStore) throws -> (mutants: [Mutant], leftOut: [Mutant], program: URL) {
        let all = try rewrite(store, leavingOut: [])
        var leftOut: Set<Int> = []
        while true {
            let mutants = try rewrite(store, leavingOut: leftOut)
            // Optimized: the kit is run on hundreds of mutants.
            let build = ["swift", "build", "--package-path", folder.path, "-c", "release"]
            let (status, text) = try Self.output(build + ["--product", store.product])
            if status == 0 {
                let (_, bin) = try Self.output(build + ["--show-bin-path"])
                let program = URL(fileURLWithPath: bin.trimmingCharacters(in: .whitespacesAndNewlines))
                    .appending(path: store.product)
                return (mutants, all.filter { leftOut.contains($0.number) }, program)
            }
            let bad = try faulty(in: text, of: store).subtracting(leftOut)
            if bad.isEmpty { throw MutantError(description: "\(store.product) is not built:\n\(text.suffix(4000))") }
            print("\(store.name): \(bad.count) mutants do not compile")
            leftOut.formUnion(bad)
        }
    }

    /// The mutants in which a build has found errors.
    private func faulty(in text: String, of store: SampleStore) throws -> Set<Int> {
        var bad: Set<Int> = []
        let place = #/Store/([A-Za-z+]+\.swift):(\d+):(\d+): error: /#
        for match in text.matches(of: place) {
            guard let line = Int(match.2), let column = Int(match.3) else { continue }
            let file = folder.appending(path: "\(store.folder)/Store/\(match.1)")
            bad.formUnion(Self.mutants(at: line, column, in: try String(contentsOf: file, encoding: .utf8)))
        }
        return bad
    }

    /// The mutants of the innermost choice around a place; all of its line where there is none.
    private static func mutants(at line: Int, _ column: Int, in source: String) -> Set<Int> {
        let tree = Parser.parse(source: source)
        let converter = SourceLocationConverter(fileName: "", tree: tree)
        let position = converter.position(ofLine: line, column: column)
        var node = tree.token(at: position).map { Syntax($0) }
        while let here = node {
            let text = here.trimmedDescription
            if text.hasPrefix("(Mutant.isOn("), text.hasSuffix(")") {
                // The first numbers are those of the choice; what follows them belongs to its parts.
                var rest = text.dropFirst()
                var found: Set<Int> = []
                while let match = rest.prefixMatch(of: #/Mutant\.isOn\((\d+)\) \? /#), let number = Int(match.1) {
                    found.insert(number)
                    rest = rest[match.range.upperBound...]
                    var depth = 0
                    guard
                        let end = rest.firstIndex(where: { character in
                            if character == "(" { depth += 1 }
                            if character == ")" { depth -= 1 }
                            return depth == 0 && character == ")"
                        })
                    else { break }
                    rest = rest[rest.index(after: end)...].dropFirst(3)
                }
                return found
            }
            node = here.parent
        }
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        for text in lines[..<min(line, lines.count)].reversed() {
            let found = text.matches(of: #/Mutant\.isOn\((\d+)\)/#).compactMap { Int($0.1) }
            if !found.isEmpty { return Set(found) }
        }
        return []
    }

    // MARK: Files

    private func files(in path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: path).path).sorted()
            .filter { $0.hasSuffix(".swift") }
    }

    private func copy(_ path: String, leavingOut prefix: String? = nil) throws {
        let files = FileManager.default
        let source = root.appending(path: path)
        let copy = folder.appending(path: path)
        var kept: Set<String> = []
        for name in try files.subpathsOfDirectory(atPath: source.path) {
            if let prefix, name.hasPrefix(prefix) { continue }
            if (try source.appending(path: name).resourceValues(forKeys: [.isDirectoryKey])).isDirectory == true {
                continue
            }
            kept.insert(name)
            try write(Data(contentsOf: source.appending(path: name)), to: "\(path)/\(name)")
        }
        for name in (try? files.subpathsOfDirectory(atPath: copy.path)) ?? [] {
            if kept.contains(name) || prefix.map(name.hasPrefix) == true || !name.contains(".") { continue }
            if !kept.contains(where: { $0.hasPrefix(name + "/") }) {
                try files.removeItem(at: copy.appending(path: name))
            }
        }
    }

    private func write(_ text: String, to path: String) throws { try write(Data(text.utf8), to: path) }

    private func write(_ data: Data, to path: String) throws {
        let file = folder.appending(path: path)
        if (try? Data(contentsOf: file)) == data { return }
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    // MARK: Processes

    /// Runs a program that is found by its name.
    static func output(_ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
#endif
