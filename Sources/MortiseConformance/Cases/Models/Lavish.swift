import Foundation
import MortiseCore

/// The kit's badge with new properties that have defaults, of every kind.
enum Lavish {
    static let day = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    static let price = Decimal(string: "12345678901234567890.123456789") ?? 0
    static let token = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let link = URL(fileURLWithPath: "/a b/50%20x")
    static let place = Place(name: "here", latitude: -0.5, tags: ["a"], note: "it's \"there\"")

    /// What has to have a value.
    enum Required {
        final class Badge: PersistentModel {
            var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "number", keypath: \Badge.number),
                    .init(name: "isNew", keypath: \Badge.isNew, defaultValue: true),
                    .init(name: "isOld", keypath: \Badge.isOld, defaultValue: false),
                    .init(name: "tiny", keypath: \Badge.tiny, defaultValue: Int8(-128)),
                    .init(name: "large", keypath: \Badge.large, defaultValue: Int64.min),
                    .init(name: "wide", keypath: \Badge.wide, defaultValue: UInt64.max),
                    .init(name: "single", keypath: \Badge.single, defaultValue: Float(0.1)),
                    .init(name: "real", keypath: \Badge.real, defaultValue: 0.1),
                    .init(name: "price", keypath: \Badge.price, defaultValue: Lavish.price),
                    .init(name: "day", keypath: \Badge.day, defaultValue: Lavish.day),
                    .init(name: "empty", keypath: \Badge.empty, defaultValue: ""),
                    .init(name: "quoted", keypath: \Badge.quoted, defaultValue: "it's \"50%\"; ?1 \\ ü\n,"),
                    .init(name: "digits", keypath: \Badge.digits, defaultValue: "007"),
                    .init(name: "bytes", keypath: \Badge.bytes, defaultValue: Data([0, 255, 39])),
                    .init(name: "token", keypath: \Badge.token, defaultValue: Lavish.token),
                    .init(name: "link", keypath: \Badge.link, defaultValue: Lavish.link),
                    .init(name: "tint", keypath: \Badge.tint, defaultValue: Tint.white),
                    .init(name: "priority", keypath: \Badge.priority, defaultValue: Priority.high),
                    .init(name: "place", keypath: \Badge.place, defaultValue: Lavish.place),
                    .init(name: "words", keypath: \Badge.words, defaultValue: ["a", "", "it's"]),
                ]
            }
            init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }

            var number: Int {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }
            var isNew: Bool {
                get { getValue(forKey: \.isNew) }
                set { setValue(forKey: \.isNew, to: newValue) }
            }
            var isOld: Bool {
                get { getValue(forKey: \.isOld) }
                set { setValue(forKey: \.isOld, to: newValue) }
            }
            var tiny: Int8 {
                get { getValue(forKey: \.tiny) }
                set { setValue(forKey: \.tiny, to: newValue) }
            }
            var large: Int64 {
                get { getValue(forKey: \.large) }
                set { setValue(forKey: \.large, to: newValue) }
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
            var price: Decimal {
                get { getValue(forKey: \.price) }
                set { setValue(forKey: \.price, to: newValue) }
            }
            var day: Date {
                get { getValue(forKey: \.day) }
                set { setValue(forKey: \.day, to: newValue) }
            }
            var empty: String {
                get { getValue(forKey: \.empty) }
                set { setValue(forKey: \.empty, to: newValue) }
            }
            var quoted: String {
                get { getValue(forKey: \.quoted) }
                set { setValue(forKey: \.quoted, to: newValue) }
            }
            var digits: String {
                get { getValue(forKey: \.digits) }
                set { setValue(forKey: \.digits, to: newValue) }
            }
            var bytes: Data {
                get { getValue(forKey: \.bytes) }
                set { setValue(forKey: \.bytes, to: newValue) }
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
        }
    }

    /// What may be nil, and has a default all the same.
    enum Optional {
        final class Badge: PersistentModel {
            var persistentBackingData: any BackingData<Badge> = Badge.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "number", keypath: \Badge.number),
                    .init(name: "flag", keypath: \Badge.flag, defaultValue: true),
                    .init(name: "whole", keypath: \Badge.whole, defaultValue: 7),
                    .init(name: "real", keypath: \Badge.real, defaultValue: 2.5),
                    .init(name: "colour", keypath: \Badge.colour, defaultValue: "red"),
                    .init(name: "price", keypath: \Badge.price, defaultValue: Lavish.price),
                    .init(name: "day", keypath: \Badge.day, defaultValue: Lavish.day),
                    .init(name: "tint", keypath: \Badge.tint, defaultValue: Tint.green),
                    .init(name: "words", keypath: \Badge.words, defaultValue: ["a"]),
                    .init(name: "nothing", keypath: \Badge.nothing),
                ]
            }
            init(backingData: any BackingData<Badge>) { persistentBackingData = backingData }
            init(_ number: Int) {
                self.number = number
                flag = nil
                whole = nil
                real = nil
                colour = nil
                price = nil
                day = nil
                tint = nil
                words = nil
            }

            var number: Int {
                get { getValue(forKey: \.number) }
                set { setValue(forKey: \.number, to: newValue) }
            }
            var flag: Bool? {
                get { getValue(forKey: \.flag) }
                set { setValue(forKey: \.flag, to: newValue) }
            }
            var whole: Int? {
                get { getValue(forKey: \.whole) }
                set { setValue(forKey: \.whole, to: newValue) }
            }
            var real: Double? {
                get { getValue(forKey: \.real) }
                set { setValue(forKey: \.real, to: newValue) }
            }
            var colour: String? {
                get { getValue(forKey: \.colour) }
                set { setValue(forKey: \.colour, to: newValue) }
            }
            var price: Decimal? {
                get { getValue(forKey: \.price) }
                set { setValue(forKey: \.price, to: newValue) }
            }
            var day: Date? {
                get { getValue(forKey: \.day) }
                set { setValue(forKey: \.day, to: newValue) }
            }
            var tint: Tint? {
                get { getValue(forKey: \.tint) }
                set { setValue(forKey: \.tint, to: newValue) }
            }
            var words: [String]? {
                get { getValue(forKey: \.words) }
                set { setValue(forKey: \.words, to: newValue) }
            }
            var nothing: String? {
                get { getValue(forKey: \.nothing) }
                set { setValue(forKey: \.nothing, to: newValue) }
            }
        }
    }
}
