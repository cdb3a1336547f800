import Foundation
import Mortise

enum Mood: String, Codable, CaseIterable { case calm, glad, cross }
enum Rank: Int, Codable { case low = 1, middle = 5, high = 9 }

struct Address: Codable, Hashable {
    var street: String
    var number: Int
    var tags: [String] = []
    var since: Date?
}

/// Every sort of attribute that a model can have.
@Model
final class Everything {
    var flag: Bool
    var int: Int = -1
    var int8: Int8 = .min
    var int16: Int16 = .max
    var int32: Int32 = .min
    var int64: Int64 = .max
    var uint: UInt = .max
    var uint8: UInt8 = .max
    var uint16: UInt16 = .max
    var uint32: UInt32 = .max
    var uint64: UInt64 = .max
    var float: Float = -0.1
    var double: Double = 1e300
    var decimal: Decimal = 0
    var text: String = ""
    var data: Data = Data()
    var date: Date = Date(timeIntervalSinceReferenceDate: 0.1)
    var uuid: UUID
    var url: URL
    var mood: Mood = Mood.calm
    var rank: Rank = Rank.low
    var address: Address
    var names: [String] = []
    var numbers: [Int: Double] = [:]
    var table: [String: [Address]] = [:]

    var maybeFlag: Bool?
    var maybeInt: Int?
    var maybeUInt64: UInt64?
    var maybeDouble: Double?
    var maybeDecimal: Decimal?
    var maybeText: String?
    var maybeData: Data?
    var maybeDate: Date?
    var maybeUUID: UUID?
    var maybeURL: URL?
    var maybeMood: Mood?
    var maybeRank: Rank?
    var maybeAddress: Address?
    var maybeNames: [String]?

    init(flag: Bool, uuid: UUID, url: URL, address: Address) {
        self.flag = flag
        self.uuid = uuid
        self.url = url
        self.address = address
    }
}

/// Properties with observers, private ones, and such as are not stored.
@Model
final class Gauge {
    var level: Int = 0 {
        willSet { heralds.append(newValue) }
        didSet { echoes.append(oldValue) }
    }
    private var secret: String = "initial"
    @Transient var heralds: [Int] = []
    @Transient var echoes: [Int] = []
    @Transient var scratch: String?
    @Attribute(.ephemeral) var progress: Double = 0.25
    @Attribute(.ephemeral) var mood: Mood = Mood.glad
    @Attribute(.ephemeral) var note: String?

    init() {}

    var doubled: Int { level * 2 }
    func whisper(_ text: String) { secret = text }
    func overhear() -> String { secret }
}
