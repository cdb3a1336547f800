import Foundation
import MortiseCore

/// Attributes with limits, and one whose encoding may fail.
final class Sample: PersistentModel {
    var persistentBackingData: any BackingData<Sample> = Sample.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "key", keypath: \Sample.key),
            .init(name: "double", keypath: \Sample.double),
            .init(name: "float", keypath: \Sample.float),
            .init(name: "signed", keypath: \Sample.signed),
            .init(name: "unsigned", keypath: \Sample.unsigned),
            .init(name: "decimal", keypath: \Sample.decimal),
            .init(name: "date", keypath: \Sample.date),
            .init(name: "text", keypath: \Sample.text),
            .init(name: "fuse", keypath: \Sample.fuse),
        ]
    }
    init(backingData: any BackingData<Sample>) { persistentBackingData = backingData }
    init(
        key: Int, double: Double = 0, float: Float = 0, signed: Int64 = 0, unsigned: UInt64 = 0, decimal: Decimal = 0,
        date: Date = Date(timeIntervalSinceReferenceDate: 0), text: String = "", fuse: Fuse? = nil
    ) {
        self.key = key
        self.double = double
        self.float = float
        self.signed = signed
        self.unsigned = unsigned
        self.decimal = decimal
        self.date = date
        self.text = text
        self.fuse = fuse
    }

    var key: Int {
        get { getValue(forKey: \.key) }
        set { setValue(forKey: \.key, to: newValue) }
    }
    var double: Double {
        get { getValue(forKey: \.double) }
        set { setValue(forKey: \.double, to: newValue) }
    }
    var float: Float {
        get { getValue(forKey: \.float) }
        set { setValue(forKey: \.float, to: newValue) }
    }
    var signed: Int64 {
        get { getValue(forKey: \.signed) }
        set { setValue(forKey: \.signed, to: newValue) }
    }
    var unsigned: UInt64 {
        get { getValue(forKey: \.unsigned) }
        set { setValue(forKey: \.unsigned, to: newValue) }
    }
    var decimal: Decimal {
        get { getValue(forKey: \.decimal) }
        set { setValue(forKey: \.decimal, to: newValue) }
    }
    var date: Date {
        get { getValue(forKey: \.date) }
        set { setValue(forKey: \.date, to: newValue) }
    }
    var text: String {
        get { getValue(forKey: \.text) }
        set { setValue(forKey: \.text, to: newValue) }
    }
    var fuse: Fuse? {
        get { getValue(forKey: \.fuse) }
        set { setValue(forKey: \.fuse, to: newValue) }
    }
}

/// A value whose encoding throws while it is lit, and is as deep as asked.
struct Fuse: Codable, Equatable {
    struct Blown: Error {}
    var name: String
    var isLit = false
    var weight = 1.0
    var nest: Nest?

    func encode(to encoder: any Encoder) throws {
        if isLit { throw Blown() }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(isLit, forKey: .isLit)
        try container.encode(weight, forKey: .weight)
        try container.encodeIfPresent(nest, forKey: .nest)
    }
}

/// Arrays in arrays.
struct Nest: Codable, Equatable {
    var depth: Int

    init(depth: Int) { self.depth = depth }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        depth = container.isAtEnd ? 0 : try container.decode(Nest.self).depth + 1
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if depth > 0 { try container.encode(Nest(depth: depth - 1)) }
    }
}
