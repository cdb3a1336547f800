import Foundation
import Mortise

/// A regular file of the scanned tree, as it was when the catalog last looked.
///
/// `size` is in bytes. `contentHash` belongs to exactly this `size` and `modified`: a scan that finds either changed
/// clears it, so a hash that is present never has to be checked against a date of its own.
@Model
final class File {
    #Index<File>([\.size], [\.modified])

    var path: String
    var name: String
    var fileExtension: String
    var kind: FileKind
    var size: Int
    var modified: Date
    var contentHash: String?
    var folder: Folder?
    @Relationship(inverse: \Tag.files) var tags: [Tag] = []

    init(path: String, name: String, size: Int, modified: Date) {
        self.path = path
        self.name = name
        self.fileExtension = FileKind.fileExtension(of: name)
        self.kind = FileKind(fileExtension: FileKind.fileExtension(of: name))
        self.size = size
        self.modified = modified
    }
}
