import Testing

/// What `@Model` adds to a class that stands at the root of its hierarchy.
struct ModelExpansionTests {
    @Test func finalClassGetsStateInitializersAndMetadata() {
        expectExpansion(
            #"""
            @Model
            public final class Trip {
                public var name: String
                @Attribute(.unique, originalName: "code") var number: Int = 0
                private var note: String?
                @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
                @Transient var cache: Int = 0
                static let limit = 10
                var label: String { name }
                public init(name: String) {
                    self.name = name
                }
            }
            """#,
            #"""

            public final class Trip {
                @_PersistedProperty(0)
                public var name: String
                @_PersistedProperty(1) var number: Int = 0

                private nonisolated static func _propertyOptions(_number: Swift.Void) -> MortiseCore.Schema.Attribute {
                    MortiseCore.Schema.Attribute(.unique, originalName: "code")
                }
                @_PersistedProperty(2)
                private var note: String?
                @_PersistedProperty(3) var stops: [Stop] = []

                private nonisolated static func _propertyOptions(_stops: Swift.Void) -> MortiseCore.Schema.Relationship {
                    MortiseCore.RelatedModel(\Trip.stops).checkInverse(
                        MortiseCore.RelatedModel(\Stop.trip)
                    ) {
                        $0
                    } back: {
                        $0
                    }
                    return MortiseCore.Schema.Relationship(deleteRule: .cascade, inverse: \Stop.trip)
                }
                var cache: Int = 0
                static let limit = 10
                var label: String { name }
                @_ModelInitializer(links: true)
                public init(name: String) {
                    self.name = name
                }

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) public var _modelState: MortiseCore.ModelState = MortiseCore.ModelState(of: Trip.self)

                public init(_modelState: consuming MortiseCore.ModelState) {
                    self._name = MortiseCore.NoStorage()
                    self._number = MortiseCore.NoStorage()
                    self._note = MortiseCore.NoStorage()
                    self._stops = MortiseCore.NoStorage()
                    self._modelState = _modelState
                }

                public convenience init(backingData: any MortiseCore.BackingData<Trip>) {
                    self.init(_modelState: Trip._state(from: backingData))
                }

                public var persistentBackingData: any MortiseCore.BackingData<Trip> {
                    get {
                        _backingData()
                    }
                    set {
                        _adopt(backingData: newValue)
                    }
                }

                public static var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    [
                        MortiseCore.Schema.PropertyMetadata(name: "name", keypath: \Trip.name, chained: \Trip?.?.name),
                        MortiseCore.Schema.PropertyMetadata(name: "number", keypath: \Trip.number, chained: \Trip?.?.number, defaultValue: (0) as Int, metadata: _propertyOptions(_number: ())),
                        MortiseCore.Schema.PropertyMetadata(name: "note", keypath: \Trip.note, chained: \Trip?.?.note),
                        MortiseCore.Schema.PropertyMetadata(name: "stops", keypath: \Trip.stops, chained: \Trip?.?.stops, defaultValue: ([]) as [Stop], metadata: _propertyOptions(_stops: ()))
                    ]
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<Trip, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<Trip, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }

            nonisolated extension Trip: MortiseCore.PersistentModel {
            }

            @available(*, unavailable, message: "a model stays with its context; pass its 'persistentModelID'")
            extension Trip: Swift.Sendable {
            }
            """#)
    }

    @Test func openClassGetsOverridableMembers() {
        expectExpansion(
            #"""
            @Model
            open class Asset {
                var weather: Weather = .clear
                public init() {}
            }
            """#,
            #"""

            open class Asset {
                @_PersistedProperty(0)
                var weather: Weather = .clear
                @_ModelInitializer(links: true)
                public init() {}

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) public var _modelState: MortiseCore.ModelState = MortiseCore.ModelState(of: Asset.self)

                open func _adoptInitialValues() {
                }

                public required init(_modelState: consuming MortiseCore.ModelState) {
                    self._weather = MortiseCore.NoStorage()
                    self._modelState = _modelState
                }

                public required init(backingData: any MortiseCore.BackingData<Asset>) {
                    self._weather = MortiseCore.NoStorage()
                    self._modelState = Asset._state(from: backingData)
                }

                public var persistentBackingData: any MortiseCore.BackingData<Asset> {
                    get {
                        _backingData()
                    }
                    set {
                        _adopt(backingData: newValue)
                    }
                }

                open class var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    _ownSchemaMetadata(for: Asset.self)
                }

                public class func _schemaMetadata<_MortiseModel: Asset>(
                    for _: _MortiseModel.Type
                ) -> [MortiseCore.Schema.PropertyMetadata] {
                    _ownSchemaMetadata(for: _MortiseModel.self)
                }

                private static func _ownSchemaMetadata<_MortiseModel: Asset>(
                    for _: _MortiseModel.Type
                ) -> [MortiseCore.Schema.PropertyMetadata] {
                    [
                        MortiseCore.Schema.PropertyMetadata(name: "weather", keypath: \_MortiseModel.weather, chained: \_MortiseModel?.?.weather, defaultValue: (.clear) as Weather)
                    ]
                }

                open class var _inheritedSchemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    []
                }

                open class var _modelSlotCount: Swift.Int {
                    1
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<Asset, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<Asset, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }

            nonisolated extension Asset: MortiseCore.PersistentModel {
            }

            @available(*, unavailable, message: "a model stays with its context; pass its 'persistentModelID'")
            extension Asset: Swift.Sendable {
            }
            """#)
    }

    @Test func classWithInheritanceClauseNamesItsStateIndirectly() {
        expectExpansion(
            #"""
            @Model
            final class Tag: Codable {
                var label = ""
            }
            """#,
            #"""

            final class Tag: Codable {
                @_PersistedProperty(0)
                var label = ""

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) private var _ownState: MortiseCore.ModelState = MortiseCore.ModelState(of: Tag.self)

                nonisolated var _modelState: MortiseCore.ModelState {
                    _read {
                        yield _ownState
                    }
                    _modify {
                        yield &_ownState
                    }
                }

                private static var _firstSlot: Swift.Int {
                    0
                }

                private func _adoptOwnValues() {
                }

                init(_modelState: consuming MortiseCore.ModelState) {
                    self._label = MortiseCore.NoStorage()
                    self._ownState = _modelState
                }

                convenience init(backingData: any MortiseCore.BackingData<Tag>) {
                    self.init(_modelState: Tag._state(from: backingData))
                }

                var persistentBackingData: any MortiseCore.BackingData<Tag> {
                    get {
                        _backingData()
                    }
                    set {
                        _adopt(backingData: newValue)
                    }
                }

                init() {
                }

                static var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    [
                        MortiseCore.Schema.PropertyMetadata(name: "label", keypath: \Tag.label, chained: \Tag?.?.label, defaultValue: "")
                    ]
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<Tag, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<Tag, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }

            nonisolated extension Tag: MortiseCore.PersistentModel {
            }

            @available(*, unavailable, message: "a model stays with its context; pass its 'persistentModelID'")
            extension Tag: Swift.Sendable {
            }
            """#)
    }

    @Test func constraintsFollowTheProperties() {
        expectExpansion(
            #"""
            @Model
            final class Trip {
                #Unique<Trip>([\.name], [\.start, \.name])
                #Index<Trip>(.binary([\.name]))
                var name = ""
                var start: Date!
            }
            """#,
            #"""

            final class Trip {
                @_PersistedProperty(0)
                var name = ""
                @_PersistedProperty(1)
                var start: Date!

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) var _modelState: MortiseCore.ModelState = MortiseCore.ModelState(of: Trip.self)

                init(_modelState: consuming MortiseCore.ModelState) {
                    self._name = MortiseCore.NoStorage()
                    self._start = MortiseCore.NoStorage()
                    self._modelState = _modelState
                }

                convenience init(backingData: any MortiseCore.BackingData<Trip>) {
                    self.init(_modelState: Trip._state(from: backingData))
                }

                var persistentBackingData: any MortiseCore.BackingData<Trip> {
                    get {
                        _backingData()
                    }
                    set {
                        _adopt(backingData: newValue)
                    }
                }

                init() {
                }

                static var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    [
                        MortiseCore.Schema.PropertyMetadata(name: "name", keypath: \Trip.name, chained: \Trip?.?.name, defaultValue: ""),
                        MortiseCore.Schema.PropertyMetadata(name: "start", keypath: \Trip.start, chained: \Trip?.?.start),
                        MortiseCore.Schema.PropertyMetadata(name: "MortiseCore.Schema.Unique", keypath: \MortiseCore.Schema.encodingVersion, metadata: MortiseCore.Schema.Unique<Trip>([\.name], [\.start, \.name])),
                        MortiseCore.Schema.PropertyMetadata(name: "MortiseCore.Schema.Index", keypath: \MortiseCore.Schema.encodingVersion, metadata: MortiseCore.Schema.Index<Trip>(.binary([\.name])))
                    ]
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<Trip, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<Trip, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }

            nonisolated extension Trip: MortiseCore.PersistentModel {
            }

            @available(*, unavailable, message: "a model stays with its context; pass its 'persistentModelID'")
            extension Trip: Swift.Sendable {
            }
            """#)
    }

    @Test(arguments: [
        "var other: Trip", "var other: Trip?", "let other: Trip?", "var other: Optional<Trip>", "var others: [Trip]",
        "var others: [Trip] = []", "var others: [Trip]? = nil", "var others: Array<Trip> = []", "var other = Trip()",
        "var other = Park.first", "var others = [Trip()]", "var hero: Character", "var data: Data?",
        "var days: [Date] = []",
        "var range: Duration = .zero", "var link: URL?",
    ])
    func initializersThatMayBeGivenModelsLinkThem(property: String) {
        #expect(initializerIsMarked(in: property))
    }

    /// The compiler would say that a property is not set, of the statement that links as well.
    @Test func initializersThatForgetAPropertyLinkNothing() {
        #expect(!initializerIsMarked(in: "var other: Trip", body: "self.others = []"))
        #expect(initializerIsMarked(in: "var other: Trip?", body: "self.others = []"))
    }

    @Test(arguments: [
        "var name: String", "var name: String?", "var number = 1", "var number: Int = 1", "var flag: Bool",
        "var id: UUID",
        "var id = UUID()", "var price: Decimal", "var names: [String] = []", "var counts: [String: Int]",
        "var when: Foundation.Date", "var mark: Swift.Character?", "var numbers = [1, 2]", "var text = \"a\"",
        "@Attribute(.transformable(by: \"names\")) var place: Place", "@Transient var other: Trip? = nil",
    ])
    func initializersOfModelsWithoutRelationshipsStayAsTheyAre(property: String) {
        #expect(!initializerIsMarked(in: property))
    }

    private func initializerIsMarked(in property: String, body: String? = nil) -> Bool {
        let declared = property.split(separator: " ").drop { $0 != "var" && $0 != "let" }.dropFirst().first ?? ""
        let body = body ?? "self.\(declared.prefix { $0 != ":" }) = value"
        let expanded = expansion(of: "@Model\nfinal class Trip {\n\(property)\ninit() { \(body) }\n}")
        return expanded.contains("@_ModelInitializer(links: true)\ninit()")
    }

    @Test func observedPropertyMarksDesignatedInitializers() {
        expectExpansion(
            #"""
            @Model
            final class Counter {
                var count = 0 { didSet {} }
                init(count: Int) { self.count = count }
                convenience init() { self.init(count: 1) }
            }
            """#,
            #"""

            final class Counter {
                @_PersistedProperty(0)
                var count = 0 { didSet {} }
                @_ModelInitializer(observed: ["count"])
                init(count: Int) { self.count = count }
                convenience init() { self.init(count: 1) }

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) var _modelState: MortiseCore.ModelState = MortiseCore.ModelState(of: Counter.self)

                init(_modelState: consuming MortiseCore.ModelState) {
                    self._count = MortiseCore.NoStorage()
                    self._modelState = _modelState
                }

                convenience init(backingData: any MortiseCore.BackingData<Counter>) {
                    self.init(_modelState: Counter._state(from: backingData))
                }

                var persistentBackingData: any MortiseCore.BackingData<Counter> {
                    get {
                        _backingData()
                    }
                    set {
                        _adopt(backingData: newValue)
                    }
                }

                static var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    [
                        MortiseCore.Schema.PropertyMetadata(name: "count", keypath: \Counter.count, chained: \Counter?.?.count, defaultValue: 0)
                    ]
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<Counter, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<Counter, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }

            nonisolated extension Counter: MortiseCore.PersistentModel {
            }

            @available(*, unavailable, message: "a model stays with its context; pass its 'persistentModelID'")
            extension Counter: Swift.Sendable {
            }
            """#)
    }

    @Test func keywordNamesKeepTheirBackticks() {
        expectExpansion(
            #"""
            @Model
            final class Row {
                var `default`: Int = 1
            }
            """#,
            #"""

            final class Row {
                @_PersistedProperty(0)
                var `default`: Int = 1

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) var _modelState: MortiseCore.ModelState = MortiseCore.ModelState(of: Row.self)

                init(_modelState: consuming MortiseCore.ModelState) {
                    self._default = MortiseCore.NoStorage()
                    self._modelState = _modelState
                }

                convenience init(backingData: any MortiseCore.BackingData<Row>) {
                    self.init(_modelState: Row._state(from: backingData))
                }

                var persistentBackingData: any MortiseCore.BackingData<Row> {
                    get {
                        _backingData()
                    }
                    set {
                        _adopt(backingData: newValue)
                    }
                }

                init() {
                }

                static var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    [
                        MortiseCore.Schema.PropertyMetadata(name: "default", keypath: \Row.`default`, chained: \Row?.?.`default`, defaultValue: (1) as Int)
                    ]
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<Row, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<Row, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }

            nonisolated extension Row: MortiseCore.PersistentModel {
            }

            @available(*, unavailable, message: "a model stays with its context; pass its 'persistentModelID'")
            extension Row: Swift.Sendable {
            }
            """#)
    }
}
