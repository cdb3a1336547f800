import Testing

/// The accessors of a kept property.
struct PersistedPropertyExpansionTests {
    @Test func accessorsGoBySlot() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(2) private(set) var name: String = "a"
            }
            """#,
            #"""
            final class Trip {
                private(set) var name: String {
                    @storageRestrictions(accesses: _modelState, initializes: _name)
                    init(initialValue) {
                        _modelState.initialize(at: 2, to: initialValue)
                        _name = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_name.keyPath)
                        return _value(at: 2)
                    }
                    set {
                        _setValue(newValue, at: 2)
                    }
                    _modify {
                        yield &self[_slot: 2]
                    }
                }

                \#(safe)nonisolated(unsafe) private var _name: MortiseCore.NoStorage

                private static let _keyPath_name = MortiseCore.SharedKeyPath(\Trip.name)
            }
            """#, .accessors)
    }

    @Test func transformablePropertyHasAccessorsOfItsOwn() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(0) @Attribute(.transformable(by: "Reverse")) var name: String
            }
            """#,
            #"""
            final class Trip {
                @Attribute(.transformable(by: "Reverse")) var name: String {
                    @storageRestrictions(accesses: _modelState, initializes: _name)
                    init(initialValue) {
                        _modelState.initializeTransformable(at: 0, to: initialValue)
                        _name = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_name.keyPath)
                        return _transformableValue(at: 0)
                    }
                    set {
                        _setTransformableValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_transformable: 0]
                    }
                }

                \#(safe)nonisolated(unsafe) private var _name: MortiseCore.NoStorage

                private static let _keyPath_name = MortiseCore.SharedKeyPath(\Trip.name)
            }
            """#, .accessors)
    }

    @Test func propertyBelowAnInheritanceClauseAddsTheInheritedSlots() {
        expectExpansion(
            #"""
            class BusinessTrip: Trip {
                @_PersistedProperty(1) var budget: Int
            }
            """#,
            #"""
            class BusinessTrip: Trip {
                var budget: Int {
                    @storageRestrictions(accesses: _ownState, initializes: _budget)
                    init(initialValue) {
                        _ownState.initialize(at: BusinessTrip._firstSlot + 1, to: initialValue)
                        _budget = MortiseCore.NoStorage()
                    }
                    get {
                        _adoptOwnValues()
                        access(keyPath: BusinessTrip._keyPath_budget.keyPath)
                        return _value(at: BusinessTrip._firstSlot + 1)
                    }
                    set {
                        _adoptOwnValues()
                        _setValue(newValue, at: BusinessTrip._firstSlot + 1)
                    }
                    _modify {
                        _adoptOwnValues()
                        yield &self[_slot: BusinessTrip._firstSlot + 1]
                    }
                }

                \#(safe)nonisolated(unsafe) private var _budget: MortiseCore.NoStorage

                private static let _keyPath_budget = MortiseCore.SharedKeyPath(\BusinessTrip.budget)
            }
            """#, .accessors)
    }

    @Test func keywordNameLosesItsBackticksInThePeer() {
        expectExpansion(
            #"""
            final class Row {
                @_PersistedProperty(0) var `default`: Int = 1
            }
            """#,
            #"""
            final class Row {
                var `default`: Int {
                    @storageRestrictions(accesses: _modelState, initializes: _default)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _default = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Row._keyPath_default.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }

                \#(safe)nonisolated(unsafe) private var _default: MortiseCore.NoStorage

                private static let _keyPath_default = MortiseCore.SharedKeyPath(\Row.`default`)
            }
            """#, .accessors)
    }

    @Test func classInsideSomethingGenericHasNoConstants() {
        expectExpansion(
            #"""
            func make<Value>(_ value: Value) {
                final class Row {
                    @_PersistedProperty(0) var number: Int = 1
                }
            }
            """#,
            #"""
            func make<Value>(_ value: Value) {
                final class Row {
                    var number: Int {
                        @storageRestrictions(accesses: _modelState, initializes: _number)
                        init(initialValue) {
                            _modelState.initialize(at: 0, to: initialValue)
                            _number = MortiseCore.NoStorage()
                        }
                        get {
                            access(keyPath: \.number)
                            return _value(at: 0)
                        }
                        set {
                            _setValue(newValue, at: 0)
                        }
                        _modify {
                            yield &self[_slot: 0]
                        }
                    }

                    \#(safe)nonisolated(unsafe) private var _number: MortiseCore.NoStorage
                }
            }
            """#, .accessors)
    }

    @Test func nonisolatedPropertyHasANonisolatedConstant() {
        expectExpansion(
            #"""
            final class Row {
                @_PersistedProperty(0) nonisolated var number: Int = 1
            }
            """#,
            #"""
            final class Row {
                nonisolated var number: Int {
                    @storageRestrictions(accesses: _modelState, initializes: _number)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _number = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Row._keyPath_number.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }

                \#(safe)nonisolated(unsafe) private var _number: MortiseCore.NoStorage

                private nonisolated static let _keyPath_number = MortiseCore.SharedKeyPath(\Row.number)
            }
            """#, .accessors)
    }

    @Test func anInitializerAccessesObservedPropertiesDirectly() {
        expectExpansion(
            #"""
            final class Trip {
                @_ModelInitializer(observed: ["name", "count"]) init(name: String, other: Int?) {
                    self.name = name
                    count += 1
                    if let count = other { print(count) }
                    let later = { self.count = 2 }
                    self.tags = [name]
                    defer { count = 4 }
                }
            }
            """#,
            #"""
            final class Trip {
                init(name: String, other: Int?) {
                    self._unobserved_name = name
                    self._unobserved_count += 1
                    if let count = other {
                        print(count)
                    }
                    let later = {
                        self.count = 2
                    }
                    self.tags = [name]
                    defer {
                        #if swift(>=6)
                        self._unobserved_count = 4
                        #else
                        count = 4
                        #endif
                    }
                }
            }
            """#, .accessors)
    }

    @Test func anInitializerLinksOnlyOnSuccess() {
        expectExpansion(
            #"""
            final class Trip {
                @_ModelInitializer(links: true) init?(name: String) {
                    if name.isEmpty { return nil }
                    self.name = name
                    if name == "a" { return }
                    work { return }
                }
            }
            """#,
            #"""
            final class Trip {
                init?(name: String) {
                    if name.isEmpty {
                        return nil
                    }
                    self.name = name
                    if name == "a" {
                        self._linkInitialValues()
                        return
                    }
                    work {
                        return
                    }
                    defer {
                        self._linkInitialValues()
                    }
                    do {
                    }
                }
            }
            """#, .accessors)
    }

    /// The compiler would warn of a statement that is never executed.
    @Test(arguments: [
        "if name.isEmpty { return } else { throw Failure() }",
        "switch name { case \"\": throw Failure() default: return }",
        "while true { try work() }",
        "do { throw Failure() } catch { fatalError() }",
    ])
    func nothingFollowsAStatementThatLeavesTheInitializer(statement: String) {
        let source = "final class Trip {\n    @_ModelInitializer(links: true) init(name: String) throws {\n"
        let expanded = expansion(of: source + "        \(statement)\n    }\n}", .accessors)
        #expect(!expanded.contains("defer {"))
    }
}
