#if Tool
import Foundation
import Mortise
import MortiseConfiguration

/// The catalog of one folder, open in its store.
struct Catalog {
    /// The folder as it was named on the command line; used to reach files.
    let folder: String
    /// The absolute path of the folder, free of symbolic links; kept as the name of the root folder in the catalog.
    let rootName: String
    /// The URL of the store; it may hold a secret.
    let store: String
    /// The URL of the store as it may be printed.
    var storeName: String { StoreRegistry.standard.redacted(store) }
    let context: ModelContext
    private let isOfEverything: Bool

    /// Opens the catalog that `options` name; nothing is written yet.
    ///
    /// - Throws: ``CatalogError`` if there is no such folder, or if the store holds the catalog of another one, and
    ///   what the store throws if it cannot be opened.
    init(_ options: CatalogOptions) throws {
        folder = options.folder
        isOfEverything = options.everything
        rootName = try Self.absolutePath(of: options.folder)
        store =
            try options.store ?? StoreSettings.standard(arguments: []).url(registry: .standard)
            ?? CatalogStore.defaultURL(forFolder: rootName)
        let container = try ModelContainer(for: Schema([Folder.self, File.self, Tag.self]), store: store)
        // An index leads to whatever is asked for here.
        container.fullScanPolicy = .refuse
        context = ModelContext(container)
        if let root = try root(), !root.name.utf8.elementsEqual(rootName.utf8) {
            throw CatalogError.otherFolder(wanted: rootName, found: root.name, store: storeName)
        }
    }

    /// Brings the catalog up to date with the folder and tells the differences, up to `limit` paths of each kind.
    ///
    /// - Throws: ``SystemError`` if the folder itself cannot be opened, and what the store throws.
    func scan(listing limit: Int) throws -> ScanReport {
        let walk = DirectoryWalk(
            folder: folder, storeFiles: StoreFiles(store: store), isOfEverything: isOfEverything)
        var scan = try CatalogScan(of: self, listing: limit)
        return try scan.run(walk, ProgressLine())
    }

    /// This catalog, filled by a first scan if it has had none; what that scan found goes to standard error.
    ///
    /// - Throws: what ``scan(listing:)`` throws.
    func scannedOnce() throws -> Catalog {
        if try root() == nil {
            let report = try scan(listing: 0)
            FileHandle.standardError.write(Data((report.text() + "\n").utf8))
        }
        return self
    }

    private func root() throws -> Folder? {
        let path = ExactPath.root.text
        var descriptor = FetchDescriptor<Folder>(predicate: #Predicate { $0.path == path })
        descriptor.fetchLimit = 1
        return try context.fetch(descriptor).first
    }

    private static func absolutePath(of folder: String) throws -> String {
        guard let path = realpath(folder, nil) else {
            throw CatalogError.noFolder(folder, reason: SystemError.current.description)
        }
        defer { free(path) }
        guard try FileStatus(ofPath: folder).kind == .folder else {
            throw CatalogError.noFolder(folder, reason: SystemError(code: ENOTDIR).description)
        }
        return FileName.text(of: Array(UnsafeBufferPointer(start: path, count: strlen(path) + 1)))
    }
}

/// Why a catalog cannot be used.
enum CatalogError: Error, Equatable, CustomStringConvertible {
    /// The folder to catalog cannot be found, or is not a folder.
    case noFolder(String, reason: String)
    /// The store holds the catalog of another folder.
    case otherFolder(wanted: String, found: String, store: String)

    var description: String {
        switch self {
        case .noFolder(let folder, let reason):
            "cannot scan \(Format.line(folder)): \(reason)"
        case .otherFolder(let wanted, let found, let store):
            "the store \(store) holds the catalog of \(Format.line(found)), not of \(Format.line(wanted)); "
                + "name another one with --store"
        }
    }
}
#endif
