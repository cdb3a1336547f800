import Mortise

/// A folder of the scanned tree.
///
/// `path` is relative to the scanned folder and written as `find` writes it, without the leading `./`; the scanned
/// folder itself has the path `.`, and its `name` is its absolute path. Two paths may differ only in how a character is
/// composed, which Swift's string comparison calls equal, so `path` is deliberately not unique: the scan tells paths
/// apart with ``ExactPath``.
@Model
final class Folder {
    #Index<Folder>([\.path])

    var path: String
    var name: String
    var parent: Folder?
    @Relationship(deleteRule: .cascade, inverse: \Folder.parent) var children: [Folder] = []
    @Relationship(deleteRule: .cascade, inverse: \File.folder) var files: [File] = []

    init(path: String, name: String) {
        self.path = path
        self.name = name
    }
}
