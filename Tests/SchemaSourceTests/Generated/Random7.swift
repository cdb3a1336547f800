// Made by mortise schema models of version 3.9.0, storage e1fc6c7e088527c3abad5ad4e31e3b27.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random7: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(3, 9, 0) }
    static var models: [any PersistentModel.Type] { [Data.self, Größe.self, Guide.self] }

    @Model
    class Data {
        init() {}
    }

    @Model
    final class Größe {
        init() {}
    }

    @Model
    final class Guide: Data {
        #Unique<Guide>([\.default23, \._id1])
        #Index<Guide>([\.größe6, \.isPublic1], [\.default22, \.isPublic1])

        @Attribute(originalName: "old default22") var default22: URL = URL(string: "b", relativeTo: URL(string: "https://example.org/a/")) ?? URL(fileURLWithPath: "/")
        @Attribute(.preserveValueOnDeletion) var isPublic1: URL?
        var _id1: Int16?
        var größe6: UUID?
        @Attribute(hashModifier: "2") var default23: Float = Float(bitPattern: 0x7fc00000)
        var default21: Double

        init(default21: Double) {
            self.default21 = default21
            super.init()
        }
    }
}
