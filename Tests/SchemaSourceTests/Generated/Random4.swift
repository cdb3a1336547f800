// Made by mortise schema models of version 1.4.0, storage 3b340eee9049b8b3e08f4a83ce1f968c.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random4: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 4, 0) }
    static var models: [any PersistentModel.Type] { [Guide.self, Index.self, Trip.self, `class`.self] }

    @Model
    class Guide {
        init() {}
    }

    @Model
    final class Index {
        #Index<Index>(.rtree([\._id9, \.default12]), .rtree([\.default12, \._id9]))

        var default12: Float? = Float(bitPattern: 0x7fc00000)
        @Attribute(.allowsCloudEncryption) var _id9: Float = Float(bitPattern: 0x7fc00000)

        init() {}
    }

    @Model
    final class Trip: Guide {
        #Unique<Trip>([\.tags23, \.`default`])
        #Index<Trip>(.binary([\.tags23, \.`default`]), .rtree([\.tags23, \.`default`]))

        var `default`: Data
        var tags23: Float?

        init(default defaultValue: Data) {
            self.`default` = defaultValue
            super.init()
        }
    }

    @Model
    final class `class` {
        var _id: Decimal? = 12
        var date9: Double? = -0.0
        var tags10: Int8?
        @Attribute(hashModifier: "2") var x26: Data = Data()

        init() {}
    }
}
