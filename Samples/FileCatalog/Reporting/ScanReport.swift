import Foundation

/// What a scan found, and how that differs from the scan before.
struct ScanReport: Encodable, Sendable {
    /// A number of paths, the first of them by name.
    struct Paths: Encodable, Sendable {
        private(set) var count = 0
        private(set) var paths: [String] = []
        private let limit: Int

        init(limit: Int) {
            self.limit = limit
        }

        mutating func add(_ path: ExactPath) {
            count += 1
            if paths.count < limit { paths.append(path.text) }
        }

        private enum CodingKeys: String, CodingKey {
            case count, paths
        }
    }

    /// A file or folder that could not be read, and why.
    struct Problem: Encodable, Sendable {
        let path: String
        let reason: String
    }

    /// The absolute path of the scanned folder.
    let folder: String
    /// The URL of the store that keeps the catalog, without secrets.
    let store: String
    /// Whether the catalog was empty before.
    let isFirst: Bool

    var files = 0
    /// The folders met, the scanned one included.
    var folders = 0
    /// The sum of the sizes of the files.
    var bytes = 0
    /// Symbolic links; what they point to is not looked at.
    var symbolicLinks = 0
    /// Sockets, pipes and devices.
    var specialFiles = 0
    /// The files of the store itself, which are not part of the catalog.
    var leftOut: [String] = []
    /// Entries that were left out as `.git`, as `.build` or for a `.gitignore` file; what is in them is not counted.
    var ignored = 0
    var problems: [Problem] = []
    /// Files and folders that lie where this scan could not look, and stay in the catalog as they were.
    var keptUnseen = 0

    var addedFiles: Paths
    var changedFiles: Paths
    var removedFiles: Paths
    var addedFolders: Paths
    var removedFolders: Paths

    /// An empty report that will hold up to `limit` paths of each kind of difference.
    init(folder: String, store: String, isFirst: Bool, limit: Int) {
        self.folder = folder
        self.store = store
        self.isFirst = isFirst
        addedFiles = Paths(limit: limit)
        changedFiles = Paths(limit: limit)
        removedFiles = Paths(limit: limit)
        addedFolders = Paths(limit: limit)
        removedFolders = Paths(limit: limit)
    }

    /// The report as one JSON object, its keys in order.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
