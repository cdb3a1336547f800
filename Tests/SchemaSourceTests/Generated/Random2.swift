// Made by mortise schema models of version 0.0.0, storage 0f7c3c8fef4fa0d19a4a824bf40e75c8.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random2: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(0, 0, 0) }
    static var models: [any PersistentModel.Type] { [Größe.self, Index.self, Stop.self, Trip.self] }

    @Model
    final class Größe {
        @Attribute(.preserveValueOnDeletion, .ephemeral) var größe4: URL? = URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/")
        @Attribute(.preserveValueOnDeletion, .allowsCloudEncryption, originalName: "old default26") var default26: Int8? = -128
        @Relationship(deleteRule: .deny) var rank19: Stop?

        init() {}
    }

    @Model
    class Index {
        #Index<Index>([\.date10, \._id])

        var rank6: UInt8 = 255
        var rank5: URL = URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/")
        @Attribute(hashModifier: "2") var isPublic22: Double = Double(bitPattern: 0x7ff8000000000001)
        var _id: Float = 0.1
        @Attribute(.allowsCloudEncryption) var date10: Float = -Float.infinity
        @Relationship(deleteRule: .noAction, inverse: \Trip.name1) var rank: Trip?
        @Relationship(deleteRule: .cascade, inverse: \Stop.default2) var größe24: [Stop] = []

        init() {}
    }

    @Model
    final class Stop {
        #Unique<Stop>([\.`in`, \.default18])

        var isPublic6: Decimal? = Decimal(string: "-12345678901234567890.123456789", locale: nil) ?? Decimal.nan
        var default18: URL?
        @Relationship(deleteRule: .deny, minimumModelCount: 1, inverse: \Größe.rank19) var date: [Größe] = []
        @Attribute(.spotlight) var `in`: UInt64 = 18446744073709551615
        @Relationship(deleteRule: .cascade) var default2: [Index] = []

        init() {}
    }

    @Model
    final class Trip: Index {
        #Index<Trip>([\.name16, \.tags], [\.tags, \.name20])

        @Attribute(.ephemeral, originalName: "old x28") var x28: Bool
        @Attribute(.spotlight) var isPublic: String? = "á\"\\(x)\n\u{1}\u{202e}\u{2028}`*/😀"
        @Relationship(deleteRule: .cascade, originalName: "old name1") var name1: Index?
        var name16: Float
        @Attribute(hashModifier: "2") var name20: String?
        @Attribute(.externalStorage, .preserveValueOnDeletion, .spotlight, hashModifier: "2") var tags: Data = Data()
        var x12: UInt64

        init(x28: Bool, name16: Float, x12: UInt64) {
            self.x28 = x28
            self.name16 = name16
            self.x12 = x12
            super.init()
        }
    }
}
