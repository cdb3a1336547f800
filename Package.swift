// swift-tools-version: 6.1
import CompilerPluginSupport
import PackageDescription

let argumentParser: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Tool"]))
let serviceLifecycle: Target.Dependency = .product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"]))
let sqlite: Target.Dependency = .target(name: "MortiseSQLite", condition: .when(traits: ["SQLite"]))
let postgreSQL: Target.Dependency = .target(name: "MortisePostgreSQL", condition: .when(traits: ["PostgreSQL"]))
let metrics: Target.Dependency = .product(
    name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"]))

let package = Package(
    name: "Mortise",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Mortise", targets: ["Mortise"]),
        // For an app that leaves stores out: models and contexts, and the stores one by one.
        .library(name: "MortiseModels", targets: ["MortiseModels"]),
        .library(name: "MortiseInMemory", targets: ["MortiseInMemory"]),
        .library(name: "MortiseJSONFile", targets: ["MortiseJSONFile"]),
        .library(name: "MortiseAppendLog", targets: ["MortiseAppendLog"]),
        .library(name: "MortiseCore", targets: ["MortiseCore"]),
        .library(name: "MortiseEngine", targets: ["MortiseEngine"]),
        .library(name: "MortiseSQLite", targets: ["MortiseSQLite"]),
        .library(name: "MortisePostgreSQL", targets: ["MortisePostgreSQL"]),
        .library(name: "MortiseConformance", targets: ["MortiseConformance"]),
        .library(name: "MortiseTestSupport", targets: ["MortiseTestSupport"]),
        .library(name: "MortiseCommands", targets: ["MortiseCommands"]),
        .library(name: "MortiseInspector", targets: ["MortiseInspector"]),
        .library(name: "MortiseConfiguration", targets: ["MortiseConfiguration"]),
        .library(name: "MortiseMetrics", targets: ["MortiseMetrics"]),
        .library(name: "MortiseService", targets: ["MortiseService"]),
        .executable(name: "mortise", targets: ["MortiseProgram"]),
        .library(name: "SwiftData", targets: ["SwiftData"]),
        .executable(name: "file-catalog", targets: ["FileCatalogSample"]),
        .executable(name: "music-library", targets: ["MusicLibrarySample"]),
        .executable(name: "trips", targets: ["TripsSample"]),
        .executable(name: "journeys", targets: ["JourneysSample"]),
        .executable(name: "inventory", targets: ["InventorySampleServer"]),
        .executable(name: "mortise-bench", targets: ["MortiseBenchmarks"]),
        .executable(name: "mortise-conformance", targets: ["mortise-conformance"]),
        .executable(name: "custom-store", targets: ["CustomStoreProgram"]),
        .executable(name: "remote-store", targets: ["RemoteStoreSample"]),
        .executable(name: "sqlite-store", targets: ["SQLiteStoreProgram"]),
    ],
    // Off by default: an app fetches and builds only what Mortise itself needs.
    traits: [
        .trait(
            name: "Tool",
            description: "The tool mortise, the library MortiseCommands, and the samples with a command line.",
            enabledTraits: ["Configuration"]),
        .trait(
            name: "Inspector",
            description: "The library MortiseInspector and the verb mortise serve: stores as web pages.",
            enabledTraits: ["Tool"]),
        .trait(
            name: "Configuration",
            description: "The library MortiseConfiguration: where stores are, from arguments, environment and files."),
        .trait(name: "Metrics", description: "The library MortiseMetrics: what happens in stores, for swift-metrics."),
        .trait(
            name: "ServiceLifecycle",
            description: "The library MortiseService: a container as a service of swift-service-lifecycle."),
        .trait(
            name: "Inventory",
            description: "The sample of a small service on Mortise, which needs a server library.",
            enabledTraits: ["ServiceLifecycle"]),
        .trait(
            name: "BenchmarkPeers",
            description: "Lets mortise-bench measure GRDB and SQLite as well. Needs libsqlite3-dev on Linux."),
        .trait(
            name: "RemoteStore",
            description: "The sample of a store behind an HTTP service, which needs a server library."),
        .trait(
            name: "SQLite",
            description:
                "The library MortiseSQLite: stores on files of SQLite, sqlite:PATH; and a sample. Needs libsqlite3-dev on Linux."
        ),
        .trait(
            name: "Mutants",
            description: "The program that changes the sample stores, which needs swift-syntax outside of macros."),
        .trait(
            name: "PostgreSQL",
            description:
                "The library MortisePostgreSQL: stores in databases of PostgreSQL, postgres://…. Needs libpq-dev on Linux."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.11.0"),
        // For a trait each; without it they are not even fetched.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.9.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.65.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
    ],
    targets: [
        .target(
            name: "MortiseCore", dependencies: ["CMortisePlatform", .product(name: "Logging", package: "swift-log")],
            exclude: ["Query/EXPRESSIONS.md"]),
        .target(name: "CMortisePlatform"),
        .target(name: "MortiseEngine", dependencies: ["CMortisePlatform", "MortiseCore"]),
        .macro(
            name: "MortiseMacros",
            dependencies: [
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
            ]),
        .target(name: "MortiseInMemory", dependencies: ["MortiseCore", "MortiseEngine"], path: "Adapters/InMemory"),
        .target(
            name: "MortiseJSONFile", dependencies: ["MortiseCore", "MortiseEngine"], path: "Adapters/JSONFile",
            exclude: ["FORMAT.md", "HISTORY.md"]),
        .target(
            name: "MortiseAppendLog", dependencies: ["MortiseCore", "MortiseEngine"], path: "Adapters/AppendLog",
            exclude: ["CHECKPOINT.md", "FORMAT.md", "PROTOCOLS.md"]),
        // The library of the system, for the stores on SQLite; nothing is compiled for it without one of their traits.
        .systemLibrary(name: "CSQLite", path: "Sources/CSQLite"),
        .target(name: "MortiseSQL", dependencies: ["MortiseCore"]),
        .target(
            name: "MortiseSQLite",
            dependencies: [
                "MortiseCore", "MortiseEngine", "MortiseSQL",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ], path: "Adapters/SQLite", exclude: ["MAPPING.md"]),
        // The library of the system, for the stores on PostgreSQL; nothing is compiled for it without their trait.
        .systemLibrary(name: "CPostgreSQL", path: "Sources/CPostgreSQL"),
        .target(
            name: "MortisePostgreSQL",
            dependencies: [
                "MortiseCore", "MortiseEngine", "MortiseSQL",
                .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])),
            ], path: "Adapters/PostgreSQL", exclude: ["MAPPING.md"]),
        .target(name: "MortiseModels", dependencies: ["MortiseCore", "MortiseMacros"]),
        .target(
            name: "Mortise",
            dependencies: [
                "MortiseCore", "MortiseEngine", "MortiseModels", "MortiseInMemory", "MortiseJSONFile",
                "MortiseAppendLog", sqlite, postgreSQL,
                .product(name: "Logging", package: "swift-log"),
            ]),
        .target(name: "SwiftData", dependencies: ["Mortise"]),
        .target(name: "MortiseConformance", dependencies: ["MortiseCore"]),
        .target(name: "MortiseTestSupport", dependencies: ["MortiseEngine"]),
        .target(
            name: "MortiseCommands",
            dependencies: ["MortiseCore", .product(name: "Logging", package: "swift-log"), argumentParser],
            exclude: ["Predicates/GRAMMAR.md"]),
        .target(
            name: "MortiseInspector",
            dependencies: [
                "MortiseCommands", "MortiseCore", argumentParser,
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inspector"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Inspector"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Inspector"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Inspector"])),
            ]),
        .target(name: "MortiseConfiguration", dependencies: ["MortiseCore", "MortiseEngine"]),
        .target(
            name: "MortiseMetrics", dependencies: ["MortiseCore", metrics]),
        .target(
            name: "MortiseService",
            dependencies: ["MortiseCore", .product(name: "Logging", package: "swift-log"), serviceLifecycle]),
        .executableTarget(
            name: "MortiseProgram",
            dependencies: [
                "MortiseCommands", "MortiseConfiguration", "MortiseCore", "MortiseInMemory", "MortiseJSONFile",
                "MortiseAppendLog", "MissingTrait", sqlite, postgreSQL,
                .target(name: "MortiseInspector", condition: .when(traits: ["Inspector"])),
            ]),
        // For programs alone: no app builds it.
        .target(name: "MissingTrait"),
        .target(
            name: "PackageSubjects",
            dependencies: [
                "MortiseConformance", "MortiseEngine", "MortiseInMemory", "MortiseJSONFile", "MortiseAppendLog",
                "MortiseTestSupport", "CustomStore", sqlite, postgreSQL,
            ], path: "Tests/Conformance/Subjects"),
        .executableTarget(
            name: "mortise-conformance", dependencies: ["PackageSubjects", "MortiseConformance"],
            path: "Tests/Conformance/Program"),

        .executableTarget(
            name: "FileCatalogSample",
            dependencies: ["Mortise", "MortiseConfiguration", "MissingTrait", argumentParser],
            path: "Samples/FileCatalog", exclude: ["README.md"]),
        .executableTarget(
            name: "MusicLibrarySample",
            dependencies: ["Mortise", "MortiseConfiguration", "MissingTrait", argumentParser],
            path: "Samples/MusicLibrary", exclude: ["Chinook", "README.md"]),
        .executableTarget(
            name: "TripsSample", dependencies: ["Mortise"], path: "Samples/Trips", exclude: ["README.md"]),
        .executableTarget(
            name: "JourneysSample", dependencies: ["Mortise"], path: "Samples/Journeys", exclude: ["README.md"]),
        .target(
            name: "InventorySample", dependencies: ["Mortise", .product(name: "Logging", package: "swift-log")],
            path: "Samples/Inventory/Domain"),
        .executableTarget(
            name: "InventorySampleServer",
            dependencies: [
                "InventorySample", "Mortise", "MortiseService", "MissingTrait", serviceLifecycle,
                .product(
                    name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Inventory"])),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Inventory"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Inventory"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Inventory"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Inventory"])),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Samples/Inventory/Server"),
        .target(
            name: "CustomStore", dependencies: ["MortiseCore", "MortiseEngine"], path: "Samples/CustomStore/Store"),
        .executableTarget(
            name: "CustomStoreProgram", dependencies: ["CustomStore", "MortiseConformance"],
            path: "Samples/CustomStore/Program"),
        .executableTarget(
            name: "RemoteStoreSample",
            dependencies: [
                "MortiseConformance", "MortiseCore",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["RemoteStore"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["RemoteStore"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["RemoteStore"])),
                .product(name: "Logging", package: "swift-log"),
            ], path: "Samples/RemoteStore", exclude: ["README.md"]),
        .target(
            name: "SQLiteStore",
            dependencies: ["MortiseCore", .target(name: "CSQLite", condition: .when(traits: ["SQLite"]))],
            path: "Samples/SQLiteStore/Store"),
        .executableTarget(
            name: "SQLiteStoreProgram", dependencies: ["SQLiteStore", "MortiseConformance"],
            path: "Samples/SQLiteStore/Program"),

        // Seeds and generators of random tests.
        .target(name: "PackageTestSupport", dependencies: ["MortiseCore"], path: "Tests/Support"),
        .testTarget(
            name: "MortiseCoreTests",
            dependencies: [
                "FaultWorkload", "PackageTestSupport", "MortiseCore", "MortiseEngine", "MortiseInMemory",
                "MortiseJSONFile", "MortiseAppendLog", "MortiseTestSupport", "SQLSupport", sqlite, postgreSQL,
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "MortiseEngineTests",
            dependencies: [
                "MortiseCore", "MortiseEngine", "MortiseInMemory", "MortiseTestSupport", "PackageTestSupport",
            ]),
        // A macro by its type only: it is a program that tests ask about source text, and what needs swift-syntax outside of
        // macros would have it compiled a second time. Its folder Expansion is a link to that of MortiseMacros.
        .macro(
            name: "SourceTools",
            dependencies: [
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftParserDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ], path: "Tests/SourceTools"),
        .testTarget(name: "MortiseMacrosTests", dependencies: ["PackageTestSupport"]),
        // The package that `mortise new-adapter Shelf` writes.
        .target(name: "Shelf", dependencies: ["MortiseCore"], path: "Tests/NewAdapter/Sources/Shelf"),
        .executableTarget(
            name: "shelf-conformance", dependencies: ["Shelf", "MortiseConformance"],
            path: "Tests/NewAdapter/Sources/shelf-conformance"),
        .testTarget(
            name: "ShelfTests", dependencies: ["Shelf", "shelf-conformance", "MortiseConformance"],
            path: "Tests/NewAdapter/Tests/ShelfTests"),
        .testTarget(
            name: "MortiseConformanceTests",
            dependencies: [
                "MortiseConformance", "MortiseCore", "MortiseInMemory", "PackageSubjects", "PackageTestSupport",
                "CustomStore", "SQLiteStore", "mortise-conformance",
            ]),
        // Random records and conditions for every database.
        .target(name: "SQLSupport", dependencies: ["MortiseCore", "PackageTestSupport"], path: "Tests/SQLSupport"),
        .testTarget(
            name: "MortiseSQLTests", dependencies: ["MortiseCore", "MortiseSQL", "SQLSupport", "PackageTestSupport"]),
        .testTarget(
            name: "MortiseSQLiteTests",
            dependencies: [
                "MortiseCore", "MortiseSQL", "MortiseSQLite", "SQLSupport", "PackageTestSupport",
                .target(name: "CSQLite", condition: .when(traits: ["SQLite"])),
            ]),
        .testTarget(
            name: "MortisePostgreSQLTests",
            dependencies: ["MortiseCore", "MortiseSQL", "MortisePostgreSQL", "SQLSupport", "PackageTestSupport"]),
        .testTarget(
            name: "SwiftDataTests", dependencies: ["SwiftData"], exclude: ["Clients", "Compatibility", "Probes"]),
        .testTarget(
            name: "MortiseJSONFileTests",
            dependencies: [
                "MortiseJSONFile", "MortiseEngine", "MortiseTestSupport", "Mortise", "FaultWorkload",
                "PackageTestSupport",
                "fault-helper",
            ],
            exclude: ["Golden"]),
        .target(
            name: "FaultWorkload",
            dependencies: [
                "MortiseAppendLog", "MortiseCore", "MortiseEngine", "MortiseJSONFile", "MortiseTestSupport",
            ],
            path: "Tests/Faults/Workload"),
        .executableTarget(
            name: "fault-helper",
            dependencies: [
                "FaultWorkload", "PackageTestSupport", "MortiseAppendLog", "MortiseCore", "MortiseEngine",
                "MortiseJSONFile", sqlite,
                "MortiseTestSupport",
            ],
            path: "Tests/Faults/Helper"),
        .target(
            name: "ReaderFuzzing",
            dependencies: [
                "MortiseAppendLog", "MortiseCore", "MortiseEngine", "MortiseJSONFile", "MortiseTestSupport",
            ],
            path: "Tests/Faults/Fuzzing",
            exclude: ["build", "json.dict"]),
        .target(
            name: "MortiseKills",
            dependencies: [
                "MortiseAppendLog", "MortiseCore", "MortiseEngine", "MortiseJSONFile", "PackageTestSupport",
            ],
            path: "Tests/Kills/Harness"),
        .executableTarget(name: "mortise-kill", dependencies: ["MortiseKills"], path: "Tests/Kills/Program"),
        .executableTarget(
            name: "mortise-soak",
            dependencies: ["MortiseAppendLog", "MortiseCore", "MortiseJSONFile", "PackageTestSupport"],
            path: "Tests/Soak"),
        .executableTarget(
            name: "mortise-relationships",
            dependencies: [
                "MortiseAppendLog", "MortiseCore", "MortiseInMemory", "MortiseJSONFile", "PackageTestSupport",
            ],
            path: "Tests/Relationships"),
        .executableTarget(
            name: "mortise-live", dependencies: ["MortiseCore", "MortiseInMemory", "PackageTestSupport"],
            path: "Tests/Live"),
        .executableTarget(
            name: "mortise-mutants",
            dependencies: [
                "MissingTrait",
                .product(name: "SwiftOperators", package: "swift-syntax", condition: .when(traits: ["Mutants"])),
                .product(name: "SwiftParser", package: "swift-syntax", condition: .when(traits: ["Mutants"])),
                .product(name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["Mutants"])),
            ],
            path: "Tests/Mutants", exclude: ["equivalents.txt"]),
        .executableTarget(
            name: "MortiseBenchmarks",
            dependencies: [
                "Mortise", "MortiseEngine", "PackageTestSupport",
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["BenchmarkPeers"])),
                .product(name: "GRDBSQLite", package: "GRDB.swift", condition: .when(traits: ["BenchmarkPeers"])),
            ],
            path: "Tests/Benchmarks", exclude: ["LIMITS.md", "Figures"]),
        // What README and the guides show.
        .executableTarget(
            name: "ReadmeQuickStart", dependencies: ["Mortise"], path: "Tests/ReadmeTests/QuickStart"),
        .executableTarget(
            name: "ReadmeSwiftData", dependencies: ["SwiftData"], path: "Tests/ReadmeTests/SwiftData"),
        .executableTarget(
            name: "ReadmeCustomStore", dependencies: ["Mortise", "MortiseCore"], path: "Tests/ReadmeTests/CustomStore"),
        .executableTarget(
            name: "GuideGettingStarted", dependencies: ["Mortise"], path: "Tests/ReadmeTests/GettingStarted"),
        .testTarget(
            name: "ReadmeTests",
            dependencies: [
                "ReadmeQuickStart", "ReadmeSwiftData", "ReadmeCustomStore", "GuideGettingStarted", "Mortise",
                "MortiseMetrics", "PackageTestSupport",
            ], exclude: ["QuickStart", "SwiftData", "CustomStore", "GettingStarted", "Manifest"]),
        .testTarget(
            name: "MortiseTests",
            dependencies: ["CustomStore", "Mortise", "MortiseCore", "MortiseEngine", "PackageTestSupport"]),
        .testTarget(
            name: "MortiseCommandsTests",
            dependencies: [
                "MortiseCommands", "MortiseConfiguration", "MortiseProgram", "MortiseCore", "MortiseEngine",
                "MortiseInMemory",
                "MortiseJSONFile", "MortiseAppendLog", sqlite, "MortiseMetrics", "PackageTestSupport",
                .product(name: "Logging", package: "swift-log"), metrics,
            ]),
        .testTarget(
            name: "MortiseInspectorTests",
            dependencies: ["MortiseAppendLog", "MortiseCommands", "MortiseCore", "MortiseEngine", "MortiseProgram"],
            exclude: ["beside_datasette.py", "look.py"]),
        // Its folder Generated has what `mortise schema models` and `plan` make of schemas.
        .testTarget(
            name: "SchemaSourceTests",
            dependencies: [
                "Mortise", "MortiseCommands", "MortiseCore", "MortiseInMemory", "MortiseJSONFile", "PackageTestSupport",
            ],
            exclude: ["Golden"]),
        .testTarget(
            name: "MortiseAppendLogTests",
            dependencies: [
                "FaultWorkload", "MortiseAppendLog", "MortiseConformance", "MortiseCore", "MortiseEngine",
                "MortiseInMemory", "MortiseJSONFile", "MortiseTestSupport", "PackageTestSupport", "CustomStore",
                "fault-helper",
                "mortise-kill",
            ], exclude: ["FormatReader", "Golden"]),
        .testTarget(
            name: "SamplesTests",
            dependencies: [
                "FileCatalogSample", "InventorySample", "InventorySampleServer", "JourneysSample", "Mortise",
                "MortiseProgram", "MusicLibrarySample", "PackageTestSupport", "TripsSample",
            ]),
        .testTarget(
            name: "MortiseServiceTests",
            dependencies: [
                "MortiseAppendLog", "MortiseCore", "MortiseService", "MortiseTestSupport", serviceLifecycle,
                .product(name: "Logging", package: "swift-log"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// Settings come through swift-configuration where the toolchain is new enough for it; without it from the environment only.
#if compiler(>=6.2)
package.dependencies.append(
    .package(
        url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: ["CommandLineArguments"]))
// For settings in YAML.
package.dependencies.append(.package(url: "https://github.com/jpsim/Yams", "5.4.0"..<"7.0.0"))
package.targets.first { $0.name == "MortiseConfiguration" }?.dependencies += [
    .product(
        name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Configuration"])),
    .product(name: "Yams", package: "Yams", condition: .when(traits: ["Configuration"])),
]
#endif

// For `Tests/run`: what does the tests' work is optimized, assertions included, and takes a fraction of the time. A package with
// such flags cannot be depended on, so a variable asks for them.
if Context.environment["MORTISE_OPTIMIZED"] != nil {
    let names: Set = [
        "MortiseCore", "MortiseEngine", "MortiseInMemory", "MortiseJSONFile", "MortiseAppendLog", "MortiseSQL",
        "MortiseSQLite", "MortiseTestSupport", "PackageTestSupport", "PackageSubjects",
        "CustomStore", "FaultWorkload",
    ]
    for target in package.targets where names.contains(target.name) {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags(
                    [
                        "-O", "-whole-module-optimization", "-disable-batch-mode", "-num-threads", "2",
                        "-assert-config",
                        "Debug",
                    ],
                    .when(configuration: .debug))
            ]
    }
}

// Migrations of files of SQLite are tried where these are built.
if Context.environment["MORTISE_STORES_ONLY"] == nil {
    for target in package.targets where ["MortiseKills", "MortiseAppendLogTests"].contains(target.name) {
        target.dependencies.append(sqlite)
    }
}

// The stores with their tests and nothing that needs macros, so that sanitizers and the fuzzer need not build those.
if Context.environment["MORTISE_STORES_ONLY"] != nil {
    let names: Set = [
        "CMortisePlatform", "MortiseCore", "MortiseEngine", "MortiseInMemory", "MortiseJSONFile", "MortiseAppendLog",
        "MortiseConformance", "MortiseTestSupport", "MortiseCoreTests", "MortiseEngineTests", "MortiseJSONFileTests",
        "MortiseAppendLogTests",
        "FaultWorkload", "PackageTestSupport", "fault-helper", "mortise-kill", "mortise-live", "mortise-relationships",
        "mortise-soak",
        "MortiseKills", "ReaderFuzzing", "CustomStore", "PackageSubjects", "mortise-conformance",
        "MortiseConformanceTests",
    ]
    package.targets.removeAll { !names.contains($0.name) }
    for target in package.targets where target.name == "MortiseCoreTests" {
        // Optimized, it refers to a symbol that Foundation does not export. Its tests are a part of their own.
        target.exclude += ["DifferentialTests", "RandomQuery", "Shrinking"].map { "Query/Differential/\($0).swift" }
    }
    for target in package.targets where target.name == "MortiseJSONFileTests" {
        // Its tests of the store through the public API alone are written with macros.
        target.exclude.append("Store")
    }
    // What uses the other targets asks for their traits, or is left out above.
    for target in package.targets {
        target.dependencies.removeAll { dependency in
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): !names.contains(name)
            default: false
            }
        }
    }
    package.products = []
    // A package of which nothing is used would be fetched: only conditions on traits spare that.
    package.dependencies.removeAll { dependency in
        if case .sourceControl(_, let location, _) = dependency.kind { !location.hasSuffix("/swift-log") } else { true }
    }
    package.traits = []
}

for target in package.targets where target.name != "CMortisePlatform" && target.type != .system {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
