import Foundation
import MortiseCore

/// A value that has no raw value, so that its `Codable` form is what is stored.
enum Shape: Codable, Hashable, Sendable {
    case nothing
    case circle(radius: Double, center: Place?)
    case path([Shape], isClosed: Bool)
}

/// A value of values, some of them its own kind.
struct Nest: Codable, Hashable, Sendable {
    var name = ""
    var inner: [Nest] = []
    var place: Place?
    var flags: [Bool] = []
    var wide: UInt64 = 0
    var least: Int64 = 0
    var single: Float = 0
    var real: Double = 0
    var date = Date(timeIntervalSinceReferenceDate: 0)
    var bytes = Data()
    var link = URL(fileURLWithPath: "/")
    var amount: Decimal = 0
    var token = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    var shape = Shape.nothing
}

/// What a `Codable` value can be made of.
final class CodedSample: PersistentModel {
    var persistentBackingData: any BackingData<CodedSample> = CodedSample.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "label", keypath: \CodedSample.label),
            .init(name: "gaps", keypath: \CodedSample.gaps),
            .init(name: "reals", keypath: \CodedSample.reals),
            .init(name: "wholes", keypath: \CodedSample.wholes),
            .init(name: "grid", keypath: \CodedSample.grid),
            .init(name: "texts", keypath: \CodedSample.texts),
            .init(name: "table", keypath: \CodedSample.table),
            .init(name: "numbered", keypath: \CodedSample.numbered),
            .init(name: "tinted", keypath: \CodedSample.tinted),
            .init(name: "marks", keypath: \CodedSample.marks),
            .init(name: "nest", keypath: \CodedSample.nest),
            .init(name: "shapes", keypath: \CodedSample.shapes),
            .init(name: "words", keypath: \CodedSample.words),
        ]
    }
    init(backingData: any BackingData<CodedSample>) { persistentBackingData = backingData }
    init() {
        label = ""
        gaps = []
        reals = []
        wholes = []
        grid = []
        texts = [:]
        table = [:]
        numbered = [:]
        tinted = [:]
        marks = [:]
        shapes = []
        words = []
    }

    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }
    var gaps: [Int?] {
        get { getValue(forKey: \.gaps) }
        set { setValue(forKey: \.gaps, to: newValue) }
    }
    var reals: [Double] {
        get { getValue(forKey: \.reals) }
        set { setValue(forKey: \.reals, to: newValue) }
    }
    var wholes: [Int] {
        get { getValue(forKey: \.wholes) }
        set { setValue(forKey: \.wholes, to: newValue) }
    }
    var grid: [[[Int]]] {
        get { getValue(forKey: \.grid) }
        set { setValue(forKey: \.grid, to: newValue) }
    }
    var texts: [String: String] {
        get { getValue(forKey: \.texts) }
        set { setValue(forKey: \.texts, to: newValue) }
    }
    var table: [String: [String: Double]] {
        get { getValue(forKey: \.table) }
        set { setValue(forKey: \.table, to: newValue) }
    }
    var numbered: [Int: String] {
        get { getValue(forKey: \.numbered) }
        set { setValue(forKey: \.numbered, to: newValue) }
    }
    var tinted: [Tint: Int] {
        get { getValue(forKey: \.tinted) }
        set { setValue(forKey: \.tinted, to: newValue) }
    }
    var marks: [String: Int?] {
        get { getValue(forKey: \.marks) }
        set { setValue(forKey: \.marks, to: newValue) }
    }
    var nest: Nest? {
        get { getValue(forKey: \.nest) }
        set { setValue(forKey: \.nest, to: newValue) }
    }
    var shapes: [Shape] {
        get { getValue(forKey: \.shapes) }
        set { setValue(forKey: \.shapes, to: newValue) }
    }
    var words: [String] {
        get { getValue(forKey: \.words) }
        set { setValue(forKey: \.words, to: newValue) }
    }
}
