import Foundation
import Mortise

/// The files that a store keeps beside each other: the file or folder that its URL names, its lock and its temporaries.
struct StoreFiles: Sendable {
    private let name: String
    private let folder: FileIdentity

    /// The files of the store with the URL `store`; nil if it keeps none, or if their folder does not exist yet.
    init?(store: String) {
        guard let url = try? StoreURL(store), url.scheme != "memory", !url.path.isEmpty else { return nil }
        let path = URL(fileURLWithPath: url.path)
        guard let folder = try? FileStatus(ofPath: path.deletingLastPathComponent().path) else { return nil }
        self.name = path.lastPathComponent
        self.folder = folder.identity
    }

    /// Whether the entry called `name` in `folder` is one of them: the store's own name, or that name with an ending
    /// after a dot or hyphen (`catalog.json.lock`), hidden or not.
    func contain(_ name: String, in folder: FileIdentity) -> Bool {
        guard folder == self.folder else { return false }
        let visible = name.hasPrefix(".") && !self.name.hasPrefix(".") ? name.dropFirst() : name[...]
        guard visible.hasPrefix(self.name) else { return false }
        let ending = visible.dropFirst(self.name.count)
        return ending.isEmpty || ending.hasPrefix(".") || ending.hasPrefix("-")
    }
}
