import Foundation
import MortiseCore

/// An optional property of every storage kind whose absence a store may confuse with another value.
final class OptionalSample: PersistentModel {
    var persistentBackingData: any BackingData<OptionalSample> = OptionalSample.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "label", keypath: \OptionalSample.label),
            .init(name: "flag", keypath: \OptionalSample.flag),
            .init(name: "whole", keypath: \OptionalSample.whole),
            .init(name: "wide", keypath: \OptionalSample.wide),
            .init(name: "single", keypath: \OptionalSample.single),
            .init(name: "real", keypath: \OptionalSample.real),
            .init(name: "amount", keypath: \OptionalSample.amount),
            .init(name: "text", keypath: \OptionalSample.text),
            .init(name: "bytes", keypath: \OptionalSample.bytes),
            .init(name: "moment", keypath: \OptionalSample.moment),
            .init(name: "token", keypath: \OptionalSample.token),
            .init(name: "link", keypath: \OptionalSample.link),
            .init(name: "tint", keypath: \OptionalSample.tint),
            .init(name: "priority", keypath: \OptionalSample.priority),
            .init(name: "place", keypath: \OptionalSample.place),
            .init(name: "words", keypath: \OptionalSample.words),
            .init(name: "scores", keypath: \OptionalSample.scores),
        ]
    }
    init(backingData: any BackingData<OptionalSample>) { persistentBackingData = backingData }
    init(label: String) { self.label = label }

    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }
    var flag: Bool? {
        get { getValue(forKey: \.flag) }
        set { setValue(forKey: \.flag, to: newValue) }
    }
    var whole: Int? {
        get { getValue(forKey: \.whole) }
        set { setValue(forKey: \.whole, to: newValue) }
    }
    var wide: UInt64? {
        get { getValue(forKey: \.wide) }
        set { setValue(forKey: \.wide, to: newValue) }
    }
    var single: Float? {
        get { getValue(forKey: \.single) }
        set { setValue(forKey: \.single, to: newValue) }
    }
    var real: Double? {
        get { getValue(forKey: \.real) }
        set { setValue(forKey: \.real, to: newValue) }
    }
    var amount: Decimal? {
        get { getValue(forKey: \.amount) }
        set { setValue(forKey: \.amount, to: newValue) }
    }
    var text: String? {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
    var bytes: Data? {
        get { getValue(forKey: \.bytes) }
        set { setValue(forKey: \.bytes, to: newValue) }
    }
    var moment: Date? {
        get { getValue(forKey: \.moment) }
        set { setValue(forKey: \.moment, to: newValue) }
    }
    var token: UUID? {
        get { getValue(forKey: \.token) }
        set { setValue(forKey: \.token, to: newValue) }
    }
    var link: URL? {
        get { getValue(forKey: \.link) }
        set { setValue(forKey: \.link, to: newValue) }
    }
    var tint: Tint? {
        get { getValue(forKey: \.tint) }
        set { setValue(forKey: \.tint, to: newValue) }
    }
    var priority: Priority? {
        get { getValue(forKey: \.priority) }
        set { setValue(forKey: \.priority, to: newValue) }
    }
    var place: Place? {
        get { getValue(forKey: \.place) }
        set { setValue(forKey: \.place, to: newValue) }
    }
    var words: [String]? {
        get { getValue(forKey: \.words) }
        set { setValue(forKey: \.words, to: newValue) }
    }
    var scores: [String: Int]? {
        get { getValue(forKey: \.scores) }
        set { setValue(forKey: \.scores, to: newValue) }
    }
}
