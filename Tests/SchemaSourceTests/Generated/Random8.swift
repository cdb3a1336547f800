// Made by mortise schema models of version 1.1.0, storage 66a20073619cd12a83f4fede7783e622.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random8: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 1, 0) }
    static var models: [any PersistentModel.Type] { [Data.self, Guide.self, Index.self, Stop.self, Trip.self] }

    @Model
    final class Data {
        #Index<Data>(.rtree([\.date23, \._id6]), .binary([\._id6, \.date23]))

        @Attribute(.spotlight) var _id6: Double?
        var date23: Bool?

        init() {}
    }

    @Model
    final class Guide {
        #Index<Guide>([\.default11])

        @Attribute(.spotlight) var default11: CodedTree? = CodedTree(json: "{\"\": [], \"a\": {}, \"b\": [null, false, -1, 18446744073709551615, 1.0, \"x\\\"\\\\\\n\"]}") ?? CodedTree(.null)

        init() {}
    }

    @Model
    final class Index: Stop {
        override init() {
            super.init()
        }
    }

    @Model
    class Stop {
        #Unique<Stop>([\.`class`, \.isPublic])
        #Index<Stop>(.binary([\.isPublic, \.`class`]), .rtree([\.`class`, \.isPublic]))

        @Attribute(.ephemeral) var tags25: UInt16? = 1
        @Attribute(.spotlight) var `class`: UInt64?
        @Attribute(.preserveValueOnDeletion) var isPublic: Int32? = 0

        init() {}
    }

    @Model
    final class Trip {
        var name7: UInt8 = 255
        @Attribute(.preserveValueOnDeletion) var tags27: UUID
        var rank: Foundation.Data?
        var default23: UInt8 = 255
        var rank3: Bool

        init(tags27: UUID, rank3: Bool) {
            self.tags27 = tags27
            self.rank3 = rank3
        }
    }
}
