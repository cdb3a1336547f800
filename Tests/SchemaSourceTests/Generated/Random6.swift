// Made by mortise schema models of version 0.10.0, storage e5b490c89e538368e5ce0d1a00a0f30a.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random6: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(0, 10, 0) }
    static var models: [any PersistentModel.Type] { [Index.self] }

    @Model
    final class Index {
        #Index<Index>(.rtree([\.tags1]))

        var x5: Index?
        @Relationship(deleteRule: .noAction, originalName: "old class") var `class`: [Index] = []
        @Relationship(deleteRule: .noAction, inverse: \Index.rank27) var name: [Index] = []
        @Attribute(.preserveValueOnDeletion) var tags1: Int32
        @Relationship(deleteRule: .noAction, originalName: "old tags") var tags: Index
        @Relationship(deleteRule: .deny, originalName: "old rank27") var rank27: [Index] = []
        @Relationship(deleteRule: .cascade, originalName: "old _id", inverse: \Index.x5) var _id: Index?
        @Relationship(deleteRule: .noAction, inverse: \Index.tags) var isPublic19: Index

        init(tags1: Int32, tags: Index, isPublic19: Index) {
            self.tags1 = tags1
            self.tags = tags
            self.isPublic19 = isPublic19
        }
    }
}
