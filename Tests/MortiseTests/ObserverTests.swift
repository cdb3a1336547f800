import Foundation
import Mortise
import Testing

/// What the observers of a test have to say.
nonisolated(unsafe) private var lines: [String] = []
private func say(_ words: Any...) { lines.append(words.map { "\($0)" }.joined(separator: " ")) }
private struct Failure: Error {}

/// Classes without `@Model`: Swift alone runs their observers. The classes of `Kept` have the same bodies.
private enum Plain {
    class Convenient {
        var a = 0 { didSet { say("a", oldValue, a) } }
        init() {}
        convenience init(x: Int) {
            self.init()
            a = x
            self.a += 1
        }
    }
    class Clamped {
        var v: Int { didSet { if v > 10 { v = 10 } } }
        init(v: Int) { self.v = v }
        init(configured: Int) {
            v = 0
            configure(configured)
        }
        convenience init(late: Int) {
            self.init(v: 0)
            v = late
        }
        func configure(_ x: Int) { v = x }
    }
    class Account {
        var balance = 0 { didSet { log.append("\(oldValue)->\(balance)") } }
        var log: [String] = []
        init(opening: Int) { deposit(opening) }
        func deposit(_ amount: Int) { balance += amount }
    }
    class Indirect {
        var a = 1 {
            willSet { say("will", newValue) }
            didSet { say("did", a) }
        }
        init() {
            let closure = { self.a = 5 }
            closure()
            [6, 7].forEach { a = $0 }
            self[keyPath: \Indirect.a] = 8
            let me = self
            me.a = 9
            func local() { a = 11 }
            local()
            a = 12
        }
    }
    class Base {
        var base = 1 { didSet { say("base", base) } }
        init() { hook() }
        func hook() { base = 2 }
    }
    class Derived: Base {
        var own = 3 { didSet { say("own", own) } }
        override init() {
            super.init()
            own = 50
            base = 51
        }
        override func hook() {
            own = 40
            base = 41
        }
    }
    class Throwing {
        var a: Int = 0 { didSet { say("a", a) } }
        init(fails: Bool) throws {
            a = 1
            defer { a = 2 }
            if fails { throw Failure() }
            a = 3
        }
    }
    class Going {
        var v = 0 { didSet { say("v", v) } }
        init() {}
        deinit {
            v = 3
            say("gone", v)
        }
    }
    class Found {
        var link = URL(string: "http://one") { didSet { say("link", link?.host ?? "-") } }
        var number = Int("5") { didSet { say("number", oldValue ?? 0, number ?? 0) } }
        var list = Array(repeating: 0, count: 2) { didSet { say("list", list) } }
        var names = Set(["a"]) { didSet { say("names", names) } }
        var key: UUID? = UUID(uuidString: "-") { didSet { say("key", key == nil) } }
        init() {}
    }
    class Mixed {
        var name: String {
            willSet { say("will", newValue) }
            didSet { say("did", oldValue, name) }
        }
        var tags: [String] = [] {
            didSet {
                func shorten() { if tags.count > 4 { tags.removeLast() } }
                say("tags", tags)
                shorten()
            }
        }
        var note: String? { didSet { say("note", note ?? "-") } }
        var count = 0 { didSet { say("count") } }
        init(name: String) {
            self.name = name
            tags.append("x")
            self.tags += ["y"]
            tags[0] = "z"
            note = name
            if let more = Optional(5) { count += more }
            for name in ["q"] { tags.append(name) }
        }
    }
}

private enum Kept {
    @Model class Convenient {
        var a = 0 { didSet { say("a", oldValue, a) } }
        init() {}
        convenience init(x: Int) {
            self.init()
            a = x
            self.a += 1
        }
    }
    @Model class Clamped {
        var v: Int { didSet { if v > 10 { v = 10 } } }
        init(v: Int) { self.v = v }
        init(configured: Int) {
            v = 0
            configure(configured)
        }
        convenience init(late: Int) {
            self.init(v: 0)
            v = late
        }
        func configure(_ x: Int) { v = x }
    }
    @Model class Account {
        var balance = 0 { didSet { log.append("\(oldValue)->\(balance)") } }
        var log: [String] = []
        init(opening: Int) { deposit(opening) }
        func deposit(_ amount: Int) { balance += amount }
    }
    @Model class Indirect {
        var a = 1 {
            willSet { say("will", newValue) }
            didSet { say("did", a) }
        }
        init() {
            let closure = { self.a = 5 }
            closure()
            [6, 7].forEach { a = $0 }
            self[keyPath: \Indirect.a] = 8
            let me = self
            me.a = 9
            func local() { a = 11 }
            local()
            a = 12
        }
    }
    @Model class Base {
        var base = 1 { didSet { say("base", base) } }
        init() { hook() }
        func hook() { base = 2 }
    }
    @Model class Derived: Base {
        var own = 3 { didSet { say("own", own) } }
        override init() {
            super.init()
            own = 50
            base = 51
        }
        override func hook() {
            own = 40
            base = 41
        }
    }
    @Model class Throwing {
        var a: Int = 0 { didSet { say("a", a) } }
        init(fails: Bool) throws {
            a = 1
            defer { a = 2 }
            if fails { throw Failure() }
            a = 3
        }
    }
    @Model class Going {
        var v = 0 { didSet { say("v", v) } }
        init() {}
        deinit {
            v = 3
            say("gone", v)
        }
    }
    @Model class Found {
        var link = URL(string: "http://one") { didSet { say("link", link?.host ?? "-") } }
        var number = Int("5") { didSet { say("number", oldValue ?? 0, number ?? 0) } }
        var list = Array(repeating: 0, count: 2) { didSet { say("list", list) } }
        var names = Set(["a"]) { didSet { say("names", names) } }
        var key: UUID? = UUID(uuidString: "-") { didSet { say("key", key == nil) } }
        init() {}
    }
    @Model class Mixed {
        var name: String {
            willSet { say("will", newValue) }
            didSet { say("did", oldValue, name) }
        }
        var tags: [String] = [] {
            didSet {
                func shorten() { if tags.count > 4 { tags.removeLast() } }
                say("tags", tags)
                shorten()
            }
        }
        var note: String? { didSet { say("note", note ?? "-") } }
        var count = 0 { didSet { say("count") } }
        init(name: String) {
            self.name = name
            tags.append("x")
            self.tags += ["y"]
            tags[0] = "z"
            note = name
            if let more = Optional(5) { count += more }
            for name in ["q"] { tags.append(name) }
        }
    }
}

/// Observers run where Swift runs them. A flag once kept them silent for the time of an initializer.
@Suite(.serialized) struct ObserverTests {
    private func said(_ body: () throws -> Void) rethrows -> [String] {
        lines = []
        try body()
        return lines
    }

    @Test func convenienceInitializersSetTheirOwnPropertiesDirectly() {
        let plain = said { say(Plain.Convenient(x: 3).a) }
        #expect(said { say(Kept.Convenient(x: 3).a) } == plain)
        #expect(plain == ["4"])
    }

    @Test(arguments: [5, 99]) func anInvariantHoldsForWhatAMethodSets(value: Int) {
        #expect(Kept.Clamped(v: value).v == Plain.Clamped(v: value).v)
        #expect(Kept.Clamped(configured: value).v == Plain.Clamped(configured: value).v)
        #expect(Kept.Clamped(late: value).v == Plain.Clamped(late: value).v)
        #expect(Kept.Clamped(configured: 99).v == 10)
        #expect(Kept.Account(opening: value).log == Plain.Account(opening: value).log)
    }

    @Test func whatIsNotSetDirectlyRunsObservers() {
        let plain = said { _ = Plain.Indirect() }
        #expect(said { _ = Kept.Indirect() } == plain)
        #expect(plain.contains("did 11") && !plain.contains("did 12"))
    }

    @Test func overriddenMethodsCalledByAnInitializerRunObservers() {
        let plain = said {
            let derived = Plain.Derived()
            say(derived.own, derived.base)
        }
        #expect(
            said {
                let derived = Kept.Derived()
                say(derived.own, derived.base)
            } == plain)
    }

    @Test(arguments: [false, true]) func aThrowingInitializerRunsNone(fails: Bool) {
        let plain = said { say((try? Plain.Throwing(fails: fails))?.a ?? -1) }
        #expect(said { say((try? Kept.Throwing(fails: fails))?.a ?? -1) } == plain)
    }

    @Test func deinitSetsPropertiesDirectly() throws {
        let plain = said { _ = Plain.Going() }
        #expect(said { _ = Kept.Going() } == plain)
        // A stored model that goes is no change of its context.
        let container = try ModelContainer(for: Kept.Going.self, store: "memory:")
        let context = ModelContext(container)
        context.insert(Kept.Going())
        try context.save()
        lines = []
        let reader = ModelContext(container)
        #expect(try reader.fetch(FetchDescriptor<Kept.Going>()).count == 1)
        #expect(lines == ["gone 3"])
        #expect(!reader.hasChanges)
        try reader.save()
        #expect(try ModelContext(container).fetch(FetchDescriptor<Kept.Going>()).map(\.v) == [0])
    }

    @Test func everyFormOfAccessIsAsInSwift() {
        let plain = said {
            let mixed = Plain.Mixed(name: "k")
            say(mixed.name, mixed.tags, mixed.count, mixed.note ?? "-")
            mixed.name = "w"
            mixed.tags += ["v", "u"]
            mixed.count = 4
        }
        #expect(
            said {
                let mixed = Kept.Mixed(name: "k")
                say(mixed.name, mixed.tags, mixed.count, mixed.note ?? "-")
                mixed.name = "w"
                mixed.tags += ["v", "u"]
                mixed.count = 4
            } == plain)
    }

    /// Bug: an initial value such as `URL(string:)` was taken for a value of the type that it names.
    @Test func observersReadWhatWasSetWhereTheInitialValueDoesNotTellTheType() {
        let plain = said {
            let found = Plain.Found()
            (found.link, found.number, found.list, found.names) = (nil, nil, [1], [])
            found.key = UUID()
            (found.link, found.number) = (URL(string: "http://two"), 6)
            found.list.append(2)
        }
        #expect(
            said {
                let found = Kept.Found()
                (found.link, found.number, found.list, found.names) = (nil, nil, [1], [])
                found.key = UUID()
                (found.link, found.number) = (URL(string: "http://two"), 6)
                found.list.append(2)
            } == plain)
        #expect(plain.contains("link -") && plain.contains("number 5 0"))
    }
}
