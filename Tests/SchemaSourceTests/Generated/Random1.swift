// Made by mortise schema models of version 1.11.0, storage e6da985ec07cf560e59e0a1488849f05.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random1: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 11, 0) }
    static var models: [any PersistentModel.Type] { [Größe.self, Guide.self, Index.self, Stop.self, `class`.self] }

    @Model
    final class Größe: Index {
        #Unique<Größe>([\.name27, \.in25])

        @Attribute(.spotlight, originalName: "old tags28") var tags28: Date = Date(timeIntervalSinceReferenceDate: 791837694.25)
        @Attribute(.preserveValueOnDeletion) var in25: Date?
        @Attribute(originalName: "old name27") var name27: String?
        @Attribute(.spotlight) var rank22: UInt8 = 255
        @Attribute(originalName: "old class2", hashModifier: "2") var class2: Int16?
        var rank7: Int16

        init(rank: Int, rank7: Int16) {
            self.rank7 = rank7
            super.init(rank: rank)
        }
    }

    @Model
    final class Guide {
        #Unique<Guide>([\.isPublic, \.default26])
        #Index<Guide>(.rtree([\.x0, \.isPublic]))

        var isPublic: Date? = Date(timeIntervalSinceReferenceDate: 791837694.25)
        @Attribute(.preserveValueOnDeletion, .spotlight, originalName: "old x") var x: Float? = -Float.infinity
        @Attribute(originalName: "old default26", hashModifier: "2") var default26: Float?
        @Attribute(.ephemeral) var isPublic1: Float? = 0.1
        @Attribute(originalName: "old x0") var x0: Double

        init(x0: Double) {
            self.x0 = x0
        }
    }

    @Model
    class Index {
        #Unique<Index>([\.rank, \.in29])
        #Index<Index>([\.rank, \.in29])

        @Attribute(.unique, hashModifier: "2") var rank: Int
        @Attribute(.externalStorage) var in29: Data = Data(base64Encoded: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==") ?? Data()

        init(rank: Int) {
            self.rank = rank
        }
    }

    @Model
    final class Stop {
        #Index<Stop>([\.tags])

        var tags: Double? = Double(bitPattern: 0x7ff8000000000000)

        init() {}
    }

    @Model
    final class `class` {
        #Index<`class`>([\.date1, \.rank11])

        @Attribute(.preserveValueOnDeletion) var date1: Double? = Double(bitPattern: 0x7ff8000000000001)
        @Attribute(.allowsCloudEncryption) var rank11: Int8?
        @Attribute(.externalStorage, originalName: "old date25") var date25: Data?

        init() {}
    }
}
