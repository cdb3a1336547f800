import Foundation
@testable import MortiseCore
import MortiseEngine
import MortiseTestSupport
import Testing

@testable import MortiseAppendLog

/// Stages that see both versions, and mappings.
extension MigrationTests {
    /// Prices are text, travelers have a code that is required, and mail addresses are unique.
    private enum Text: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Traveler.self, Trip.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        final class Traveler: PersistentModel {
            var persistentBackingData: any BackingData<Traveler> = Traveler.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "fullName", keypath: \Traveler.fullName),
                    .init(name: "code", keypath: \Traveler.code),
                    .init(name: "mail", keypath: \Traveler.mail, metadata: Schema.Attribute(.unique)),
                    .init(
                        name: "trips", keypath: \Traveler.trips, defaultValue: [Trip](),
                        metadata: Schema.Relationship(deleteRule: .cascade, inverse: \Trip.traveler)),
                ]
            }
            init(backingData: any BackingData<Traveler>) { persistentBackingData = backingData }
            init(_ fullName: String, code: Int) {
                self.fullName = fullName
                self.code = code
                mail = nil
            }
            var fullName: String {
                get { getValue(forKey: \.fullName) }
                set { setValue(forKey: \.fullName, to: newValue) }
            }
            var code: Int {
                get { getValue(forKey: \.code) }
                set { setValue(forKey: \.code, to: newValue) }
            }
            var mail: String? {
                get { getValue(forKey: \.mail) }
                set { setValue(forKey: \.mail, to: newValue) }
            }
            var trips: [Trip] {
                get { getValue(forKey: \.trips) }
                set { setValue(forKey: \.trips, to: newValue) }
            }
        }

        final class Trip: PersistentModel {
            var persistentBackingData: any BackingData<Trip> = Trip.createBackingData()
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "title", keypath: \Trip.title), .init(name: "price", keypath: \Trip.price),
                    .init(name: "note", keypath: \Trip.note),
                    .init(name: "map", keypath: \Trip.map, metadata: Schema.Attribute(.externalStorage)),
                    .init(name: "traveler", keypath: \Trip.traveler),
                ]
            }
            init(backingData: any BackingData<Trip>) { persistentBackingData = backingData }
            init(_ title: String, price: String, traveler: Traveler?) {
                self.title = title
                self.price = price
                note = ""
                map = nil
                self.traveler = traveler
            }
            var title: String {
                get { getValue(forKey: \.title) }
                set { setValue(forKey: \.title, to: newValue) }
            }
            var price: String {
                get { getValue(forKey: \.price) }
                set { setValue(forKey: \.price, to: newValue) }
            }
            var note: String {
                get { getValue(forKey: \.note) }
                set { setValue(forKey: \.note, to: newValue) }
            }
            var map: Data? {
                get { getValue(forKey: \.map) }
                set { setValue(forKey: \.map, to: newValue) }
            }
            var traveler: Traveler? {
                get { getValue(forKey: \.traveler) }
                set { setValue(forKey: \.traveler, to: newValue) }
            }
        }
    }

    nonisolated(unsafe) private static var mapping = MigrationMapping.inferred
    nonisolated(unsafe) private static var rules: [DuplicateRule] = []
    nonisolated(unsafe) private static var code: (@Sendable (MigrationSource, MigrationTarget) throws -> Void)?
    nonisolated(unsafe) private static var check: (@Sendable (MigrationSource, MigrationSource) throws -> Void)?

    private enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [V1.self, Text.self] }
        static var stages: [MigrationStage] {
            [
                .custom(
                    from: V1.self, to: Text.self, mapping: mapping, duplicates: rules, migrate: code, validate: check)
            ]
        }
    }

    private static var whole: MigrationMapping {
        .inferred.renaming("Traveler.fullName", from: "name").converting("Trip.price", .exactly)
            .filling("Traveler.code") { record in
                .integer(Int64((try record.value(String.self, of: "name") ?? "").count))
            }
            .filling("Trip.note", with: .string("none"))
    }

    private func open(_ world: MigrationWorld) throws -> ModelContainer { try world.open(Text.self, Plan.self) }

    private static func reset(
        _ mapping: MigrationMapping = whole, _ rules: [DuplicateRule] = [.keep(.first, on: "Traveler", ["mail"])]
    ) {
        (Self.mapping, Self.rules, code, check) = (mapping, rules, nil, nil)
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func aMappingSaysAllByItself(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        let identifiers = try world.fill()
        Self.reset()
        for _ in 0..<2 {
            let container = try open(world)
            let context = ModelContext(container)
            let travelers = try context.fetch(FetchDescriptor<Text.Traveler>())
            #expect(travelers.map { "\($0.fullName) \($0.code)" } == ["Ada Lovelace 12", "Bob Byron 9", "Cleo 4"])
            #expect(travelers.map(\.persistentModelID) == [identifiers[0], identifiers[2], identifiers[3]])
            #expect(travelers.map { $0.trips.map(\.title).sorted() } == [["Alps", "Bergen", "Cadiz"], [], ["Dover"]])
            let trips = try context.fetch(FetchDescriptor<Text.Trip>())
            #expect(trips.map(\.price) == ["0.0", "1.0", "2.0", "3.0"])
            #expect(trips.map(\.note) == ["note 0", "note 1", "note 2", "note 3"])
            #expect(trips.map(\.map) == [MigrationWorld.map(1), MigrationWorld.map(2), MigrationWorld.map(3), nil])
            try container.close()
        }
        if kind == .log {
            try world.disk.unlink(world.path + ".checkpoint")
            #expect(try world.logConfiguration().verifyStore().problems.isEmpty)
            let container = try open(world)
            #expect(
                try ModelContext(container).fetch(FetchDescriptor<Text.Traveler>()).map(\.code) == [12, 9, 4])
            try container.close()
        }
    }

    @Test(arguments: MigrationWorld.Kind.allCases) func codeSeesBothVersions(_ kind: MigrationWorld.Kind) throws {
        let world = try MigrationWorld(kind)
        _ = try world.fill()
        Self.reset()
        Self.code = { old, new in
            #expect(try old.count("Trip") == 4)
            #expect(
                try old.records("Trip").map { $0["title"] } == ["Alps", "Bergen", "Cadiz", "Dover"].map { .string($0) })
            for trip in try old.fetch(V1.Trip.self) {
                // Its traveler is the one that it had.
                let before = trip.traveler?.name
                guard let after = try new.model(Text.Trip.self, for: trip.persistentModelID) else { continue }
                after.note = "\(trip.price) \(before ?? "")"
            }
            let more = Text.Trip("Etna", price: "9", traveler: nil)
            new.insert(more)
            try new.flush()
            let last = try #require(old.records("Trip").reversed().first)
            try new.delete(last.id)
            let made = try new.insert("Trip", ["title": .string("Fez"), "price": .string("1"), "note": .string("n")])
            try new.update(made, ["price": .string("2")])
            #expect(throws: MigrationRecordError.unknownProperty(entity: "Trip", property: "cost")) {
                try new.update(made, ["cost": .string("2")])
            }
            #expect(throws: MigrationRecordError.otherType(record: made, property: "price", expected: "string")) {
                try new.update(made, ["price": .integer(2)])
            }
            #expect(throws: MigrationRecordError.noSuchRecord(last.id)) { try new.delete(last.id) }
            #expect(throws: MigrationRecordError.unknownEntity("Car")) { try old.records("Car") }
        }
        Self.check = { (old, new) throws in
            #expect(try old.count("Traveler") == 4)
            #expect(try new.count("Traveler") == 3)
            #expect(try new.fetch(Text.Trip.self).map(\.title) == ["Alps", "Bergen", "Cadiz", "Etna", "Fez"])
        }
        let container = try open(world)
        let trips = try ModelContext(container).fetch(FetchDescriptor<Text.Trip>())
        #expect(
            trips.map { "\($0.title) \($0.price) \($0.note)" } == [
                "Alps 0.0 0.0 Ada Lovelace", "Bergen 1.0 1.0 Ada Lovelace", "Cadiz 2.0 2.0 A. Lovelace", "Etna 9 ",
                "Fez 2 n",
            ])
        try container.close()
    }

    /// Everything that a stage refuses leaves the store as it was.
    @Test func whatAStageRefusesItNames() throws {
        let world = try MigrationWorld(.log)
        _ = try world.fill()
        let old = try world.open(V1.self, nil)
        let first = try #require(ModelContext(old).fetch(FetchDescriptor<V1.Trip>()).first).persistentModelID
        try old.close()
        let before = try world.files()
        func failure() throws -> any Error {
            do {
                try open(world).close()
                Issue.record("The stage is taken")
                return CancellationError()
            } catch MigrationError.stageFailed(let failure) {
                #expect(try world.files() == before)
                return failure.underlying
            }
        }
        func text(of failure: () throws -> any Error) rethrows -> String { "\(try failure())" }
        Self.reset(.inferred)
        #expect(try text(of: failure).contains("Trip.price was of kind double and is of kind string"))
        Self.reset(.inferred.converting("Trip.price", .exactly), [])
        #expect(try text(of: failure).contains("Traveler.code is required, and 4 records would have no value"))
        Self.reset(Self.whole, [])
        guard case EngineError.notUnique("Traveler", ["mail"], _, _) = try failure() else {
            Issue.record("Two travelers have one address")
            return
        }
        Self.reset(Self.whole, [.keep(.report, on: "Traveler", ["mail"])])
        guard case MigrationError.duplicates("Traveler", ["mail"], 1, 2, let examples) = try failure() else {
            Issue.record("Duplicates are not reported")
            return
        }
        #expect(examples.count == 1)
        for (rule, word) in [
            (MigrationMapping.inferred.renaming("Trip.cost", from: "price"), "lacks"),
            (.inferred.converting("Trip", .exactly), "is no name"), (.inferred.fresh("Car.wheels"), "entity"),
            (.inferred.converting("Traveler.code", .exactly), "comes from no property"),
            (.inferred.renaming("Traveler.fullName", from: "nick"), "nick"),
        ] {
            Self.reset(rule)
            guard case MigrationError.invalidMapping(_, let reason) = try failure() else {
                Issue.record("\(word)")
                continue
            }
            #expect(reason.contains(word), "\(reason)")
        }
        // Values that the new kind cannot have.
        Self.reset(Self.whole)
        struct Odd: Error, Hashable {}
        Self.code = { _, _ in throw Odd() }
        #expect(try failure() as? Odd == Odd())
        Self.code = nil
        Self.check = { _, _ in throw Odd() }
        #expect(try failure() as? Odd == Odd())
        Self.reset(Self.whole.converting("Trip.price", .value { _ in .integer(1) }))
        #expect(
            try failure() as? MigrationRecordError
                == .otherType(record: first, property: "price", expected: "string"))
        Self.reset()
        try open(world).close()
    }

    @Test func theLastOfSeveralOrAMergedOneMayStay() throws {
        for isLast in [true, false] {
            let world = try MigrationWorld(.json)
            let identifiers = try world.fill()
            Self.reset(
                Self.whole,
                isLast
                    ? [.keep(.last, on: "Traveler", ["mail"])]
                    : [
                        .merge(on: "Traveler", ["mail"]) { survivor, other in
                            guard case .string(let mine)? = survivor["fullName"],
                                case .string(let theirs)? = other["fullName"]
                            else { return [:] }
                            return ["fullName": .string("\(mine) or \(theirs)")]
                        }
                    ])
            let container = try open(world)
            let travelers = try ModelContext(container).fetch(FetchDescriptor<Text.Traveler>())
            #expect(
                travelers.map(\.fullName)
                    == (isLast
                        ? ["A. Lovelace", "Bob Byron", "Cleo"] : ["Ada Lovelace or A. Lovelace", "Bob Byron", "Cleo"]))
            #expect(travelers[0].persistentModelID == identifiers[isLast ? 1 : 0])
            #expect(travelers[0].trips.map(\.title).sorted() == ["Alps", "Bergen", "Cadiz"])
            try container.close()
        }
    }

    // MARK: Conversions

    @Test func everyConversionIsExactOrRefused() {
        typealias Way = MigrationMapping.Conversion
        func convert(_ value: StoredValue, _ kind: StorageKind, _ way: Way = .exactly) -> StoredValue? {
            way.converted(value, to: kind, default: .string("default"))
        }
        // Widening keeps every bit, nil too.
        for number in [Int64.min, -1, 0, 1, 127] where number >= -128 {
            #expect(convert(.integer(number), .int64) == .integer(number))
            #expect(convert(.integer(number), .double) == .double(Double(number)))
            #expect(convert(.integer(number), .decimal) == .decimal(Decimal(number)))
        }
        #expect(convert(.null, .string) == .null)
        #expect(convert(.float(-0.0), .double)?.isIdentical(to: .double(-0.0)) == true)
        #expect(convert(.float(.infinity), .double) == .double(.infinity))
        // Narrowing.
        #expect(convert(.integer(300), .int8) == nil)
        #expect(convert(.integer(300), .int8, .clamping) == .integer(127))
        #expect(convert(.integer(-300), .int8, .clamping) == .integer(-128))
        #expect(convert(.integer(-1), .uint64) == nil)
        #expect(convert(.integer(-1), .uint64, .clamping) == .unsigned(0))
        #expect(convert(.unsigned(.max), .int64) == nil)
        #expect(convert(.unsigned(.max), .int64, .clamping) == .integer(.max))
        #expect(convert(.integer((1 << 53) + 1), .double) == nil)
        #expect(convert(.integer((1 << 53) + 1), .double, .rounding) == .double(9_007_199_254_740_992))
        #expect(convert(.double(0.1), .float) == nil)
        #expect(convert(.double(0.1), .float, .rounding) == .float(0.1))
        #expect(convert(.double(1e300), .float, .rounding) == nil)
        #expect(convert(.double(1e300), .float, .clamping) == .float(.greatestFiniteMagnitude))
        #expect(convert(.double(2.5), .int32, .rounding) == .integer(2))
        #expect(convert(.double(3.5), .int32, .rounding) == .integer(4))
        #expect(convert(.double(.nan), .int32, .clamping) == nil)
        #expect(convert(.double(-.infinity), .int32, .clamping) == .integer(Int64(Int32.min)))
        #expect(convert(.double(2.5), .int32, .nilIfNot) == .null)
        #expect(convert(.double(2.5), .string, .orDefault) == .string("2.5"))
        #expect(convert(.data(Data([1])), .int32, .orDefault) == .string("default"))
        #expect(convert(.decimal(Decimal(string: "2.5")!), .int64, .rounding) == .integer(2))
        #expect(convert(.decimal(Decimal(string: "0.1")!), .double) == .double(0.1))
        // Text, in any locale the same.
        #expect(convert(.double(1234.5), .string) == .string("1234.5"))
        for text in ["12,5", " 12", "\u{0661}\u{0662}", "1e400", "", "abc", "+", "0x10", "nan", "inf"] {
            #expect(convert(.string(text), .double) == nil, "\(text)")
            #expect(convert(.string(text), .int64) == nil, "\(text)")
        }
        #expect(convert(.string("-12"), .int8) == .integer(-12))
        #expect(convert(.string("12.50"), .decimal) == .decimal(Decimal(string: "12.5")!))
        #expect(convert(.string("18446744073709551615"), .uint64) == .unsigned(.max))
        let date = Date(timeIntervalSinceReferenceDate: 700_000_000.123456)
        #expect(convert(.date(date), .string).flatMap { convert($0, .date) } == .date(date))
        #expect(convert(.date(date), .double) == .double(700_000_000.123456))
        #expect(convert(.string("2026-02-30T00:00:00Z"), .date) == nil)
        let identifier = UUID()
        #expect(convert(.uuid(identifier), .string).flatMap { convert($0, .uuid) } == .uuid(identifier))
        #expect(convert(.data(Data([0, 255])), .string) == .string("AP8="))
        #expect(convert(.string("open"), .string, .rawValues(["open": "active"])) == .string("active"))
        #expect(convert(.string("done"), .string, .rawValues(["open": "active"])) == .string("done"))
        #expect(convert(.bool(true), .int16) == .integer(1))
        #expect(convert(.integer(2), .bool) == nil)
        // Nothing changes on the way without a word.
        #expect(convert(.string("9007199254740993"), .double) == nil)
        #expect(convert(.string("9007199254740993"), .double, .rounding) == .double(9_007_199_254_740_992))
        #expect(convert(.string("0.10000000000000000000001"), .double) == nil)
        #expect(convert(.string("0.1"), .float) == .float(0.1))
        #expect(convert(.string("1e200"), .double) == nil)
        #expect(convert(.double(1e200), .string).flatMap { convert($0, .double) } == .double(1e200))
        #expect(convert(.string("2026-02-03T04:05:06.1234567890123Z"), .date) == nil)
        #expect(convert(.string("2026-02-03T04:05:06.500Z"), .date) != nil)
        #expect(convert(.string("hello world"), .url) == nil)
        #expect(convert(.string("hello world"), .url, .nilIfNot) == .null)
        #expect(convert(.string("https://a.b/c?d=e%20f"), .url) == .url(URL(string: "https://a.b/c?d=e%20f")!))
        #expect(convert(.double(1e19), .uint64) == .unsigned(10_000_000_000_000_000_000))
        #expect(convert(.date(Date(timeIntervalSinceReferenceDate: 7)), .int64) == .integer(7))
        #expect(convert(.date(Date(timeIntervalSinceReferenceDate: 7.5)), .int64) == nil)
        // To the nearest, at once.
        #expect(convert(.integer(16_777_217), .float) == nil)
        #expect(convert(.integer(16_777_217), .float, .rounding) == .float(16_777_216))
        #expect(convert(.integer(1_152_921_573_326_323_713), .float, .rounding) == .float(1_152_921_642_045_800_448))
        #expect(convert(.decimal(Decimal(string: "0.1")!), .float) == .float(0.1))
        #expect(convert(.decimal(Decimal(string: "0.123456789")!), .float, .rounding) == .float(0.123456789))
        #expect(convert(.double(1e300), .decimal) == nil)
        #expect(convert(.double(1e300), .decimal, .clamping) == .decimal(.greatestFiniteMagnitude))
    }
}
