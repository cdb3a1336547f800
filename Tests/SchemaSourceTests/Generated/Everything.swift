// Made by mortise schema models of version 1.2.30, storage a818959d2898b2443c51e82aff4a2e91.
// Frozen: do not edit.
// swift-format-ignore-file

import Foundation
import Mortise

enum Everything: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(1, 2, 30) }
    static var models: [any PersistentModel.Type] { [Bus.self, Defaults.self, Event.self, Label.self, Night.self, Nothing.self, Passport.self, Traveler.self, Trip.self] }

    @Model
    class Bus: Trip {
        #Index<Bus>([\.cost])

        var seats: Int16

        init(id: UUID, again: Trip.Again, cache: Int, big: UInt, flag: CodedTree, guide: Traveler, seats: Int16) {
            self.seats = seats
            super.init(id: id, again: again, cache: cache, big: big, flag: flag, guide: guide)
        }
    }

    @Model
    final class Defaults {
        var p0: Bool = true
        var p1: Int8 = -128
        var p2: Int16 = 32767
        var p3: Int32 = 0
        var p4: Int = -9223372036854775808
        var p5: UInt8 = 255
        var p6: UInt16 = 1
        var p7: UInt32 = 4294967295
        var p8: UInt64 = 18446744073709551615
        var p9: Float = 0.1
        var p10: Float = -Float.infinity
        var p11: Float = Float(bitPattern: 0x7fc00000)
        var p12: Double = -0.0
        var p13: Double = Double(bitPattern: 0x1)
        var p14: Double = 1e+300
        var p15: Double = Double(bitPattern: 0x7ff8000000000000)
        var p16: Double = Double(bitPattern: 0x7ff8000000000001)
        var p17: Decimal = Decimal(string: "-12345678901234567890.123456789", locale: nil) ?? Decimal.nan
        var p18: Decimal = 12
        var p19: String = "á\"\\(x)\n\u{1}\u{202e}\u{2028}`*/😀"
        var p20: String = ""
        var p21: Data = Data([0x00, 0xff, 0x10])
        var p22: Data = Data()
        var p23: Data = Data(base64Encoded: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==") ?? Data()
        var p24: Date = Date(timeIntervalSinceReferenceDate: 791837694.25)
        var p25: Date = Date(timeIntervalSinceReferenceDate: -Double.infinity)
        var p26: UUID = UUID(uuid: (0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0xff))
        var p27: URL = URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/")
        var p28: URL = URL(string: "b", relativeTo: URL(string: "https://example.org/a/")) ?? URL(fileURLWithPath: "/")
        var p29: CodedTree = CodedTree(json: "{\"\": [], \"a\": {}, \"b\": [null, false, -1, 18446744073709551615, 1.0, \"x\\\"\\\\\\n\"]}") ?? CodedTree(.null)
        var p30: CodedTree = CodedTree(json: "\"only\"") ?? CodedTree(.null)
        var q0: Bool? = true
        var q1: Int8? = -128
        var q2: Int16? = 32767
        var q3: Int32? = 0
        var q4: Int? = -9223372036854775808
        var q5: UInt8? = 255
        var q6: UInt16? = 1
        var q7: UInt32? = 4294967295
        var q8: UInt64? = 18446744073709551615
        var q9: Float? = 0.1
        var q10: Float? = -Float.infinity
        var q11: Float? = Float(bitPattern: 0x7fc00000)
        var q12: Double? = -0.0
        var q13: Double? = Double(bitPattern: 0x1)
        var q14: Double? = 1e+300
        var q15: Double? = Double(bitPattern: 0x7ff8000000000000)
        var q16: Double? = Double(bitPattern: 0x7ff8000000000001)
        var q17: Decimal? = Decimal(string: "-12345678901234567890.123456789", locale: nil) ?? Decimal.nan
        var q18: Decimal? = 12
        var q19: String? = "á\"\\(x)\n\u{1}\u{202e}\u{2028}`*/😀"
        var q20: String? = ""
        var q21: Data? = Data([0x00, 0xff, 0x10])
        var q22: Data? = Data()
        var q23: Data? = Data(base64Encoded: "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBw==") ?? Data()
        var q24: Date? = Date(timeIntervalSinceReferenceDate: 791837694.25)
        var q25: Date? = Date(timeIntervalSinceReferenceDate: -Double.infinity)
        var q26: UUID? = UUID(uuid: (0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0xff))
        var q27: URL? = URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/")
        var q28: URL? = URL(string: "b", relativeTo: URL(string: "https://example.org/a/")) ?? URL(fileURLWithPath: "/")
        var q29: CodedTree? = CodedTree(json: "{\"\": [], \"a\": {}, \"b\": [null, false, -1, 18446744073709551615, 1.0, \"x\\\"\\\\\\n\"]}") ?? CodedTree(.null)
        var q30: CodedTree? = CodedTree(json: "\"only\"") ?? CodedTree(.null)
        var rbool: Bool
        var rint8: Int8
        var rint16: Int16
        var rint32: Int32
        var rint64: Int
        var ruint8: UInt8
        var ruint16: UInt16
        var ruint32: UInt32
        var ruint64: UInt64
        var rfloat: Float
        var rdouble: Double
        var rdecimal: Decimal
        var rstring: String
        var rdata: Data
        var rdate: Date
        var ruuid: UUID
        var rurl: URL
        var rcoded: CodedTree
        var obool: Bool?
        var oint8: Int8?
        var oint16: Int16?
        var oint32: Int32?
        var oint64: Int?
        var ouint8: UInt8?
        var ouint16: UInt16?
        var ouint32: UInt32?
        var ouint64: UInt64?
        var ofloat: Float?
        var odouble: Double?
        var odecimal: Decimal?
        var ostring: String?
        var odata: Data?
        var odate: Date?
        var ouuid: UUID?
        var ourl: URL?
        var ocoded: CodedTree?

        init(rbool: Bool, rint8: Int8, rint16: Int16, rint32: Int32, rint64: Int, ruint8: UInt8, ruint16: UInt16, ruint32: UInt32, ruint64: UInt64, rfloat: Float, rdouble: Double, rdecimal: Decimal, rstring: String, rdata: Data, rdate: Date, ruuid: UUID, rurl: URL, rcoded: CodedTree) {
            self.rbool = rbool
            self.rint8 = rint8
            self.rint16 = rint16
            self.rint32 = rint32
            self.rint64 = rint64
            self.ruint8 = ruint8
            self.ruint16 = ruint16
            self.ruint32 = ruint32
            self.ruint64 = ruint64
            self.rfloat = rfloat
            self.rdouble = rdouble
            self.rdecimal = rdecimal
            self.rstring = rstring
            self.rdata = rdata
            self.rdate = rdate
            self.ruuid = ruuid
            self.rurl = rurl
            self.rcoded = rcoded
        }
    }

    @Model
    class Event {
        // Not here: that the entity is abstract
        @Attribute(.unique) var id: UUID

        init(id: UUID) {
            self.id = id
        }
    }

    @Model
    final class Label {
        @Relationship(deleteRule: .noAction, inverse: \Trip.labels) var trips: [Trip] = []

        init() {}
    }

    @Model
    final class Night: Bus {
        override init(id: UUID, again: Trip.Again, cache: Int, big: UInt, flag: CodedTree, guide: Traveler, seats: Int16) {
            super.init(id: id, again: again, cache: cache, big: big, flag: flag, guide: guide, seats: seats)
        }
    }

    @Model
    final class Nothing {
        init() {}
    }

    @Model
    final class Passport {
        @Relationship(inverse: \Trip.passport) var trip: Trip?

        init() {}
    }

    @Model
    final class Traveler {
        @Relationship(deleteRule: .cascade, inverse: \Trip.traveler) var trips: [Trip] = []
        @Relationship(inverse: \Trip.guide) var led: [Trip] = []
        var maybe: [Label]?

        init() {}
    }

    @Model
    class Trip: Event {
        // Not here: the former names Journey
        // */
        // Not here: the hash modifier 2 of the entity
        // Not here: the reserved names fee
        // Not here: that labels is ordered
        // Not here: that labels does not keep the links
        #Unique<Trip>([\.kind, \.cost], [\.rank])
        #Index<Trip>(.binary([\.cost, \.kind]), .rtree([\.id, \.kind]))

        static var originalEntityName: String? { "Journey" }

        enum Kind: String, Codable, Sendable {
            case bus
            case `in`
            case value3 = "night train"
            case value4 = ""
            case value5 = "init"
        }

        enum Rank: Int, Codable, Sendable {
            case minus3 = -3
            case value7 = 7
        }

        struct Place: Codable, Hashable, Sendable {
            struct Position: Codable, Hashable, Sendable {
                var latitude: Double
                var since: Date
            }
            var city: String
            var number: Int
            var `in`: Bool?
            var position: Position?
            var rest: CodedTree?

            init(city: String = "", number: Int, in _in: Bool? = nil, position: Position? = nil, rest: CodedTree? = nil) {
                self.city = city
                self.number = number
                self.`in` = _in
                self.position = position
                self.rest = rest
            }

            init(from decoder: any Decoder) throws {
                let values = try decoder.container(keyedBy: CodingKeys.self)
                self.city = try values.decodeIfPresent(String.self, forKey: .city) ?? ""
                self.number = try values.decode(Int.self, forKey: .number)
                self.`in` = try values.decodeIfPresent(Bool.self, forKey: .`in`)
                self.position = try values.decodeIfPresent(Position.self, forKey: .position)
                self.rest = try values.decodeIfPresent(CodedTree.self, forKey: .rest)
            }
        }

        struct Again: Codable, Hashable, Sendable {
            var `default`: String
        }

        /// How "one" travels:
        ///  by \(x) or /, é
        ///
        /// */ import Evil\u{0}
        var kind: Kind = Kind.bus
        var other: Kind?
        var rank: Rank = Rank.minus3
        @Attribute(originalName: "price \"of\" all", hashModifier: "m\n") var cost: Double?
        var place: Place = Place(city: "x", number: 2, in: nil, position: nil, rest: nil)
        var again: Again
        var strange: CodedTree = CodedTree(json: "{\"city\": null}") ?? CodedTree(.null)
        @Attribute(.externalStorage, .transformable(by: "Picture\"Transformer")) var picture: Data?
        @Attribute(.preserveValueOnDeletion, .ephemeral, .spotlight, .allowsCloudEncryption) var cache: Int
        var big: UInt
        @Attribute(.codable) var flag: CodedTree
        @Relationship(deleteRule: .deny) var traveler: Traveler?
        @Relationship(originalName: "leader") var guide: Traveler
        @Relationship(minimumModelCount: 1, maximumModelCount: 9, hashModifier: "b") var labels: [Label] = []
        @Relationship(.unique) var passport: Passport?
        var parent: Trip?
        @Relationship(deleteRule: .cascade, inverse: \Trip.parent) var children: [Trip] = []

        init(id: UUID, again: Trip.Again, cache: Int, big: UInt, flag: CodedTree, guide: Traveler) {
            self.again = again
            self.cache = cache
            self.big = big
            self.flag = flag
            self.guide = guide
            super.init(id: id)
        }
    }
}
