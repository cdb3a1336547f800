// Made by mortise schema models of version 2.6.0, storage 6fe524c572a782213059c54be71347dd.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random5: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(2, 6, 0) }
    static var models: [any PersistentModel.Type] { [Data.self, Index.self, Stop.self, Trip.self] }

    @Model
    final class Data {
        #Unique<Data>([\.x, \.in17])
        #Index<Data>([\.in17, \.x])

        @Attribute(.preserveValueOnDeletion, originalName: "old x") var x: Double = 1e+300
        @Relationship(deleteRule: .noAction, originalName: "old date14", inverse: \Index.größe16) var date14: [Index] = []
        @Attribute(.preserveValueOnDeletion, .spotlight) var in17: CodedTree?

        init() {}
    }

    @Model
    final class Index {
        #Unique<Index>([\.tags19, \.name12])

        @Attribute(.allowsCloudEncryption) var `class`: Float? = Float(bitPattern: 0x7fc00000)
        @Relationship(deleteRule: .cascade, inverse: \Stop.name13) var in26: [Stop] = []
        @Attribute(originalName: "old name12") var name12: UInt8
        @Relationship(deleteRule: .noAction, maximumModelCount: 12, originalName: "old x3") var x3: [Index] = []
        @Attribute(.allowsCloudEncryption) var tags19: String = ""
        var größe16: [Data] = []
        @Relationship(deleteRule: .deny, originalName: "old in22", inverse: \Index.x3) var in22: [Index] = []

        init(name12: UInt8) {
            self.name12 = name12
        }
    }

    @Model
    final class Stop {
        @Relationship(deleteRule: .cascade, originalName: "old isPublic") var isPublic: Data?
        @Relationship(deleteRule: .deny, originalName: "old name13") var name13: Index?

        init() {}
    }

    @Model
    final class Trip {
        #Unique<Trip>([\.default24, \.größe])
        #Index<Trip>([\.`in`, \.tags0], [\.default24, \.größe])

        @Attribute(.spotlight, originalName: "old default") var `default`: Bool
        var größe: UInt64? = 18446744073709551615
        @Attribute(.externalStorage, .spotlight) var tags0: Foundation.Data?
        @Attribute(.preserveValueOnDeletion, .spotlight) var default24: CodedTree
        @Attribute(.externalStorage) var `in`: Foundation.Data?
        @Attribute(.ephemeral) var rank6: UInt16?

        init(default defaultValue: Bool, default24: CodedTree) {
            self.`default` = defaultValue
            self.default24 = default24
        }
    }
}
