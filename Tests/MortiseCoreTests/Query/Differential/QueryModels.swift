import Foundation
import MortiseCore

// The models of the differential test: one property of every kind that a predicate can read.

enum Tone: String, Codable, CaseIterable, Sendable { case low, high, none }
enum Level: Int, Codable, CaseIterable, Sendable { case ground, first, attic }

struct Place: CompositeValue, Hashable, Sendable {
    var city = ""
    var floor = 0
    var opened: Date?
    var price = Decimal(0)
    var share: Float = 0
    var code = UUID(uuidString: "00000000-0000-0000-0000-000000000000")!

    static var compositeMembers: [CompositeMember<Place>] {
        [
            .init(\.city, codedAs: CodingKeys.city, chained: \Place?.?.city), .init(\.floor, codedAs: CodingKeys.floor),
            .init(\.opened, codedAs: CodingKeys.opened), .init(\.price, codedAs: CodingKeys.price),
            .init(\.share, codedAs: CodingKeys.share), .init(\.code, codedAs: CodingKeys.code),
        ]
    }
}

class Item: PersistentModel {
    typealias Root = Item

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Item> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Item.self) + constraints }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    /// Attributes of every order that an index can have, and others without any.
    private static var constraints: [Schema.PropertyMetadata] {
        [
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Item>(
                    [\.name, \.size], [\.size], [\.rank, \.note], [\.weight], [\.day], [\.flag, \.serial], [\.serial],
                    [\.key]))
        ]
    }

    static func ownMetadata<M: Item>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [
            .init(name: "serial", keypath: \M.serial), .init(name: "name", keypath: \M.name),
            .init(name: "note", keypath: \M.note), .init(name: "size", keypath: \M.size),
            .init(name: "rank", keypath: \M.rank), .init(name: "tiny", keypath: \M.tiny),
            .init(name: "big", keypath: \M.big), .init(name: "weight", keypath: \M.weight),
            .init(name: "ratio", keypath: \M.ratio), .init(name: "share", keypath: \M.share),
            .init(name: "amount", keypath: \M.amount), .init(name: "flag", keypath: \M.flag),
            .init(name: "day", keypath: \M.day), .init(name: "key", keypath: \M.key),
            .init(name: "blob", keypath: \M.blob), .init(name: "tone", keypath: \M.tone),
            .init(name: "level", keypath: \M.level), .init(name: "tags", keypath: \M.tags),
            .init(name: "numbers", keypath: \M.numbers), .init(name: "scores", keypath: \M.scores),
            .init(name: "days", keypath: \M.days), .init(name: "marks", keypath: \M.marks),
            .init(name: "place", keypath: \M.place), .init(name: "branch", keypath: \M.branch),
            .init(name: "box", keypath: \M.box), .init(name: "peers", keypath: \M.peers),
        ]
    }

    required init(backingData: any BackingData<Item>) { _modelState = Item._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(_ values: ItemValues) {
        serial = values.serial
        take(values)
    }

    func take(_ values: ItemValues) {
        name = values.name
        note = values.note
        size = values.size
        rank = values.rank
        tiny = values.tiny
        big = values.big
        weight = values.weight
        ratio = values.ratio
        share = values.share
        amount = values.amount
        flag = values.flag
        day = values.day
        key = values.key
        blob = values.blob
        tone = values.tone
        level = values.level
        tags = values.tags
        numbers = values.numbers
        scores = values.scores
        days = values.days
        marks = values.marks
        place = values.place
        branch = values.branch
    }

    var serial: Int {
        get { getValue(forKey: \.serial) }
        set { setValue(forKey: \.serial, to: newValue) }
    }
    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var note: String? {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }
    var size: Int {
        get { getValue(forKey: \.size) }
        set { setValue(forKey: \.size, to: newValue) }
    }
    var rank: Int? {
        get { getValue(forKey: \.rank) }
        set { setValue(forKey: \.rank, to: newValue) }
    }
    var tiny: Int8 {
        get { getValue(forKey: \.tiny) }
        set { setValue(forKey: \.tiny, to: newValue) }
    }
    var big: UInt64? {
        get { getValue(forKey: \.big) }
        set { setValue(forKey: \.big, to: newValue) }
    }
    var weight: Double {
        get { getValue(forKey: \.weight) }
        set { setValue(forKey: \.weight, to: newValue) }
    }
    var ratio: Double? {
        get { getValue(forKey: \.ratio) }
        set { setValue(forKey: \.ratio, to: newValue) }
    }
    var share: Float {
        get { getValue(forKey: \.share) }
        set { setValue(forKey: \.share, to: newValue) }
    }
    var amount: Decimal {
        get { getValue(forKey: \.amount) }
        set { setValue(forKey: \.amount, to: newValue) }
    }
    var flag: Bool {
        get { getValue(forKey: \.flag) }
        set { setValue(forKey: \.flag, to: newValue) }
    }
    var day: Date? {
        get { getValue(forKey: \.day) }
        set { setValue(forKey: \.day, to: newValue) }
    }
    var key: UUID {
        get { getValue(forKey: \.key) }
        set { setValue(forKey: \.key, to: newValue) }
    }
    var blob: Data {
        get { getValue(forKey: \.blob) }
        set { setValue(forKey: \.blob, to: newValue) }
    }
    var tone: Tone {
        get { getValue(forKey: \.tone) }
        set { setValue(forKey: \.tone, to: newValue) }
    }
    var level: Level? {
        get { getValue(forKey: \.level) }
        set { setValue(forKey: \.level, to: newValue) }
    }
    var tags: [String] {
        get { getValue(forKey: \.tags) }
        set { setValue(forKey: \.tags, to: newValue) }
    }
    var numbers: [Int] {
        get { getValue(forKey: \.numbers) }
        set { setValue(forKey: \.numbers, to: newValue) }
    }
    var scores: [Double] {
        get { getValue(forKey: \.scores) }
        set { setValue(forKey: \.scores, to: newValue) }
    }
    var days: [Date] {
        get { getValue(forKey: \.days) }
        set { setValue(forKey: \.days, to: newValue) }
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
    var box: Box? {
        get { getValue(forKey: \.box) }
        set { setValue(forKey: \.box, to: newValue) }
    }
    var peers: [Box] {
        get { getValue(forKey: \.peers) }
        set { setValue(forKey: \.peers, to: newValue) }
    }
}

final class Special: Item {
    override class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "extra", keypath: \Special.extra), .init(name: "hint", keypath: \Special.hint)]
    }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Special.self) }

    required init(backingData: any BackingData<Item>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    override init(_ values: ItemValues) {
        super.init(values)
        extra = values.size
        hint = values.note
    }

    var extra: Int {
        get { getValue(forKey: \.extra) }
        set { setValue(forKey: \.extra, to: newValue) }
    }
    var hint: String? {
        get { getValue(forKey: \.hint) }
        set { setValue(forKey: \.hint, to: newValue) }
    }
}

final class Box: PersistentModel {
    var persistentBackingData: any BackingData<Box> = Box.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "serial", keypath: \Box.serial, metadata: Schema.Attribute(.unique)),
            .init(name: "label", keypath: \Box.label, chained: \Box?.?.label),
            .init(name: "rank", keypath: \Box.rank, chained: \Box?.?.rank), .init(name: "load", keypath: \Box.load),
            .init(name: "outer", keypath: \Box.outer, chained: \Box?.?.outer),
            .init(name: "items", keypath: \Box.items, metadata: Schema.Relationship(inverse: \Item.box)),
            .init(name: "guests", keypath: \Box.guests, metadata: Schema.Relationship(inverse: \Item.peers)),
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion, metadata: Schema.Index<Box>([\.label], [\.rank])
            ),
        ]
    }
    init(backingData: any BackingData<Box>) { persistentBackingData = backingData }
    init(_ values: BoxValues) {
        serial = values.serial
        take(values)
    }
    func take(_ values: BoxValues) {
        label = values.label
        rank = values.rank
        load = values.load
    }

    var serial: Int {
        get { getValue(forKey: \.serial) }
        set { setValue(forKey: \.serial, to: newValue) }
    }
    var label: String {
        get { getValue(forKey: \.label) }
        set { setValue(forKey: \.label, to: newValue) }
    }
    var rank: Int? {
        get { getValue(forKey: \.rank) }
        set { setValue(forKey: \.rank, to: newValue) }
    }
    var load: Double {
        get { getValue(forKey: \.load) }
        set { setValue(forKey: \.load, to: newValue) }
    }
    var outer: Box? {
        get { getValue(forKey: \.outer) }
        set { setValue(forKey: \.outer, to: newValue) }
    }
    var items: [Item] {
        get { getValue(forKey: \.items) }
        set { setValue(forKey: \.items, to: newValue) }
    }
    var guests: [Item] {
        get { getValue(forKey: \.guests) }
        set { setValue(forKey: \.guests, to: newValue) }
    }
}
