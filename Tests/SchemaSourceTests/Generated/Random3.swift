// Made by mortise schema models of version 0.11.0, storage 729a8995f4f8c8cfeec3584eab09bc8f.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Random3: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(0, 11, 0) }
    static var models: [any PersistentModel.Type] { [Trip.self] }

    @Model
    final class Trip {
        #Index<Trip>([\.default23, \.größe12], [\.`default`, \.größe12])

        @Attribute(originalName: "old default23") var default23: Double? = Double(bitPattern: 0x7ff8000000000000)
        var tags: Date?
        @Relationship(deleteRule: .noAction) var größe26: Trip?
        @Relationship(deleteRule: .noAction) var isPublic: [Trip] = []
        @Relationship(deleteRule: .cascade, inverse: \Trip.x) var tags1: [Trip] = []
        @Attribute(.externalStorage, .spotlight) var date11: Data?
        @Attribute(.allowsCloudEncryption) var in20: Float = 0.1
        @Relationship(inverse: \Trip.isPublic2) var _id11: Trip?
        var größe12: Int
        @Attribute(.externalStorage, .allowsCloudEncryption) var `default`: Data = Data()
        @Relationship(deleteRule: .cascade) var isPublic2: Trip
        @Relationship(deleteRule: .deny, inverse: \Trip.isPublic) var größe0: [Trip] = []
        @Relationship(originalName: "old x") var x: Trip?

        init(größe12: Int, isPublic2: Trip) {
            self.größe12 = größe12
            self.isPublic2 = isPublic2
        }
    }
}
