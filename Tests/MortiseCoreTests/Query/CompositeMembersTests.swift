import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Members of composite values are looked at where they are stored, whatever the type calls them there; where the stored
/// form says something else than the property, the property decides.
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

    @Test func membersThatAreCodedInAnotherFormAreLeftToTheType() throws {
        let light = try find(#Predicate { $0.inverted.weight < 2 })
        #expect(light.numbers == [1] && light.lowered == nil)
        let code = try find(#Predicate { $0.lowercased.code == "code 2" })
        #expect(code.numbers == [2] && code.lowered == nil)
    }

    /// Where the member is missing, the type reads a default that the stored form does not have.
    @Test func membersWithADefaultOfTheTypeAreLeftToIt() throws {
        #expect(try find(#Predicate { $0.lenient.note == "2" }).lowered == nil)
        let name = try find(#Predicate { $0.lenient.name == "n2" })
        #expect(name.numbers == [2] && name.lowered == "lenient.name == \"n2\"")
    }

    @Test func computedPropertiesAreLeftToTheType() throws {
        let found = try find(#Predicate { $0.swapped.area == 9 })
        #expect(found.numbers == [1] && found.lowered == nil)
        #expect(try find(#Predicate { $0.swapped.alias == 1 }).lowered == nil)
        #expect(try find(#Predicate { $0.observed.size == 1 }).numbers == [1])
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
        let weight = try order(SortDescriptor(\.inverted.weight))
        #expect(weight.numbers == [1, 2, 3] && weight.lowered == nil)
        let area = try order(SortDescriptor(\.swapped.area))
        #expect(area.numbers == [1, 2, 3] && area.lowered == nil)
        let spare = try order(SortDescriptor(\.spare?.width))
        #expect(spare.numbers == [3, 1, 2] && spare.lowered == "spare.height")
    }
}

private struct Swapped: Codable, Sendable {
    var width: Int
    var height: Int
    var area: Int { width * height }
    /// The same as a stored property, but not one.
    var alias: Int { width }
    enum CodingKeys: String, CodingKey {
        case width = "height"
        case height = "width"
    }
}

private struct Renamed: Codable, Sendable {
    enum Kind: String, Codable, Sendable { case letter, box }
    struct Inner: Codable, Sendable {
        var city: String
        enum CodingKeys: String, CodingKey { case city = "town" }
    }
    var city: String
    var kind: Kind
    var inner: Inner
    enum CodingKeys: String, CodingKey {
        case city = "town"
        case kind, inner
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
private struct Lenient: Codable, Sendable {
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
}

private struct Observed: Codable, Sendable {
    var size: Int { didSet {} }
}

private final class Parcel: PersistentModel {
    var persistentBackingData: any BackingData<Parcel> = Parcel.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "number", keypath: \Parcel.number), .init(name: "swapped", keypath: \Parcel.swapped),
            .init(name: "renamed", keypath: \Parcel.renamed), .init(name: "inverted", keypath: \Parcel.inverted),
            .init(name: "lowercased", keypath: \Parcel.lowercased), .init(name: "lenient", keypath: \Parcel.lenient),
            .init(name: "observed", keypath: \Parcel.observed), .init(name: "spare", keypath: \Parcel.spare),
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
    var spare: Swapped? {
        get { getValue(forKey: \.spare) }
        set { setValue(forKey: \.spare, to: newValue) }
    }
}
