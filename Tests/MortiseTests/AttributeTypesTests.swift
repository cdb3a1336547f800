import Foundation
import Mortise
import Testing

@Suite struct AttributeTypesTests {
    static let day = Date(timeIntervalSinceReferenceDate: 123_456_789.000_000_1)

    static func filled() throws -> Everything {
        let model = Everything(
            flag: true, uuid: UUID(), url: try #require(URL(string: "https://example.org/a?b=c#d")),
            address: Address(street: "Rue de l’Église", number: -7, tags: ["a", ""], since: day))
        model.decimal = try #require(Decimal(string: "-1234567890.0123456789"))
        model.text = "tab\tquote\"nul\u{0}é👩‍👩‍👧"
        model.data = Data([0, 255, 1])
        model.date = day
        model.mood = .cross
        model.rank = .high
        model.names = ["x", "y"]
        model.numbers = [-1: 0.5, 7: -.infinity]
        model.table = ["k": [Address(street: "s", number: 1)], "": []]
        model.maybeFlag = false
        model.maybeInt = .min
        model.maybeUInt64 = .max
        model.maybeDouble = -0.0
        model.maybeDecimal = 0.1
        model.maybeText = ""
        model.maybeData = Data()
        model.maybeDate = .distantPast
        model.maybeUUID = UUID()
        model.maybeURL = URL(string: "file:///tmp/a%20b")
        model.maybeMood = .glad
        model.maybeRank = .middle
        model.maybeAddress = Address(street: "", number: 0)
        model.maybeNames = []
        return model
    }

    static func expectAlike(_ a: Everything, _ b: Everything) {
        #expect(a.flag == b.flag && a.int == b.int && a.int8 == b.int8 && a.int16 == b.int16 && a.int32 == b.int32)
        #expect(a.int64 == b.int64 && a.uint == b.uint && a.uint8 == b.uint8 && a.uint16 == b.uint16)
        #expect(a.uint32 == b.uint32 && a.uint64 == b.uint64 && a.float == b.float && a.double == b.double)
        #expect(a.decimal == b.decimal && a.text == b.text && a.data == b.data && a.date == b.date)
        #expect(a.uuid == b.uuid && a.url == b.url && a.mood == b.mood && a.rank == b.rank)
        #expect(a.address == b.address && a.names == b.names && a.numbers == b.numbers && a.table == b.table)
        #expect(a.maybeFlag == b.maybeFlag && a.maybeInt == b.maybeInt && a.maybeUInt64 == b.maybeUInt64)
        #expect(a.maybeDouble?.bitPattern == b.maybeDouble?.bitPattern && a.maybeDecimal == b.maybeDecimal)
        #expect(a.maybeText == b.maybeText && a.maybeData == b.maybeData && a.maybeDate == b.maybeDate)
        #expect(a.maybeUUID == b.maybeUUID && a.maybeURL == b.maybeURL && a.maybeMood == b.maybeMood)
        #expect(a.maybeRank == b.maybeRank && a.maybeAddress == b.maybeAddress && a.maybeNames == b.maybeNames)
    }

    @Test func everySortOfAttributeComesBackFromMemory() throws {
        let container = try memory(Everything.self)
        let context = ModelContext(container)
        let model = try Self.filled()
        context.insert(model)
        try context.save()
        Self.expectAlike(model, try Self.filled().with(model.uuid, model.maybeUUID))
        Self.expectAlike(model, try onlyModel(in: ModelContext(container)))
    }

    @Test func everySortOfAttributeComesBackFromAFileInAnotherContainer() throws {
        let folder = try Folder()
        let store = "json:" + folder.path("everything.json")
        let container = try ModelContainer(for: Everything.self, store: store)
        let context = ModelContext(container)
        let model = try Self.filled()
        context.insert(model)
        try context.save()
        try container.close()
        let again = try ModelContainer(for: Everything.self, store: store)
        Self.expectAlike(model, try onlyModel(in: ModelContext(again)))
        try again.close()
    }

    @Test func optionalsCanBeClearedAgain() throws {
        let container = try memory(Everything.self)
        let context = ModelContext(container)
        let model = try Self.filled()
        context.insert(model)
        try context.save()
        model.maybeInt = nil
        model.maybeMood = nil
        model.maybeAddress = nil
        model.maybeNames = nil
        model.maybeText = nil
        try context.save()
        let other: Everything = try onlyModel(in: ModelContext(container))
        #expect(other.maybeInt == nil && other.maybeMood == nil && other.maybeAddress == nil)
        #expect(other.maybeNames == nil && other.maybeText == nil && other.maybeDouble == -0.0)
    }

    @Test func partsOfCodableValuesCanBeChangedInPlace() throws {
        let container = try memory(Everything.self)
        let context = ModelContext(container)
        let model = try Self.filled()
        context.insert(model)
        try context.save()
        model.address.tags.append("new")
        model.names[0] = "z"
        model.table["k"]?[0].number = 99
        #expect(context.hasChanges)
        try context.save()
        let other: Everything = try onlyModel(in: ModelContext(container))
        #expect(other.address.tags == ["a", "", "new"])
        #expect(other.names == ["z", "y"])
        #expect(other.table["k"]?[0].number == 99)
    }
}

extension Everything {
    fileprivate func with(_ uuid: UUID, _ other: UUID?) -> Everything {
        self.uuid = uuid
        maybeUUID = other
        return self
    }
}
