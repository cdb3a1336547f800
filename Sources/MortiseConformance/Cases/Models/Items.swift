import Foundation
import MortiseCore

/// What the cases of expressions ask for: something of everything that a predicate can read.
class Item: PersistentModel {
    typealias Root = Item

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Item> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Item.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    static func ownMetadata<M: Item>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \M.name),
            .init(name: "size", keypath: \M.size),
            .init(name: "weight", keypath: \M.weight),
            .init(name: "flag", keypath: \M.flag),
            .init(name: "rank", keypath: \M.rank),
            .init(name: "note", keypath: \M.note),
            .init(name: "day", keypath: \M.day),
            .init(name: "tint", keypath: \M.tint),
            .init(name: "tags", keypath: \M.tags),
            .init(name: "numbers", keypath: \M.numbers),
            .init(name: "marks", keypath: \M.marks),
            .init(name: "place", keypath: \M.place),
            .init(name: "branch", keypath: \M.branch),
            .init(name: "crate", keypath: \M.crate),
            .init(name: "peers", keypath: \M.peers),
            .init(name: "friends", keypath: \M.friends, metadata: Schema.Relationship(inverse: \Item.peers)),
        ]
    }

    required init(backingData: any BackingData<Item>) { _modelState = Item._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(_ name: String, size: Int = 0, weight: Double = 0, flag: Bool = false, rank: Int? = nil, note: String? = nil) {
        self.name = name
        self.size = size
        self.weight = weight
        self.flag = flag
        self.rank = rank
        self.note = note
        tint = .red
        tags = []
        numbers = []
        marks = [:]
        place = Place(name: "", latitude: 0)
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }

    var size: Int {
        get { getValue(forKey: \.size) }
        set { setValue(forKey: \.size, to: newValue) }
    }

    var weight: Double {
        get { getValue(forKey: \.weight) }
        set { setValue(forKey: \.weight, to: newValue) }
    }

    var flag: Bool {
        get { getValue(forKey: \.flag) }
        set { setValue(forKey: \.flag, to: newValue) }
    }

    var rank: Int? {
        get { getValue(forKey: \.rank) }
        set { setValue(forKey: \.rank, to: newValue) }
    }

    var note: String? {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }

    var day: Date? {
        get { getValue(forKey: \.day) }
        set { setValue(forKey: \.day, to: newValue) }
    }

    var tint: Tint {
        get { getValue(forKey: \.tint) }
        set { setValue(forKey: \.tint, to: newValue) }
    }

    var tags: [String] {
        get { getValue(forKey: \.tags) }
        set { setValue(forKey: \.tags, to: newValue) }
    }

    var numbers: [Int] {
        get { getValue(forKey: \.numbers) }
        set { setValue(forKey: \.numbers, to: newValue) }
    }

    var marks: [String: Int] {
        get { getValue(forKey: \.marks) }
        set { setValue(forKey: \.marks, to: newValue) }
    }

    var place: Place {
        get { getValue(forKey: \.place) }
        set { setValue(forKey: \.place, to: newValue) }
    }

    var branch: Place? {
        get { getValue(forKey: \.branch) }
        set { setValue(forKey: \.branch, to: newValue) }
    }

    var crate: Crate? {
        get { getValue(forKey: \.crate) }
        set { setValue(forKey: \.crate, to: newValue) }
    }

    var peers: [Item] {
        get { getValue(forKey: \.peers) }
        set { setValue(forKey: \.peers, to: newValue) }
    }

    var friends: [Item] {
        get { getValue(forKey: \.friends) }
        set { setValue(forKey: \.friends, to: newValue) }
    }

    /// A property that no store keeps.
    var loud: String { name.uppercased() }
}

/// A subclass with its own properties.
final class SpecialItem: Item {
    override class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "extra", keypath: \SpecialItem.extra)]
    }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: SpecialItem.self) }

    required init(backingData: any BackingData<Item>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    init(_ name: String, size: Int, extra: Int) {
        super.init(name, size: size)
        self.extra = extra
    }

    var extra: Int {
        get { getValue(forKey: \.extra) }
        set { setValue(forKey: \.extra, to: newValue) }
    }
}

/// What items lie in; crates stand in crates.
final class Crate: PersistentModel {
    var persistentBackingData: any BackingData<Crate> = Crate.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "label", keypath: \Crate.label),
            .init(name: "items", keypath: \Crate.items, metadata: Schema.Relationship(inverse: \Item.crate)),
            .init(name: "outer", keypath: \Crate.outer),
        ]
    }
    init(backingData: any BackingData<Crate>) { persistentBackingData = backingData }
    init(_ label: String, outer: Crate? = nil) {
        self.label = label
        self.outer = outer
    }

    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }

    var items: [Item] {
        get { getValue(forKey: \.items) }
        set { setValue(forKey: \.items, to: newValue) }
    }

    var outer: Crate? {
        get { getValue(forKey: \.outer) }
        set { setValue(forKey: \.outer, to: newValue) }
    }
}

/// What leaves a value in the history when it is deleted.
final class Receipt: PersistentModel {
    var persistentBackingData: any BackingData<Receipt> = Receipt.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "code", keypath: \Receipt.code, metadata: Schema.Attribute(.preserveValueOnDeletion)),
            .init(name: "total", keypath: \Receipt.total),
        ]
    }
    init(backingData: any BackingData<Receipt>) { persistentBackingData = backingData }
    init(_ code: String, total: Int) {
        self.code = code
        self.total = total
    }

    var code: String {
        get { getValue(forKey: \.code) }
        set { setValue(forKey: \.code, to: newValue) }
    }

    var total: Int {
        get { getValue(forKey: \.total) }
        set { setValue(forKey: \.total, to: newValue) }
    }
}
