import Foundation
import PackageTestSupport

/// The values that are compared: few, so that queries hit, and all that have a trap in them.
enum Pool {
    static let strings = [
        "", "a", "A", "b", "ab", "aba", "é", "e\u{301}", "xéy", "xe\u{301}y", "e", "\u{301}", "ß", "ss", "Z", "z", "10",
        "9",
        "\r\n", "\n", "🇩🇪", "🇩", "👩‍👧", "ﬁ", "i\u{307}",
    ]
    static let doubles: [Double] = [
        0, -0.0, 1, 1.5, -1, -2.25, .nan, .infinity, -.infinity, 1e-300, 9_007_199_254_740_992, .leastNonzeroMagnitude,
    ]
    static let decimals = [
        Decimal(0), 1, -1, Decimal(string: "0.1")!, Decimal(string: "10.50")!, Decimal(string: "9.99")!,
        Decimal(string: "-123456789012345678.125")!, Decimal.nan,
    ]
    static let dates = [-1.5, 0, 0.1, 1e9, 700_000_000.123].map { Date(timeIntervalSinceReferenceDate: $0) }
    /// Foundation cannot write NaN down as a date, so that one is never captured.
    static let storedDates = dates + [Date(timeIntervalSinceReferenceDate: .nan)]
    static let keys = [
        "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-0000000000FF",
        "FFFFFFFF-0000-0000-0000-000000000001",
    ].map { UUID(uuidString: $0)! }
    static let bigs: [UInt64] = [0, 1, 9_007_199_254_740_992, 9_007_199_254_740_993, .max]
    static let blobs = [Data(), Data([0]), Data([0, 255]), Data([1])]
}

struct ItemValues {
    var serial = 0
    var isSpecial = false
    var name = ""
    var note: String?
    var size = 0
    var rank: Int?
    var tiny: Int8 = 0
    var big: UInt64?
    var weight = 0.0
    var ratio: Double?
    var share: Float = 0
    var amount = Decimal(0)
    var flag = false
    var day: Date?
    var key = Pool.keys[0]
    var blob = Data()
    var tone = Tone.none
    var level: Level?
    var tags: [String] = []
    var numbers: [Int] = []
    var scores: [Double] = []
    var days: [Date] = []
    var marks: [String: Int] = [:]
    var place = Place()
    var branch: Place?
    var box: Int?
    var peers: [Int] = []
}

extension ItemValues: CustomStringConvertible {
    /// The values that are not those of a new record.
    var description: String {
        let fresh = Mirror(reflecting: ItemValues()).children.map { Self.text($0.value) }
        let parts = zip(Mirror(reflecting: self).children, fresh).compactMap { child, fresh -> String? in
            let text = Self.text(child.value)
            return text == fresh && child.label != "serial" ? nil : "\(child.label ?? ""): \(text)"
        }
        return "item(" + parts.joined(separator: ", ") + ")"
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let day as Date?: day.map { "Date(\($0.timeIntervalSinceReferenceDate))" } ?? "nil"
        case let days as [Date]: "\(days.map(\.timeIntervalSinceReferenceDate))"
        default: "\(value)"
        }
    }
}

struct BoxValues {
    var serial = 0
    var label = ""
    var rank: Int?
    var load = 0.0
    var outer: Int?
}

/// The records of one case, before any query: what is saved, and what is then changed without saving.
struct QueryData {
    enum Change {
        case insert(ItemValues)
        case update(serial: Int, ItemValues)
        case delete(serial: Int)
        case updateBox(serial: Int, BoxValues)
        case deleteBox(serial: Int)
    }
    var boxes: [BoxValues] = []
    var items: [ItemValues] = []
    var changes: [Change] = []

    /// - Parameter isLarge: whether there are so many records that indexes are worth their while.
    init(seed: UInt64, isLarge: Bool = false) {
        var random = SeededGenerator(seed: seed)
        let boxCount = random.below(isLarge ? 20 : 5)
        boxes = (0..<boxCount).map { Self.box($0, of: boxCount, &random) }
        let itemCount = isLarge ? 150 + random.below(200) : random.below(24)
        items = (0..<itemCount).map { Self.item($0, boxes: boxCount, &random) }
        guard random.chance(percent: 60) else { return }
        for step in 0..<random.below(6) {
            switch random.below(6) {
            case 0, 1: changes.append(.insert(Self.item(1_000 + step, boxes: boxCount, &random)))
            case 2 where itemCount > 0:
                let serial = random.below(itemCount)
                changes.append(.update(serial: serial, Self.item(serial, boxes: boxCount, &random)))
            case 3 where itemCount > 0: changes.append(.delete(serial: random.below(itemCount)))
            case 4 where boxCount > 0:
                let serial = random.below(boxCount)
                changes.append(.updateBox(serial: serial, Self.box(serial, of: boxCount, &random)))
            case 5 where boxCount > 0: changes.append(.deleteBox(serial: random.below(boxCount)))
            default: break
            }
        }
    }

    private static func box(_ serial: Int, of count: Int, _ random: inout SeededGenerator) -> BoxValues {
        BoxValues(
            serial: serial, label: random.pick(Pool.strings),
            rank: random.chance(percent: 40) ? nil : random.below(5) - 2,
            load: random.pick(Pool.doubles), outer: random.chance(percent: 50) ? nil : random.below(count))
    }

    private static func item(_ serial: Int, boxes: Int, _ random: inout SeededGenerator) -> ItemValues {
        var item = ItemValues()
        item.serial = serial
        item.isSpecial = random.chance(percent: 30)
        item.name = random.pick(Pool.strings)
        item.note = random.chance(percent: 40) ? nil : random.pick(Pool.strings)
        item.size = random.below(11) - 5
        item.rank = random.chance(percent: 40) ? nil : random.below(7) - 3
        item.tiny = random.pick([0, 1, -1, .max, .min])
        item.big = random.chance(percent: 30) ? nil : random.pick(Pool.bigs)
        item.weight = random.pick(Pool.doubles)
        item.ratio = random.chance(percent: 30) ? nil : random.pick(Pool.doubles)
        item.share = Float(random.pick(Pool.doubles))
        item.amount = random.pick(Pool.decimals)
        item.flag = random.chance(percent: 50)
        item.day = random.chance(percent: 30) ? nil : random.pick(Pool.storedDates)
        item.key = random.pick(Pool.keys)
        item.blob = random.pick(Pool.blobs)
        item.tone = random.pick(Tone.allCases)
        item.level = random.chance(percent: 30) ? nil : random.pick(Level.allCases)
        item.tags = (0..<random.below(4)).map { _ in random.pick(Pool.strings) }
        item.numbers = (0..<random.below(4)).map { _ in random.below(7) - 3 }
        item.scores = (0..<random.below(4)).map { _ in random.pick(Pool.doubles) }
        item.days = (0..<random.below(3)).map { _ in random.pick(Pool.storedDates) }
        for _ in 0..<random.below(3) { item.marks[random.pick(["a", "b", "é", "e\u{301}"])] = random.below(4) }
        item.place = place(&random)
        item.branch = random.chance(percent: 50) ? nil : place(&random)
        item.box = boxes == 0 || random.chance(percent: 30) ? nil : random.below(boxes)
        item.peers = boxes == 0 ? [] : Array(Set((0..<random.below(3)).map { _ in random.below(boxes) })).sorted()
        return item
    }

    private static func place(_ random: inout SeededGenerator) -> Place {
        Place(
            city: random.pick(Pool.strings), floor: random.below(5) - 2,
            opened: random.chance(percent: 40) ? nil : random.pick(Pool.dates),
            price: random.pick(Pool.decimals.filter { !$0.isNaN }), share: random.pick([0, 0.1, -1.5, 3]),
            code: random.pick(Pool.keys))
    }
}
