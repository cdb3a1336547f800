import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Values that are stored coded come back as they were, or are not saved.
@Suite struct CodedValueTests {
    let container: ModelContainer
    let context: ModelContext

    init() throws {
        container = try ModelContainer(for: Schema([Offer.self]), configurations: [InMemoryConfiguration()])
        context = ModelContext(container)
    }

    @Test func aDecimalThatIsNoNumberComesBack() throws {
        let offer = Offer()
        context.insert(offer)
        offer.price = Price(amount: .nan)
        #expect(offer.price?.amount.isNaN == true)
        try context.save()
        let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Offer>()).first)
        #expect(stored.price?.amount.isNaN == true)
    }

    @Test func aValueThatItsOwnTypeDoesNotReadBackIsRefusedAndStaysReadable() throws {
        let offer = Offer()
        offer.sign = Sign(text: "")
        context.insert(offer)
        #expect(offer.sign?.text == "")
        let error = ModelValidationError.unencodableValue(
            entity: "Offer", property: "sign", model: offer.persistentModelID)
        #expect(throws: error) { try context.save() }
        offer.sign = Sign(text: "open")
        try context.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Offer>()).first?.sign?.text == "open")
    }

    @Test func listsAndDictionariesOfTheStandardLibraryComeBack() throws {
        let offer = Offer()
        offer.words = ["", "e\u{301}", "\u{e9}", "\u{0}"]
        offer.numbers = [.nan, -.infinity, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude]
        context.insert(offer)
        try context.save()
        let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Offer>()).first)
        #expect(zip(stored.words, offer.words).allSatisfy { $0.utf8.elementsEqual($1.utf8) })
        #expect(stored.numbers.dropFirst().elementsEqual(offer.numbers.dropFirst()) { $0.bitPattern == $1.bitPattern })
        #expect(stored.numbers.first?.isNaN == true && stored.words.count == 4)
    }

    private struct Wide: Codable, Equatable {
        var signed: Int128
        var unsigned: UInt128?
        var list: [Int128] = []
    }

    @Test(arguments: [Int128.min, -1, 0, Int128(UInt64.max), Int128.max]) func wideIntegersComeBack(number: Int128)
        throws
    {
        let wide = Wide(signed: number, unsigned: UInt128(exactly: number), list: [number, .max])
        let stored = try StoredValueEncoder().encode(wide)
        #expect(try StoredValueDecoder().decode(Wide.self, from: stored) == wide)
        let alone = try StoredValueEncoder().encode(number)
        #expect(try StoredValueDecoder().decode(Int128.self, from: alone) == number)
        #expect(throws: DecodingError.self) {
            try StoredValueDecoder().decode(UInt128.self, from: .string("-1"))
        }
    }

    @Test func storedValuesThemselvesComeBackThroughAnyCoder() throws {
        let base = try #require(URL(string: "https://example.org/a/"))
        let outer = try #require(URL(string: "b/", relativeTo: base))
        var values: [StoredValue] = [.decimal(.nan), .decimal(-1.5), .url(base)]
        values.append(.url(try #require(URL(string: "c?d=e", relativeTo: base))))
        values.append(.url(try #require(URL(string: "f", relativeTo: outer))))
        for value in values {
            let text = try JSONEncoder().encode(value)
            #expect(try JSONDecoder().decode(StoredValue.self, from: text).isIdentical(to: value), "\(value)")
            let tree = try StoredValueEncoder().encode(value)
            #expect(try StoredValueDecoder().decode(StoredValue.self, from: tree).isIdentical(to: value), "\(value)")
        }
    }

    @Test func aListIsChangedByWhatIsOnlyWrittenOtherwise() throws {
        let offer = Offer()
        offer.words = ["e\u{301}"]
        context.insert(offer)
        try context.save()
        offer.words = ["\u{e9}"]
        try context.save()
        let stored = try #require(try ModelContext(container).fetch(FetchDescriptor<Offer>()).first)
        #expect(stored.words.map { Array($0.utf8) } == [[0xC3, 0xA9]])
    }
}

private struct Price: Codable { var amount: Decimal }

/// Writes what it does not read.
private struct Sign: Codable {
    var text: String

    init(text: String) { self.text = text }
    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        if text.isEmpty { throw CocoaError(.coderInvalidValue) }
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

private final class Offer: PersistentModel {
    var persistentBackingData: any BackingData<Offer> = Offer.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "price", keypath: \Offer.price), .init(name: "sign", keypath: \Offer.sign),
            .init(name: "words", keypath: \Offer.words), .init(name: "numbers", keypath: \Offer.numbers),
        ]
    }
    init(backingData: any BackingData<Offer>) { persistentBackingData = backingData }
    init() {
        words = []
        numbers = []
    }

    var price: Price? {
        get { getValue(forKey: \.price) }
        set { setValue(forKey: \.price, to: newValue) }
    }
    var sign: Sign? {
        get { getValue(forKey: \.sign) }
        set { setValue(forKey: \.sign, to: newValue) }
    }
    var words: [String] {
        get { getValue(forKey: \.words) }
        set { setValue(forKey: \.words, to: newValue) }
    }
    var numbers: [Double] {
        get { getValue(forKey: \.numbers) }
        set { setValue(forKey: \.numbers, to: newValue) }
    }
}
