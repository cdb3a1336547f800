// Models as people write them. No setting of the compiler has anything to say of them.
import Foundation
import SwiftData

public enum Kind: String, Codable, Sendable { case some, other }
public struct Place: Codable, Hashable, Sendable { public var height = 0.0 }
struct Failure: Error {}

@Model public final class Journey {
    @Attribute(.unique) public var name: String
    public var count = 0 { didSet { if count > 10 { count = 10 } } }
    public var kind: Kind = Kind.some
    public var place: Place?
    public var tags: [String] = []
    public var when: Date {
        willSet { precondition(newValue.timeIntervalSince1970 > 0) }
        didSet {
            func repair() { when = Date(timeIntervalSince1970: 1) }
            if oldValue == when { repair() }
        }
    }
    @Relationship(deleteRule: .cascade, inverse: \Halt.journey) public var halts: [Halt] = []
    @Transient var scratch: [Int] = []
    #Unique<Journey>([\.name, \.count])
    #Index<Journey>([\.when])

    public init(name: String, fails: Bool) throws {
        self.name = name
        self.when = Date(timeIntervalSince1970: 2)
        if fails { throw Failure() } else { return }
    }

    public init?(name: String, number: Int) {
        self.name = name
        when = Date(timeIntervalSince1970: 2)
        switch number {
        case 0: return nil
        default:
            count = 3
            return
        }
    }

    convenience init(later: Int) throws {
        try self.init(name: "later", fails: false)
        count = later
    }

    deinit { count = 3 }
}

@Model public final class Halt {
    public var journey: Journey?
    var friends: [Halt] = []
    var identifier = UUID()
    var price: Decimal?
    var implicit: Int!
    var nested: [[Int]] = []
    var pairs: [String: Place] = [:]
    init() {}
}

@Model public class Vehicle {
    public var wheels: Int = 4
    init() {}
}

@Model public final class Truck: Vehicle {
    public var load: String { didSet { _ = load } }
    init(load: String) {
        self.load = load
        super.init()
    }
}

@Model final class Conditional {
    var value = 0
    #if os(Linux)
    #Unique<Conditional>([\.value])
    init() { value = 1 }
    #else
    #Index<Conditional>([\.value])
    init(value: Int) { self.value = value }
    #endif
}

@Model final class WithoutPlainInitializer {
    var value = 0
    #if DEBUG && !DEBUG
    init(value: Int) { self.value = value }
    #endif
}

@Model final class Defaults {
    var chosen: Int = if MemoryLayout<Int>.size > 4 { 1 } else { 2 }
    var text: String =
        switch MemoryLayout<Int>.size {
        case 8: "wide"
        default: "narrow"
        }
    var spelled: Optional<Int>
    @Transient var late: Optional<Int> = nil
    var `my name` = 4 { didSet { _ = `my name` } }
    var `class`: Int?
    var modelState = 1
    var a = 0
    var _a: Int { a }
    init() {
        spelled = 3
        `my name` = 5
    }
}

@Model public class Owner {
    @Attribute(.unique) var `my key` = 4
    @Attribute(.unique) @Attribute(originalName: "before") var `class` = 4
    var options: [Int] = []
    typealias Cars = [Car]
    @Relationship(deleteRule: .cascade, inverse: \Car.owner) var cars: Cars = []
    @Relationship(inverse: \Thing.holder) var bikes: [Bike]? = []
    init() {}
}

@Model class Thing {
    var holder: Owner?
    init() {}
}

@Model final class Bike: Thing {
    @Attribute(.unique) var number = 4
    override init() { super.init() }
}

@Model final class Car {
    var owner: Owner?
    init() {}
}

@Model final class Options {
    @Attribute(.externalStorage) var image: Foundation.Data?
    @Attribute(.externalStorage) var preview = Data()
    @Attribute(.externalStorage, .transformable(by: "Codes")) var codes: [String] = []
    @Attribute(originalName: "text") var title = ""
    @Attribute(originalName: "title") var text = ""
    @Relationship(minimumModelCount: 0, maximumModelCount: 1) var halt: Halt?
    @Relationship(minimumModelCount: 1, maximumModelCount: 9) var halts: [Halt]? = []
    #Unique<Options>([\.title], [\.title, \.text])
    #Index<Options>([\.title], [\.title, \.text], [\.text, \.title])
    #Index<Options>(.binary([\.text]), .rtree([\.text]))
    init() {}
}

enum Hidden {
    struct Int {}
    struct Bool {}
    struct String {}
    final class KeyPath {}
    enum Result {}

    @Model class ModelType {
        var text: Swift.String = "x" { didSet { _ = oldValue } }
        var number: Swift.Int = 3
        init() {}
    }
}

enum Edition {
    @Model final class Volume {
        #Unique<Edition.Volume>([\Edition.Volume.title])
        #Index<Edition.Volume>([\Edition.Volume.title, \.number])
        var title: String
        var number = 0
        @Relationship(deleteRule: .cascade, inverse: \Edition.Page.volume) var pages: [Edition.Page] = []
        init(title: String) { self.title = title }
    }
    @Model final class Page {
        var volume: Edition.Volume?
        var unset = UUID(uuidString: "-") { didSet { _ = unset } }
        var rows = Array(repeating: 0, count: 3) { didSet { _ = rows } }
        var marks = Set([1]) { didSet { _ = marks } }
        init() {
            unset = nil
            rows = [1]
        }
        deinit { marks = [] }
    }
}

@Model final class Capturing {
    var name = "x" { didSet { _ = name } }
    @Relationship(deleteRule: .cascade) var parts = [Part]()
    @Transient var act: (() -> Void)?
    @Transient var add: ((Int) -> Int)?
    init(_ text: String) throws {
        name = text
        let offset = 3
        let plain: () -> Int = { [offset] in offset }
        act = { [weak self] in self?.name = "y" }
        add = { [offset, plain] number in number + offset + plain() }
        [1, 2].forEach { [unowned self] _ in name += "z" }
        _ = try [1].map { [offset] number throws -> Int in number + offset }
        if text.isEmpty { run { [self] in name = "w" } }
    }
    init(conditions number: Int, numbers: [Int]?) {
        if [1, 2].contains(where: { [number] in $0 == number }) { name = "y" }
        guard [1, 2].contains(where: { [number] in $0 == number }) || number > 1 else { return }
        while [1, 2].contains(where: { [number] in $0 == number }), name.isEmpty { name += "z" }
        let chosen = if number > 0 { [1].map { [number] in $0 + number } } else { [2] }
        let text: String? = numbers?.first.map { [number] in $0 + number }?.description
        name = text ?? chosen.description
    }
    private func run(_ body: @escaping () -> Void) { body() }
    deinit {
        let last = name
        run(last) { [last] in _ = last }
        if [1, 2].contains(where: { [last] in last.count == $0 }) { _end() }
    }
    private func _end() {}
    private func run(_ text: String, _ body: @escaping @Sendable () -> Void) { body() }
}

@Model final class Part {
    var number = 0
    init() {}
}

nonisolated func stop() -> Never { fatalError() }

@Model final class Ending {
    var part: Part?
    var number: Int
    init(stopping part: Part) {
        self.part = part
        number = 1
        stop()
    }
    init(part: Part, number: Int) {
        self.part = part
        if number > 0 { self.number = number } else { stop() }
    }
    init?(part: Part, isLate: Bool) {
        self.part = part
        if isLate {
            number = 1
            return
        }
        return nil
    }
}

@Model class Outdated {
    @available(*, deprecated, message: "Use 'number'.") var count = 0
    @available(*, deprecated) var text: String { didSet { _ = text } }
    var number = 0
    init() { text = "" }
}

@Model final class Renewed: Outdated {
    @available(*, deprecated) @Attribute(originalName: "before") var `old name`: Int?
    override init() { super.init() }
}

nonisolated class Plain {
    init() {}
    func end() {}
    deinit { end() }
}

@Model final class Ended: Plain {
    var number = 0
    init(number: Int) {
        super.init()
        self.number = number
    }
    override func end() { number = 0 }
}

@Model class Person {
    @Relationship(inverse: \Badge.employee) var badge: Badge?
    init() {}
}

@Model final class Employee: Person {
    @Relationship(inverse: \Badge.holder) var badges: [Badge] = []
    override init() { super.init() }
}

@Model final class Badge {
    var employee: Employee?
    var holder: Person?
    init() {}
}

@ModelActor actor Importer {
    func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Journey>()) }
}
