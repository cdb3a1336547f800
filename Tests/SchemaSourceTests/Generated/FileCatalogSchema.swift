// Made by mortise schema models of version 1.0.0, storage 80fea98fc21b52478d8dc033a3e0843d.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum FileCatalogSchema: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
    static var models: [any PersistentModel.Type] { [File.self, Folder.self, Tag.self] }

    @Model
    final class File {
        #Index<File>([\.size], [\.modified])

        var path: String
        var name: String
        var fileExtension: String
        var kind: String
        var size: Int
        var modified: Date
        var contentHash: String?
        var folder: Folder?
        @Relationship(inverse: \Tag.files) var tags: [Tag] = []

        init(path: String, name: String, fileExtension: String, kind: String, size: Int, modified: Date) {
            self.path = path
            self.name = name
            self.fileExtension = fileExtension
            self.kind = kind
            self.size = size
            self.modified = modified
        }
    }

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

    @Model
    final class Tag {
        @Attribute(.unique) var name: String
        var files: [File] = []

        init(name: String) {
            self.name = name
        }
    }
}
