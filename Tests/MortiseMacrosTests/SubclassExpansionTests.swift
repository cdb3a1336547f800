import Testing

/// What `@Model` adds to a class whose superclass is a model.
struct SubclassExpansionTests {
    @Test func subclassAddsItsOwnStateAndMetadata() {
        expectExpansion(
            #"""
            @Model
            class BusinessTrip: Trip, CustomStringConvertible {
                var budget: Decimal
                init(budget: Decimal) {
                    self.budget = budget
                    super.init(name: "")
                }
                var description: String { "" }
            }
            """#,
            #"""

            class BusinessTrip: Trip, CustomStringConvertible {
                @_PersistedProperty(0)
                var budget: Decimal
                init(budget: Decimal) {
                    self.budget = budget
                    super.init(name: "")
                }
                var description: String { "" }

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) private var _ownState: MortiseCore.InitialValues = MortiseCore.InitialValues(of: BusinessTrip.self)

                private static var _firstSlot: Swift.Int {
                    Trip._modelSlotCount
                }

                private func _adoptOwnValues() {
                    if _ownState.isPending {
                        _adoptInitialValues()
                    }
                }

                override func _adoptInitialValues() {
                    super._adoptInitialValues()
                    _modelState.adopt(&_ownState)
                }

                required init(_modelState: consuming MortiseCore.ModelState) {
                    self._budget = MortiseCore.NoStorage()
                    MortiseCore.ModelState._continueMaking(Trip.self)
                    super.init(_modelState: _modelState)
                }

                required init(backingData: any MortiseCore.BackingData<BusinessTrip.Root>) {
                    self._budget = MortiseCore.NoStorage()
                    super.init(backingData: backingData)
                    self._ownState = MortiseCore.InitialValues()
                }

                override class var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    _ownSchemaMetadata(for: BusinessTrip.self)
                }

                class func _schemaMetadata<_MortiseModel: BusinessTrip>(
                    for _: _MortiseModel.Type
                ) -> [MortiseCore.Schema.PropertyMetadata] {
                    Trip._schemaMetadata(for: _MortiseModel.self) + _ownSchemaMetadata(for: _MortiseModel.self)
                }

                private static func _ownSchemaMetadata<_MortiseModel: BusinessTrip>(
                    for _: _MortiseModel.Type
                ) -> [MortiseCore.Schema.PropertyMetadata] {
                    [
                        MortiseCore.Schema.PropertyMetadata(name: "budget", keypath: \_MortiseModel.budget, chained: \_MortiseModel?.?.budget)
                    ]
                }

                override class var _inheritedSchemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    Trip._schemaMetadata(for: BusinessTrip.self)
                }

                override class var _modelSlotCount: Swift.Int {
                    Trip._modelSlotCount + 1
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<BusinessTrip, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<BusinessTrip, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }
            """#, .subclass)
    }

    @Test func finalSubclassOverridesWithStaticMembers() {
        expectExpansion(
            #"""
            @Model
            public final class Flight: Trip {
                override var name: String {
                    didSet {}
                }
                public override init(name: String) {
                    super.init(name: name)
                }
            }
            """#,
            #"""

            public final class Flight: Trip {
                override var name: String {
                    didSet {}
                }
                public override init(name: String) {
                    super.init(name: name)
                }

                \#(safe)@exclusivity(unchecked) nonisolated(unsafe) private var _ownState: MortiseCore.InitialValues = MortiseCore.InitialValues(of: Flight.self)

                private static var _firstSlot: Swift.Int {
                    Trip._modelSlotCount
                }

                private func _adoptOwnValues() {
                    if _ownState.isPending {
                        _adoptInitialValues()
                    }
                }

                public override func _adoptInitialValues() {
                    super._adoptInitialValues()
                    _modelState.adopt(&_ownState)
                }

                public required init(_modelState: consuming MortiseCore.ModelState) {
                    MortiseCore.ModelState._continueMaking(Trip.self)
                    super.init(_modelState: _modelState)
                }

                public required init(backingData: any MortiseCore.BackingData<Flight.Root>) {
                    super.init(backingData: backingData)
                    self._ownState = MortiseCore.InitialValues()
                }

                public override static var schemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    []
                }

                public override static var _inheritedSchemaMetadata: [MortiseCore.Schema.PropertyMetadata] {
                    Trip._schemaMetadata(for: Flight.self)
                }

                public override static var _modelSlotCount: Swift.Int {
                    Trip._modelSlotCount + 0
                }

                nonisolated func access<_MortiseMember>(keyPath: Swift.KeyPath<Flight, _MortiseMember>) {
                    _modelState.noteAccess(to: keyPath, of: self)
                }

                nonisolated func withMutation<_MortiseMember, _MortiseResult>(
                    keyPath: Swift.KeyPath<Flight, _MortiseMember>, _ mutation: () throws -> _MortiseResult
                ) rethrows -> _MortiseResult {
                    try _modelState.registrar.withMutation(of: self, keyPath: keyPath, mutation)
                }
            }
            """#, .subclass)
    }
}
