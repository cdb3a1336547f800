import Foundation
import MortiseCore
import MortiseInMemory
import Testing

/// Sort orders and aggregates along to-one relationships of classes that can be subclassed: they are lowered as those of
/// final classes are, and not left to code.
@Suite struct RelatedKeyPathsTests {
    let context: ModelContext

    init() throws {
        let schema = Schema([Town.self, Capital.self, Region.self, Realm.self])
        let container = try ModelContainer(for: schema, configurations: [InMemoryConfiguration("towns")])
        container.verifiesPushDown = true
        context = ModelContext(container)
        let realms = ["north", "south"].map(Realm.init)
        let regions = ["c", "a", "b"].enumerated().map { Region($1, realm: $0 == 1 ? nil : realms[$0 / 2]) }
        for (number, region) in [0, 1, 2, nil, 0, 1].enumerated() {
            let home = regions[(number + 1) % 3]
            let town =
                number == 5 ? Capital("\(number)", home: home, throne: "t") : Town("\(number)", home: home)
            town.region = region.map { regions[$0] }
            town.people = number * 10
            context.insert(town)
        }
        try context.save()
    }

    private func expectPushed<T: Town>(
        _ order: [SortDescriptor<T>], _ keys: [String], finds names: [String],
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let descriptor = FetchDescriptor<T>(sortBy: order)
        #expect(try context.fetch(descriptor).map(\.name) == names, sourceLocation: location)
        let found = try context.explain(descriptor)
        #expect(found.order == keys && found.orderIsPushed, sourceLocation: location)
    }

    @Test func sortKeysThroughOptionalRelationshipsArePushed() throws {
        try expectPushed(
            [SortDescriptor(\Town.region?.title)], ["region.title"], finds: ["3", "1", "5", "2", "0", "4"])
        try expectPushed(
            [SortDescriptor(\Town.region?.note), SortDescriptor(\Town.name, order: .reverse)],
            ["region.note", "name descending"],
            finds: ["5", "4", "3", "2", "1", "0"])
        try expectPushed([SortDescriptor(\Capital.region?.title)], ["region.title"], finds: ["5"])
        try expectPushed([SortDescriptor(\Capital.region?.realm?.title)], ["region.realm.title"], finds: ["5"])
    }

    @Test func sortKeysThroughSeveralRelationshipsArePushed() throws {
        try expectPushed(
            [SortDescriptor(\Town.region?.realm?.title)], ["region.realm.title"],
            finds: ["1", "3", "5", "0", "4", "2"])
        try expectPushed(
            [SortDescriptor(\Town.home.realm?.title), SortDescriptor(\Town.home.title)],
            ["home.realm.title", "home.title"],
            finds: ["0", "3", "2", "5", "1", "4"])
    }

    @Test func sortKeysThroughRequiredRelationshipsArePushed() throws {
        try expectPushed(
            [SortDescriptor(\Town.home.title), SortDescriptor(\Town.name)], ["home.title", "name"],
            finds: ["0", "3", "1", "4", "2", "5"])
    }

    @Test func genericCodeAsksForTheSameKeys() throws {
        func order<T: Town>(of type: T.Type) -> [SortDescriptor<T>] { [SortDescriptor(\T.region?.title)] }
        try expectPushed(order(of: Town.self), ["region.title"], finds: ["3", "1", "5", "2", "0", "4"])
        try expectPushed(order(of: Capital.self), ["region.title"], finds: ["5"])
    }

    @Test func aggregatesAreCalculatedByTheStore() throws {
        let all = FetchDescriptor<Town>()
        let required: KeyPath<Town, String> = \.home.title
        let optional: KeyPath<Town, String?> = \.region?.title
        let distant: KeyPath<Town, String?> = \.region?.realm?.title
        let ofCapitals: KeyPath<Capital, String?> = \.region?.title
        #expect(try context.aggregate(all, .minimum(required)) == "a")
        #expect(try context.aggregate(all, .maximum(optional)) == "c")
        let counts = try context.aggregate(all, by: distant, .count)
        #expect(counts.map { $0.key } == [nil, "north", "south"] && counts.map { $0.values } == [3, 2, 1])
        let sums = try context.aggregate(all, by: distant, .sum(\.people))
        #expect(sums.map { $0.values } == [90, 40, 20])
        let capitals = try context.aggregate(FetchDescriptor<Capital>(), by: ofCapitals, .count)
        #expect(capitals.map { $0.key } == ["a"])
    }

    @Test func whatIsNotStoredIsStillLeftToCode() throws {
        let loud = FetchDescriptor<Town>(sortBy: [SortDescriptor(\Town.region?.loud)])
        #expect(try context.fetch(loud).map(\.name) == ["3", "1", "5", "2", "0", "4"])
        #expect(try !context.explain(loud).orderIsPushed)
        #expect(throws: AggregateError.self) {
            try context.aggregate(FetchDescriptor<Town>(), .minimum(\.region?.loud))
        }
    }
}

// MARK: - Models that are no final classes

private class Town: PersistentModel {
    typealias Root = Town

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Town> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Town.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    static func ownMetadata<M: Town>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \M.name, chained: \M?.?.name),
            .init(name: "people", keypath: \M.people, chained: \M?.?.people),
            .init(name: "region", keypath: \M.region, chained: \M?.?.region),
            .init(name: "home", keypath: \M.home, chained: \M?.?.home),
        ]
    }

    required init(backingData: any BackingData<Town>) { _modelState = Town._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(_ name: String, home: Region) {
        self.name = name
        self.home = home
        people = 0
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var people: Int {
        get { getValue(forKey: \.people) }
        set { setValue(forKey: \.people, to: newValue) }
    }
    var region: Region? {
        get { getValue(forKey: \.region) }
        set { setValue(forKey: \.region, to: newValue) }
    }
    var home: Region {
        get { getValue(forKey: \.home) }
        set { setValue(forKey: \.home, to: newValue) }
    }
}

private final class Capital: Town {
    override class var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "throne", keypath: \Capital.throne, chained: \Capital?.?.throne)]
    }
    override class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Capital.self) }

    required init(backingData: any BackingData<Town>) { super.init(backingData: backingData) }
    required init(_modelState: consuming ModelState) { super.init(_modelState: _modelState) }
    init(_ name: String, home: Region, throne: String) {
        super.init(name, home: home)
        self.throne = throne
    }

    var throne: String {
        get { getValue(forKey: \.throne) }
        set { setValue(forKey: \.throne, to: newValue) }
    }
}

private class Region: PersistentModel {
    typealias Root = Region

    var _modelState = ModelState()
    var persistentBackingData: any BackingData<Region> {
        get { _backingData() }
        set { _adopt(backingData: newValue) }
    }
    class var schemaMetadata: [Schema.PropertyMetadata] { ownMetadata(for: Region.self) }
    class var _inheritedSchemaMetadata: [Schema.PropertyMetadata] { [] }

    static func ownMetadata<M: Region>(for type: M.Type) -> [Schema.PropertyMetadata] {
        [
            .init(name: "title", keypath: \M.title, chained: \M?.?.title),
            .init(name: "note", keypath: \M.note, chained: \M?.?.note),
            .init(name: "realm", keypath: \M.realm, chained: \M?.?.realm),
        ]
    }

    required init(backingData: any BackingData<Region>) { _modelState = Region._state(from: backingData) }
    required init(_modelState: consuming ModelState) { self._modelState = _modelState }
    init(_ title: String, realm: Realm?) {
        self.title = title
        self.realm = realm
    }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
    var note: String? {
        get { getValue(forKey: \.note) }
        set { setValue(forKey: \.note, to: newValue) }
    }
    var realm: Realm? {
        get { getValue(forKey: \.realm) }
        set { setValue(forKey: \.realm, to: newValue) }
    }
    var loud: String { title.uppercased() }
}

private final class Realm: PersistentModel {
    var persistentBackingData: any BackingData<Realm> = Realm.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [.init(name: "title", keypath: \Realm.title, chained: \Realm?.?.title)]
    }
    init(backingData: any BackingData<Realm>) { persistentBackingData = backingData }
    init(_ title: String) { self.title = title }

    var title: String {
        get { getValue(forKey: \.title) }
        set { setValue(forKey: \.title, to: newValue) }
    }
}
