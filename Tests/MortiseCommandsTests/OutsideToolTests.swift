#if Tool
import Foundation
@testable import MortiseCommands
import MortiseCore
import Testing

/// A package that is not this one has a store of its own, and makes its `mortise` of it in five lines.
@Suite struct OutsideToolTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static let manifest = """
        // swift-tools-version: 6.1
        import PackageDescription

        let package = Package(
            name: "outside",
            platforms: [.macOS(.v15)],
            dependencies: [.package(name: "Mortise", path: "\(root.path)", traits: ["Tool"])],
            targets: [
                .target(name: "Shelf", dependencies: [.product(name: "MortiseCore", package: "Mortise")]),
                .executableTarget(
                    name: "shelf-mortise",
                    dependencies: [
                        "Shelf", .product(name: "MortiseCommands", package: "Mortise"),
                        .product(name: "MortiseCore", package: "Mortise"),
                    ]),
            ]
        )
        """

    /// The five lines.
    private static let program = """
        import MortiseCommands
        import MortiseCore
        import Shelf

        MortiseTool(registry: StoreRegistry(.shelf)).run()
        """

    /// A store in one property list: its schema, and its records as text.
    private static let store = """
        import Foundation
        public import MortiseCore

        struct Shelf: Codable {
            var schema: StoredSchema
            var texts: [String: [[String?]]]
        }

        extension StoreScheme {
            public static let shelf = StoreScheme("shelf", summary: "a shelf") { ShelfConfiguration(path: $0.path) }
        }

        public struct ShelfConfiguration: SelfDescribingConfiguration {
            public typealias Store = ShelfStore
            public var name = "shelf"
            public var schema: Schema?
            public let path: String
            public init(path: String) { self.path = path }

            func shelf() throws -> Shelf? {
                guard FileManager.default.fileExists(atPath: path) else { return nil }
                return try JSONDecoder().decode(Shelf.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            }
            public func storedSchema() throws -> StoredSchema? { try shelf()?.schema }
            public func readOnly() -> ShelfConfiguration { self }
            public var location: String { path }
            public func storeFiles() throws -> [StoreFile] { [] }
            public var durabilityGrade: DurabilityGrade { .process }
        }

        public final class ShelfStore: QueryableDataStore {
            public typealias Snapshot = DefaultSnapshot
            public let configuration: ShelfConfiguration
            public let schema: Schema
            public var identifier: String { table.storeIdentifier }
            public var allowsSave: Bool { false }
            private let table: SnapshotTable

            public init(_ configuration: ShelfConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
                guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
                self.configuration = configuration
                self.schema = schema
                table = try SnapshotTable(schema.stored, texts: configuration.shelf()?.texts ?? [:])
            }
            public func plan(_ query: StoreQuery) -> FetchPlan { .scanAll(query) }
            public func rows(for plan: FetchPlan) -> StoreRows<DefaultSnapshot> {
                let found = table.snapshots(of: plan.query.entity)
                return StoreRows(snapshots: found, scanned: found.count)
            }
            public func fetch<T: PersistentModel>(
                _ request: DataStoreFetchRequest<T>
            ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try table.fetch(request) }
            public func save(
                _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
            ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> { throw DataStoreError.unsupportedFeature }
        }
        """

    private struct Shelf: Codable {
        var schema: StoredSchema
        var texts: [String: [[String?]]]
    }

    private func run(_ tool: String, _ arguments: [String], in folder: URL) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.currentDirectoryURL = folder
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test(.enabled(if: MillionCopyTests.isFull, "it builds the tool anew, which takes minutes: Tests/run tool"))
    func aPackageFromOutsideBuildsItsOwnTool() throws {
        #expect(Self.program.split(separator: "\n").count <= 5)
        let folder = try ToolFolder()
        for (path, text) in [
            ("Package.swift", Self.manifest), ("Sources/Shelf/Shelf.swift", Self.store),
            ("Sources/shelf-mortise/main.swift", Self.program),
        ] {
            let file = folder.url.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let title = StoredProperty(
            name: "title", isOptional: false, content: .attribute(StoredAttribute(kind: .string)))
        let pages = StoredProperty(name: "pages", isOptional: true, content: .attribute(StoredAttribute(kind: .int64)))
        let shelf = Shelf(
            schema: StoredSchema(entities: [StoredEntity(name: "Book", properties: [title, pages])]),
            texts: [
                "_store": [["identifier", "next"], ["S", "4"]],
                "Book": [
                    ["record", "title", "pages"], ["1", "Emma", "474"], ["2", "Walden", nil], ["3", "Kim", "320"],
                ],
            ])
        try JSONEncoder().encode(shelf).write(to: folder.url.appending(path: "books"))

        let build = try run("swift", ["build", "-j", "2", "--product", "shelf-mortise"], in: folder.url)
        try #require(build.status == 0, "\(build.output)")
        #expect(!build.output.contains("Compiling SwiftSyntax"), "the tool needs no macros")
        let tool = folder.path(".build/debug/shelf-mortise")
        let info = try run(tool, ["info", "shelf:books"], in: folder.url)
        #expect(info.status == 0 && info.output.contains("Book"), "\(info.output)")
        let fetch = try run(
            tool, ["fetch", "shelf:books", "Book", "--where", "pages > 300", "--sort", "-pages", "--format", "csv"],
            in: folder.url)
        #expect(fetch.status == 0, "\(fetch.output)")
        let lines = fetch.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[1].contains("Emma") && lines[2].contains("Kim"), "\(fetch.output)")
        let unknown = try run(tool, ["info", "log:books"], in: folder.url)
        #expect(unknown.status == ToolExitStatus.usage && unknown.output.contains("shelf:"), "\(unknown.output)")
    }
}
#endif
