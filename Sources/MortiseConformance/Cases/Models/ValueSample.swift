import Foundation
import MortiseCore

enum Tint: String, Codable, CaseIterable { case red, green, white = "weiß" }
enum Priority: Int, Codable, CaseIterable { case low = -1, normal = 0, high = 1_000_000_000_000 }

struct Place: CompositeValue, Hashable, Sendable {
    var name: String
    var latitude: Double
    var tags: [String] = []
    var note: String?

    static var compositeMembers: [CompositeMember<Place>] { [.init(\.name, codedAs: CodingKeys.name)] }
}

/// One required property of every storage kind, and the Swift types that share a kind.
final class ValueSample: PersistentModel {
    var persistentBackingData: any BackingData<ValueSample> = ValueSample.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "flag", keypath: \ValueSample.flag),
            .init(name: "tiny", keypath: \ValueSample.tiny),
            .init(name: "small", keypath: \ValueSample.small),
            .init(name: "medium", keypath: \ValueSample.medium),
            .init(name: "large", keypath: \ValueSample.large),
            .init(name: "whole", keypath: \ValueSample.whole),
            .init(name: "byte", keypath: \ValueSample.byte),
            .init(name: "word", keypath: \ValueSample.word),
            .init(name: "half", keypath: \ValueSample.half),
            .init(name: "wide", keypath: \ValueSample.wide),
            .init(name: "single", keypath: \ValueSample.single),
            .init(name: "real", keypath: \ValueSample.real),
            .init(name: "amount", keypath: \ValueSample.amount),
            .init(name: "text", keypath: \ValueSample.text),
            .init(name: "bytes", keypath: \ValueSample.bytes),
            .init(name: "moment", keypath: \ValueSample.moment),
            .init(name: "token", keypath: \ValueSample.token),
            .init(name: "link", keypath: \ValueSample.link),
            .init(name: "tint", keypath: \ValueSample.tint),
            .init(name: "priority", keypath: \ValueSample.priority),
            .init(name: "place", keypath: \ValueSample.place),
            .init(name: "words", keypath: \ValueSample.words),
            .init(name: "scores", keypath: \ValueSample.scores),
        ]
    }
    init(backingData: any BackingData<ValueSample>) { persistentBackingData = backingData }
    init() {
        flag = false
        tiny = 0
        small = 0
        medium = 0
        large = 0
        whole = 0
        byte = 0
        word = 0
        half = 0
        wide = 0
        single = 0
        real = 0
        amount = 0
        text = ""
        bytes = Data()
        moment = Date(timeIntervalSinceReferenceDate: 0)
        token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        link = URL(fileURLWithPath: "/")
        tint = .red
        priority = .normal
        place = Place(name: "", latitude: 0)
        words = []
        scores = [:]
    }

    var flag: Bool {
        get { getValue(forKey: \.flag) }
        set { setValue(forKey: \.flag, to: newValue) }
    }
    var tiny: Int8 {
        get { getValue(forKey: \.tiny) }
        set { setValue(forKey: \.tiny, to: newValue) }
    }
    var small: Int16 {
        get { getValue(forKey: \.small) }
        set { setValue(forKey: \.small, to: newValue) }
    }
    var medium: Int32 {
        get { getValue(forKey: \.medium) }
        set { setValue(forKey: \.medium, to: newValue) }
    }
    var large: Int64 {
        get { getValue(forKey: \.large) }
        set { setValue(forKey: \.large, to: newValue) }
    }
    var whole: Int {
        get { getValue(forKey: \.whole) }
        set { setValue(forKey: \.whole, to: newValue) }
    }
    var byte: UInt8 {
        get { getValue(forKey: \.byte) }
        set { setValue(forKey: \.byte, to: newValue) }
    }
    var word: UInt16 {
        get { getValue(forKey: \.word) }
        set { setValue(forKey: \.word, to: newValue) }
    }
    var half: UInt32 {
        get { getValue(forKey: \.half) }
        set { setValue(forKey: \.half, to: newValue) }
    }
    var wide: UInt64 {
        get { getValue(forKey: \.wide) }
        set { setValue(forKey: \.wide, to: newValue) }
    }
    var single: Float {
        get { getValue(forKey: \.single) }
        set { setValue(forKey: \.single, to: newValue) }
    }
    var real: Double {
        get { getValue(forKey: \.real) }
        set { setValue(forKey: \.real, to: newValue) }
    }
    var amount: Decimal {
        get { getValue(forKey: \.amount) }
        set { setValue(forKey: \.amount, to: newValue) }
    }
    var text: String {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
    var bytes: Data {
        get { getValue(forKey: \.bytes) }
        set { setValue(forKey: \.bytes, to: newValue) }
    }
    var moment: Date {
        get { getValue(forKey: \.moment) }
        set { setValue(forKey: \.moment, to: newValue) }
    }
    var token: UUID {
        get { getValue(forKey: \.token) }
        set { setValue(forKey: \.token, to: newValue) }
    }
    var link: URL {
        get { getValue(forKey: \.link) }
        set { setValue(forKey: \.link, to: newValue) }
    }
    var tint: Tint {
        get { getValue(forKey: \.tint) }
        set { setValue(forKey: \.tint, to: newValue) }
    }
    var priority: Priority {
        get { getValue(forKey: \.priority) }
        set { setValue(forKey: \.priority, to: newValue) }
    }
    var place: Place {
        get { getValue(forKey: \.place) }
        set { setValue(forKey: \.place, to: newValue) }
    }
    var words: [String] {
        get { getValue(forKey: \.words) }
        set { setValue(forKey: \.words, to: newValue) }
    }
    var scores: [String: Int] {
        get { getValue(forKey: \.scores) }
        set { setValue(forKey: \.scores, to: newValue) }
    }
}
