import Testing

/// The setter of a property with observers.
struct ObserverExpansionTests {
    @Test func observersRunAroundTheWrite() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(0) var count: Int = 0 {
                    willSet { log("will \(newValue)") }
                    didSet { log("did \(oldValue)") }
                }
            }
            """#,
            #"""
            final class Trip {
                var count: Int {
                    willSet { log("will \(newValue)") }
                    didSet { log("did \(oldValue)") }
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }

                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }

                    set(_newValue) {
                        ({ (newValue) -> Swift.Void in
                                log("will \(newValue)")
                            })(_newValue)
                        let _oldValue = self._unobserved_count
                        self._unobserved_count = _newValue
                        ({ (oldValue) -> Swift.Void in
                                log("did \(oldValue)")
                            })(_oldValue)
                    }
                }

                \#(safe)nonisolated(unsafe) private var _count: MortiseCore.NoStorage

                private static let _keyPath_count = MortiseCore.SharedKeyPath(\Trip.count)

                private var _unobserved_count: Int {
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }
            }
            """#, .accessors)
    }

    @Test func oldValueIsReadOnlyIfUsed() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(0) var count = 0 {
                    didSet { log("did") }
                }
            }
            """#,
            #"""
            final class Trip {
                var count {
                    didSet { log("did") }
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }

                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }

                    set(_newValue) {
                        self._unobserved_count = _newValue
                        ({ () -> Swift.Void in
                                log("did")
                            })()
                    }
                }

                \#(safe)nonisolated(unsafe) private var _count: MortiseCore.NoStorage

                private static let _keyPath_count = MortiseCore.SharedKeyPath(\Trip.count)

                private var _unobserved_count: Swift.Int {
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }
            }
            """#, .accessors)
    }

    @Test func parametersMayBeNamed() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(0) var count = 0 {
                    willSet(new) { log(new) }
                    didSet(old) { log(old) }
                }
            }
            """#,
            #"""
            final class Trip {
                var count {
                    willSet(new) { log(new) }
                    didSet(old) { log(old) }
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }

                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }

                    set(_newValue) {
                        ({ (new) -> Swift.Void in
                                log(new)
                            })(_newValue)
                        let _oldValue = self._unobserved_count
                        self._unobserved_count = _newValue
                        ({ (old) -> Swift.Void in
                                log(old)
                            })(_oldValue)
                    }
                }

                \#(safe)nonisolated(unsafe) private var _count: MortiseCore.NoStorage

                private static let _keyPath_count = MortiseCore.SharedKeyPath(\Trip.count)

                private var _unobserved_count: Swift.Int {
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }
            }
            """#, .accessors)
    }

    @Test func observerWritesItsOwnPropertyWithoutObservers() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(0) var count = 0 {
                    didSet {
                        if count > 10 { count = 10 }
                        self.count += 1
                        other.count = 3
                    }
                }
            }
            """#,
            #"""
            final class Trip {
                var count {
                    didSet {
                        if count > 10 { count = 10 }
                        self.count += 1
                        other.count = 3
                    }
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }

                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }

                    set(_newValue) {
                        self._unobserved_count = _newValue
                        ({ () -> Swift.Void in
                                if self._unobserved_count > 10 {
                                    self._unobserved_count = 10
                                }
                                            self._unobserved_count += 1
                                            other.count = 3
                            })()
                    }
                }

                \#(safe)nonisolated(unsafe) private var _count: MortiseCore.NoStorage

                private static let _keyPath_count = MortiseCore.SharedKeyPath(\Trip.count)

                private var _unobserved_count: Swift.Int {
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }
            }
            """#, .accessors)
    }

    @Test func localNamesHideTheProperty() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(0) var count: Int? = 0 {
                    didSet {
                        if let count, count > 1 { log(count) }
                        guard let count = count else { return }
                        log(count)
                    }
                }
            }
            """#,
            #"""
            final class Trip {
                var count: Int? {
                    didSet {
                        if let count, count > 1 { log(count) }
                        guard let count = count else { return }
                        log(count)
                    }
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }

                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }

                    set(_newValue) {
                        self._unobserved_count = _newValue
                        ({ () -> Swift.Void in
                                if let count, count > 1 {
                                    log(count)
                                }
                                            guard let count = self._unobserved_count else {
                                    return
                                }
                                            log(count)
                            })()
                    }
                }

                \#(safe)nonisolated(unsafe) private var _count: MortiseCore.NoStorage

                private static let _keyPath_count = MortiseCore.SharedKeyPath(\Trip.count)

                private var _unobserved_count: Int? {
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }
            }
            """#, .accessors)
    }

    @Test func closuresAndLocalFunctionsKeepTheirReferences() {
        expectExpansion(
            #"""
            final class Trip {
                @_PersistedProperty(0) var count = 0 {
                    didSet {
                        defer { count += 1 }
                        later { self.count = 2 }
                        func f() { count = 3 }
                    }
                }
            }
            """#,
            #"""
            final class Trip {
                var count {
                    didSet {
                        defer { count += 1 }
                        later { self.count = 2 }
                        func f() { count = 3 }
                    }
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }

                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }

                    set(_newValue) {
                        let _model = self
                        self._unobserved_count = _newValue
                        ({ () -> Swift.Void in
                                defer {
                                    self._unobserved_count += 1
                                }
                                            later {
                                    self.count = 2
                                }
                                            func f() {
                                    _model.count = 3
                                }
                            })()
                    }
                }

                \#(safe)nonisolated(unsafe) private var _count: MortiseCore.NoStorage

                private static let _keyPath_count = MortiseCore.SharedKeyPath(\Trip.count)

                private var _unobserved_count: Swift.Int {
                    @storageRestrictions(accesses: _modelState, initializes: _count)
                    init(initialValue) {
                        _modelState.initialize(at: 0, to: initialValue)
                        _count = MortiseCore.NoStorage()
                    }
                    get {
                        access(keyPath: Trip._keyPath_count.keyPath)
                        return _value(at: 0)
                    }
                    set {
                        _setValue(newValue, at: 0)
                    }
                    _modify {
                        yield &self[_slot: 0]
                    }
                }
            }
            """#, .accessors)
    }
}
