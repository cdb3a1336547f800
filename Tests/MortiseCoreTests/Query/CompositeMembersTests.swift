import Foundation
import MortiseCore
import MortiseInMemory
import Synchronization
import Testing

/// Members of composite values are read where they are stored if the type says where that is; all others are read by the
/// type's own code, from values that are stored.
@Suite struct CompositeMembersTests {
    private let context: ModelContext

    init() throws {
        let container = try ModelContainer(for: Schema([Parcel.self]), configurations: [InMemoryConfiguration()])
        container.verifiesPushDown = true
        context = ModelContext(container)
        for number in [3, 1, 2] {
            let parcel = Parcel(number)
            parcel.swapped = Swapped(width: number, height: 10 - number)
            parcel.renamed = Renamed(
                city: "city \(number)", kind: number == 1 ? .letter : .box, inner: .init(city: "x"))
            parcel.inverted = Inverted(weight: number)
            parcel.lowercased = Lowercased(code: "Code \(number)")
            parcel.lenient = Lenient(note: "\(number)", name: "n\(number)")
            parcel.observed = Observed(size: number)
            parcel.spare = number == 3 ? nil : Swapped(width: number, height: 0)
            parcel.positive = Positive(weight: number)
            context.insert(parcel)
        }
        try context.save()
    }

    /// The numbers of the parcels found, and what the condition was lowered to; nil for one that is left to code.
    private func find(_ predicate: Predicate<Parcel>) throws -> (numbers: [Int], lowered: String?) {
        let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.number)])
        let conjunct = try #require(try context.explain(descriptor).conjuncts.first)
        // Another context has nothing but what is stored.
        let reader = ModelContext(context.container)
        let numbers = try reader.fetch(descriptor).map(\.number)
        let expected = try reader.fetch(FetchDescriptor<Parcel>()).filter { try predicate.evaluate($0) }.map(\.number)
        #expect(numbers == expected.sorted())
        return (numbers, conjunct.status == .onModels ? nil : conjunct.text)
    }

    @Test func swappedCodingKeysAreFollowed() throws {
        let narrow = try find(#Predicate { $0.swapped.width < 3 })
        #expect(narrow.numbers == [1, 2] && narrow.lowered == "swapped.height < 3")
        let high = try find(#Predicate { $0.swapped.height == 9 })
        #expect(high.numbers == [1] && high.lowered == "swapped.width == 9")
    }

    @Test func renamedMembersAreFoundUnderTheirStoredNames() throws {
        let found = try find(#Predicate { $0.renamed.city == "city 2" })
        #expect(found.numbers == [2] && found.lowered == "renamed.town == \"city 2\"")
        let boxes = try find(#Predicate { $0.renamed.kind.rawValue != "" })
        #expect(boxes.numbers == [1, 2, 3])
    }

    @Test func compositesInCompositesAreFollowed() throws {
        let found = try find(#Predicate { $0.renamed.inner.city == "x" })
        #expect(found.numbers == [1, 2, 3] && found.lowered == "renamed.inner.town == \"x\"")
    }

    @Test func whatATypeDoesNotNameIsLeftToIt() throws {
        let light = try find(#Predicate { $0.inverted.weight < 2 })
        #expect(light.numbers == [1] && light.lowered == nil)
        let code = try find(#Predicate { $0.lowercased.code == "code 2" })
        #expect(code.numbers == [2] && code.lowered == nil)
        // Where the note is missing, the type reads a default that the stored form does not have.
        #expect(try find(#Predicate { $0.lenient.note == "2" }).lowered == nil)
        let name = try find(#Predicate { $0.lenient.name == "n2" })
        #expect(name.numbers == [2] && name.lowered == "lenient.name == \"n2\"")
    }

    @Test func anExplanationSaysWhyAMemberIsLeftToTheType() throws {
        let descriptor = FetchDescriptor<Parcel>(predicate: #Predicate { $0.inverted.weight < 2 })
        let text = try #require(try context.explain(descriptor).conjuncts.first).text
        #expect(text.contains("because Inverted does not name \\Inverted.weight as a CompositeValue"))
    }

    /// Members were once found by decoding made-up values, which ends the process where a type insists on its rules.
    @Test func typesDecodeNothingButWhatIsStored() throws {
        let heavy = try find(#Predicate { $0.positive.weight > 2 })
        #expect(heavy.numbers == [3] && heavy.lowered == nil)
        let order = try order(SortDescriptor(\.positive.weight, order: .reverse))
        #expect(order.numbers == [3, 2, 1] && order.lowered == nil)
        #expect(Positive.refused.withLock { $0 } == [])
    }

    @Test func computedPropertiesAreLeftToTheType() throws {
        let found = try find(#Predicate { $0.swapped.area == 9 })
        #expect(found.numbers == [1] && found.lowered == nil)
        #expect(try find(#Predicate { $0.swapped.alias == 1 }).lowered == nil)
    }

    @Test func propertiesWithObserversAreStored() throws {
        let found = try find(#Predicate { $0.observed.size == 1 })
        #expect(found.numbers == [1] && found.lowered == "observed.size == 1")
    }

    // MARK: Sort keys

    private func order(_ key: SortDescriptor<Parcel>) throws -> (numbers: [Int], lowered: String?) {
        let descriptor = FetchDescriptor<Parcel>(sortBy: [key])
        let found = try context.explain(descriptor)
        return (
            try ModelContext(context.container).fetch(descriptor).map(\.number),
            found.orderIsPushed ? found.order.joined() : nil
        )
    }

    @Test func sortKeysLeadThroughComposites() throws {
        let city = try order(SortDescriptor(\.renamed.city, order: .reverse))
        #expect(city.numbers == [3, 2, 1] && city.lowered == "renamed.town descending")
        let height = try order(SortDescriptor(\.swapped.height))
        #expect(height.numbers == [3, 2, 1] && height.lowered == "swapped.width")
        let inner = try order(SortDescriptor(\.renamed.inner.city))
        #expect(inner.lowered == "renamed.inner.town")
        let weight = try order(SortDescriptor(\.inverted.weight))
        #expect(weight.numbers == [1, 2, 3] && weight.lowered == nil)
        let area = try order(SortDescriptor(\.swapped.area))
        #expect(area.numbers == [1, 2, 3] && area.lowered == nil)
        let spare = try order(SortDescriptor(\.spare?.width))
        #expect(spare.numbers == [3, 1, 2] && spare.lowered == "spare.height")
        let spareHeight = try order(SortDescriptor(\.spare?.height))
        #expect(spareHeight.numbers.first == 3 && spareHeight.lowered == nil)
    }

    @Test func sortKeysForPeopleLeadThroughComposites() throws {
        let city = try order(SortDescriptor(\.renamed.city, comparator: .localizedStandard, order: .reverse))
        #expect(city.numbers == [3, 2, 1] && city.lowered?.hasPrefix("renamed.town") == true)
        let code = try order(SortDescriptor(\.lowercased.code, comparator: .localizedStandard))
        #expect(code.numbers == [1, 2, 3] && code.lowered == nil)
    }

    @Test func aggregatesLeadThroughComposites() throws {
        #expect(try context.aggregate(FetchDescriptor<Parcel>(), .sum(\.swapped.height)) == 24)
        #expect(throws: AggregateError.self) {
            try context.aggregate(FetchDescriptor<Parcel>(), .sum(\.inverted.weight))
        }
    }
}

private struct Swapped: CompositeValue, Sendable {
    var width: Int
    var height: Int
    var area: Int { width * height }
    /// The same as a stored property, but not one.
    var alias: Int { width }
    enum CodingKeys: String, CodingKey {
        case width = "height"
        case height = "width"
    }
    static var compositeMembers: [CompositeMember<Swapped>] {
        [
            .init(\.width, codedAs: CodingKeys.width, chained: \Swapped?.?.width),
            .init(\.height, codedAs: CodingKeys.height),
        ]
    }
}

private struct Renamed: CompositeValue, Sendable {
    enum Kind: String, Codable, Sendable { case letter, box }
    struct Inner: CompositeValue, Sendable {
        var city: String
        enum CodingKeys: String, CodingKey { case city = "town" }
        static var compositeMembers: [CompositeMember<Inner>] { [.init(\.city, codedAs: CodingKeys.city)] }
    }
    var city: String
    var kind: Kind
    var inner: Inner
    enum CodingKeys: String, CodingKey {
        case city = "town"
        case kind, inner
    }
    static var compositeMembers: [CompositeMember<Renamed>] {
        [
            .init(\.city, codedAs: CodingKeys.city), .init(\.kind, codedAs: CodingKeys.kind),
            .init(\.inner, codedAs: CodingKeys.inner),
        ]
    }
}

/// Coded as the opposite, under the property's own name.
private struct Inverted: Codable, Sendable {
    var weight: Int
    init(weight: Int) { self.weight = weight }
    enum CodingKeys: CodingKey { case weight }
    init(from decoder: any Decoder) throws {
        let coded = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .weight)
        weight = coded == .min ? .min : -coded
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(weight == .min ? .min : -weight, forKey: .weight)
    }
}

/// Read in lower case, and written as it is.
private struct Lowercased: Codable, Sendable {
    var code: String
    init(code: String) { self.code = code }
    enum CodingKeys: CodingKey { case code }
    init(from decoder: any Decoder) throws {
        code = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .code).lowercased()
    }
}

/// Older records have no note.
private struct Lenient: CompositeValue, Sendable {
    var note: String
    var name: String
    init(note: String, name: String) {
        self.note = note
        self.name = name
    }
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        note = try container.decodeIfPresent(String.self, forKey: .note) ?? "none"
        name = try container.decode(String.self, forKey: .name)
    }
    static var compositeMembers: [CompositeMember<Lenient>] { [.init(\.name, codedAs: CodingKeys.name)] }
}

/// Has a rule, and notes the values that were against it.
private struct Positive: Codable, Sendable {
    static let refused = Mutex<[Int]>([])
    var weight: Int
    init(weight: Int) { self.weight = weight }
    init(from decoder: any Decoder) throws {
        let weight = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .weight)
        if !(1...3).contains(weight) { Self.refused.withLock { $0.append(weight) } }
        self.weight = weight
    }
}

private struct Observed: CompositeValue, Sendable {
    var size: Int { didSet {} }
    static var compositeMembers: [CompositeMember<Observed>] { [.init(\.size, codedAs: CodingKeys.size)] }
}

private final class Parcel: PersistentModel {
    var persistentBackingData: any BackingData<Parcel> = Parcel.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Parcel.number), .init(name: "swapped", keypath: \Parcel.swapped),
            .init(name: "renamed", keypath: \Parcel.renamed), .init(name: "inverted", keypath: \Parcel.inverted),
            .init(name: "lowercased", keypath: \Parcel.lowercased), .init(name: "lenient", keypath: \Parcel.lenient),
            .init(name: "observed", keypath: \Parcel.observed), .init(name: "spare", keypath: \Parcel.spare),
            .init(name: "positive", keypath: \Parcel.positive),
        ]
    }
    init(backingData: any BackingData<Parcel>) { persistentBackingData = backingData }
    init(_ number: Int) { self.number = number }

    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
    var swapped: Swapped {
        get { getValue(forKey: \.swapped) }
        set { setValue(forKey: \.swapped, to: newValue) }
    }
    var renamed: Renamed {
        get { getValue(forKey: \.renamed) }
        set { setValue(forKey: \.renamed, to: newValue) }
    }
    var inverted: Inverted {
        get { getValue(forKey: \.inverted) }
        set { setValue(forKey: \.inverted, to: newValue) }
    }
    var lowercased: Lowercased {
        get { getValue(forKey: \.lowercased) }
        set { setValue(forKey: \.lowercased, to: newValue) }
    }
    var lenient: Lenient {
        get { getValue(forKey: \.lenient) }
        set { setValue(forKey: \.lenient, to: newValue) }
    }
    var observed: Observed {
        get { getValue(forKey: \.observed) }
        set { setValue(forKey: \.observed, to: newValue) }
    }
    var positive: Positive {
        get { getValue(forKey: \.positive) }
        set { setValue(forKey: \.positive, to: newValue) }
    }
    var spare: Swapped? {
        get { getValue(forKey: \.spare) }
        set { setValue(forKey: \.spare, to: newValue) }
    }
}
