#if Tool
import Foundation

/// The files of a new package with a right store, which its author goes on from. The package `Shelf` of the tests is one that
/// was made of them.
struct AdapterTemplate {
    /// The store's name, such as `Shelf`.
    let name: String
    /// Where the package finds Mortise.
    let mortise: Location

    /// Where a package finds Mortise.
    enum Location {
        case checkout(path: String)
        case repository(url: String)

        /// The text of the dependency in a package's manifest.
        fileprivate var dependency: String {
            switch self {
            case .checkout(let path): ".package(name: \"Mortise\", path: \(path.debugDescription))"
            case .repository(let url): ".package(url: \(url.debugDescription), branch: \"main\")"
            }
        }

        /// The name of the package as products of it are named by.
        fileprivate var package: String {
            switch self {
            case .checkout: "Mortise"
            case .repository(let url):
                String(url.split(separator: "/").last ?? "Mortise").replacing(#/\.git$/#, with: "")
            }
        }

        fileprivate var link: String {
            switch self {
            case .checkout(let path): path
            case .repository(let url): url
            }
        }
    }

    /// The name of the program with the kit.
    var program: String { "\(name.lowercased())-conformance" }

    /// The texts of the files by their paths in the package's folder.
    var files: [(path: String, text: String)] {
        [
            ("Package.swift", manifest),
            (".gitignore", ".build/\n"),
            ("README.md", named(Self.readme).replacing("MORTISE", with: mortise.link)),
            ("Sources/\(name)/\(name)Store.swift", named(Self.store)),
            ("Sources/\(program)/main.swift", named(Self.kit)),
            ("Tests/\(name)Tests/ConformanceTests.swift", named(Self.tests)),
        ]
    }

    /// A text of the package `Shelf`, with this name.
    private func named(_ text: String) -> String {
        (text + "\n").replacing("Shelf", with: name).replacing("shelf", with: name.lowercased())
    }

    private var manifest: String {
        """
        // swift-tools-version: 6.1
        import PackageDescription

        let package = Package(
            name: "\(name)",
            platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
            products: [.library(name: "\(name)", targets: ["\(name)"])],
            dependencies: [\(mortise.dependency)],
            targets: [
                .target(name: "\(name)", dependencies: [.product(name: "MortiseCore", package: "\(mortise.package)")]),
                .executableTarget(
                    name: "\(program)",
                    dependencies: ["\(name)", .product(name: "MortiseConformance", package: "\(mortise.package)")]),
                .testTarget(
                    name: "\(name)Tests",
                    dependencies: [
                        "\(name)", "\(program)", .product(name: "MortiseConformance", package: "\(mortise.package)"),
                    ]),
            ]
        )

        """
    }

    private static let readme = #"""
        # Shelf

        A store for models in a folder of its own, written with [Mortise](MORTISE).

        ```sh
        swift test                                              # the conformance kit, case by case
        swift run shelf-conformance                             # the kit as a report, with kills
        swift run shelf-conformance --level first-hour          # the 24 cases to begin with
        swift run shelf-conformance --case openers.after-closing
        swift run shelf-conformance --help
        ```

        Every case passes as the store is. Replace `read` and `write` in `Sources/Shelf/ShelfStore.swift` by your storage, and run the
        cases again. Then let the storage do more: the guides "Writing a store" and "Writing a store on SQL" of MortiseConformance say how
        a store takes queries over, and `capabilities` what it may claim.
        """#

    private static let kit = #"""
        import Foundation
        import MortiseConformance
        import Shelf

        let subject = ConformanceSubject("Shelf", folder: { ShelfConfiguration(folder: $0) })
        exit(ConformanceProgram.main(subjects: [subject]))
        """#

    private static let tests = #"""
        import MortiseConformance
        import Shelf
        import Testing

        private let subject = ConformanceSubject("Shelf", folder: { ShelfConfiguration(folder: $0) })

        @Test(arguments: ConformanceCase.all) func conforms(_ conformanceCase: ConformanceCase) throws {
            // For what several processes do. Without the program, such cases are not tried.
            let program = ConformanceProgram.beside("shelf-conformance")
            try subject.startingProcesses(of: program).check(conformanceCase)
        }
        """#

    private static let store = #"""
        public import Foundation
        public import MortiseCore

        /// Keeps models in a folder.
        public struct ShelfConfiguration: DataStoreConfiguration {
            public typealias Store = ShelfStore
            public var name = "shelf"
            public var schema: Schema?
            public let folder: URL

            public init(folder: URL) { self.folder = folder }
        }

        /// Why a folder is refused. The class lets programs tell the cases apart without knowing this store.
        public enum ShelfError: Error, ClassifiedStoreError, CustomStringConvertible {
            /// Another store has the folder open, in this process or in another one.
            case locked(path: String)
            /// The folder cannot be used: the number is that of the system's error.
            case cannotLock(path: String, code: Int32)
            /// The file is not as it was written.
            case damaged(path: String, reason: String)
            /// The store was closed before.
            case closed

            public var errorClass: StoreErrorClass {
                switch self {
                case .locked: .locked
                case .cannotLock(_, let code): code == ENOENT ? .missing : .failedInputOutput
                case .damaged: .damaged
                case .closed: .unsupported
                }
            }

            public var description: String {
                switch self {
                case .locked(let path): "\(path) is open already. Close the other store first."
                case .cannotLock(let path, let code):
                    "\(path) cannot be locked: \(String(cString: strerror(code))). Look whether it is there and may be written."
                case .damaged(let path, let reason): "\(path) is damaged: \(reason). Restore a backup."
                case .closed: "The store is closed. Open it again."
                }
            }
        }

        /// A right store to begin with: it reads all records when it is opened, and writes all of them at every save.
        ///
        /// Replace `read` and `write` by your storage. The table does the rest: it gives identifiers, finds, updates and deletes. What
        /// the storage can do itself comes after that: the guides "Writing a store" and "Writing a store on SQL" go on from here.
        public final class ShelfStore: DataStore {
            public typealias Snapshot = DefaultSnapshot
            public let configuration: ShelfConfiguration
            public let schema: Schema
            /// The storage's own, from its first opening on: it is a part of every identifier.
            public var identifier: String { table.storeIdentifier }
            /// Claim what the store can do, and the kit tests it.
            public var capabilities: StoreCapabilities { StoreCapabilities(conformances: self).union([.reopening]) }
            private var table: SnapshotTable
            private var lock: FolderLock?

            public init(_ configuration: ShelfConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
                guard let schema = configuration.schema else { throw DataStoreError.unsupportedFeature }
                lock = try FolderLock(configuration.folder)
                self.configuration = configuration
                self.schema = schema
                table = try SnapshotTable(schema.stored, texts: Self.read(configuration.folder))
            }

            public func fetch<T: PersistentModel>(
                _ request: DataStoreFetchRequest<T>
            ) throws -> DataStoreFetchResult<T, DefaultSnapshot> { try table.fetch(request) }

            /// All of a save is stored, or an error is thrown and nothing of it is.
            public func save(
                _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
            ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
                guard lock != nil else { throw ShelfError.closed }
                var changed = table
                let result = try changed.apply(request)
                try Self.write(changed, to: configuration.folder)
                table = changed
                return result
            }

            public func close() { lock = nil }

            // MARK: The storage

            private static func file(in folder: URL) -> URL { folder.appending(path: "records.json") }

            /// The rows of each table; nothing for a new folder.
            private static func read(_ folder: URL) throws -> [String: [[String?]]] {
                let file = file(in: folder)
                do {
                    return try JSONDecoder().decode([String: [[String?]]].self, from: Data(contentsOf: file))
                } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
                    // Only this one says that there is no file; one that cannot be read is not taken for none.
                    return [:]
                } catch let error as DecodingError {
                    throw ShelfError.damaged(path: file.path, reason: "\(error)")
                }
            }

            /// Writes a new file beside the old one and renames it, so that the file has all old records or all new ones.
            private static func write(_ table: SnapshotTable, to folder: URL) throws {
                let rows = Dictionary(uniqueKeysWithValues: table.texts.map { ($0.name, Array($0.rows)) })
                try JSONEncoder().encode(rows).write(to: file(in: folder), options: .atomic)
            }
        }

        /// Keeps other stores out of a folder until it is released, or its process ends.
        private final class FolderLock {
            private let file: Int32

            init(_ folder: URL) throws {
                file = open(folder.appending(path: "lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
                guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
                    let code = errno
                    // What is thrown here runs deinit, which closes the file. Closed twice, it could be another thread's by then.
                    // Programs wait for a folder that is locked: nothing else is to be called that.
                    throw code == EWOULDBLOCK
                        ? ShelfError.locked(path: folder.path) : .cannotLock(path: folder.path, code: code)
                }
            }

            deinit {
                // A process that is just being started shares the lock until it has its program; closing alone would leave it there.
                flock(file, LOCK_UN)
                close(file)
            }
        }
        """#
}
#endif
