// Mistakes in models, and what the compiler says of each, at the line that follows the comment. Nothing else is said.
import Foundation
import Observation
import SwiftData

struct Unstorable {}
class PlainClass {}
struct Kept: Codable {}
enum Raw: String { case some, other }
protocol Named {}
@propertyWrapper nonisolated struct Clamped { var wrappedValue: Int }

@Model final class Stop {
    var trip: Trip?
    var name = ""
    private var hidden: Trip?
    init() {}
}

@Model final class Trip {
    var stops: [Stop] = []
    init() {}
}

@Model final class Types {
    // error: a tuple cannot be stored; use a Codable struct or enum
    var tuple: (Int, Int) = (1, 2)
    // error: a value of type 'Any' cannot be stored
    var anything: Any = 1
    // error: a value of type 'Any' cannot be stored
    var list: [Any] = []
    // error: a value of type 'any Codable' cannot be stored
    var existential: (any Codable)?
    // error: a value of type 'some Codable' cannot be stored
    var opaque: some Codable = 1
    // error: an optional of an optional cannot be stored
    var twice: Int?? = 3
    // error: a function cannot be stored
    var function: () -> Void = {}
    // error: cannot be stored: make its type Codable, or mark the property '@Transient'
    var unstorable: Unstorable = Unstorable()
    // error: cannot be stored: make its type Codable, or mark the property '@Transient'
    var maybe: Unstorable?
    // error: cannot be stored: make its type Codable, or mark the property '@Transient'
    var classes: [PlainClass] = []
    // error: cannot be stored: make its type Codable, or mark the property '@Transient'
    var pairs: [String: Any] = [:]
    // error: cannot be stored: make its type Codable, or mark the property '@Transient'
    var raw: Raw = Raw.some
    // error: cannot be stored: make its type Codable, or mark the property '@Transient'
    var perhaps: Raw?
    // error: a to-many relationship is an array of models: write '[Model]', not '[Model?]'
    var optionals: [Stop?] = []
    // error: a to-many relationship is an array of models: write '[Model]', not 'Set<Model>'
    var set: Set<Stop> = []
    // error: a to-many relationship is an array of models: write '[Model]', not a dictionary
    var dictionary: [String: Stop] = [:]
    // error: 'untyped' needs a type annotation; write 'var untyped: Type'
    // error: empty collection literal requires an explicit type
    var untyped = []
    init() {}
}

@Model final class Forms {
    // error: a property that the store keeps cannot be 'lazy'
    lazy var late = 1
    // error: a property that the store keeps cannot be 'weak'
    weak var other: Stop?
    // error: '@Model' needs each property in a declaration of its own
    var first = 1, second = 2
    // error: '@Model' observes each property that the store keeps; write '@Transient'
    @ObservationIgnored var ignored = 0
    // error: a property that the store keeps belongs to the model's context and not to an actor; remove '@MainActor'
    @MainActor var isolated = 1
    // error: property wrapper cannot be applied to a computed property
    // error: property wrapper cannot be applied to a computed property
    @Clamped var clamped = 0
    // error: 'modelContext' is a member of 'PersistentModel'; give the property another name
    var modelContext = 0
    // error: a '@Transient' property needs an initial value or an optional type
    @Transient var spelled: Optional<Int>
    // error: a '@Transient' property needs an initial value or an optional type
    @Transient let constant: Int
    // error: 'name' cannot be '.unique' and '.ephemeral', because the store keeps no value to compare
    @Attribute(.unique, .ephemeral) var name = ""
    // error: 'tags' cannot be '.unique', because it holds many values
    @Attribute(.unique) var tags: [String] = []
    @Attribute(originalName: "before") var after = 0
    // error: 'before' of the version before becomes 'after' already, and cannot become 'otherwise' as well
    @Attribute(originalName: "before") var otherwise = 0
    // warning: 'originalName' has no effect, because it is the property's name; remove it
    @Attribute(originalName: "renamed") var renamed = 0
    // error: a property that the store keeps cannot be named 'Type', because Swift has no key path to it
    var `Type` = 0
    // warning: '.externalStorage' has no effect on 'String?'; it is for 'Data'
    @Attribute(.externalStorage) var note: String?
    // warning: '.externalStorage' has no effect on 'Double'; it is for 'Data'
    @Attribute(.externalStorage) var inferred = 1.5
    // warning: '.externalStorage' has no effect on '[Data]'; it is for 'Data'
    @Attribute(.externalStorage) var parts: [Data] = []
    // error: cannot be stored: make its type Codable, or mark the property '@Transient'
    var observed: Unstorable = Unstorable() { didSet { _ = observed } }
    init() { constant = 1 }
}

@Model final class Relationships {
    // error: '@Relationship' is for a model, an optional model or an array of models: remove it, or write '@Attribute'
    @Relationship var kept: Kept?
    // error: '@Relationship' cannot hold 'String', which is not a model
    @Relationship var text: String = ""
    // error: the inverse holds no models: name the relationship of the other model that leads back
    @Relationship(inverse: \Stop.name) var byName: Stop?
    // error: the inverse cannot follow '\Trip.stops.first'; name a relationship of the other model itself
    @Relationship(inverse: \Trip.stops.first) var byPath: Trip?
    // error: value of type 'Stop' has no member 'journey'
    @Relationship(inverse: \Stop.journey) var unknown: Stop?
    // error: 'hidden' is inaccessible due to 'private' protection level
    @Relationship(inverse: \Stop.hidden) var inaccessible: [Stop] = []
    // error: type 'Schema.Relationship.DeleteRule' has no member 'remove'
    @Relationship(deleteRule: .remove, inverse: \Stop.trip) var rule: [Stop] = []
    // error: argument 'deleteRule' must precede argument 'inverse'
    @Relationship(inverse: \Stop.trip, deleteRule: .cascade) var order: [Stop] = []
    // error: type 'Schema.Attribute.Option' has no member 'uniqe'
    @Attribute(.uniqe) var misspelt = ""
    // error: cannot convert value of type 'Int' to expected argument type 'String'
    @Attribute(originalName: 3) var number = 0
    // error: the inverse needs the model it belongs to; write '\Stop.trip'
    @Relationship(deleteRule: .cascade, inverse: \.trip) var rootless: [Stop] = []
    // error: the inverse does not lead back here: name the relationship of the other model that does
    @Relationship(inverse: \Stop.trip) var elsewhere: [Stop] = []
    // error: '@Relationship' cannot hold '[any Named]'; a relationship is a model, an optional model or an array of models
    @Relationship var named: [any Named] = []
    // error: the inverse belongs to a model that this relationship does not hold: name a property of one that it holds
    @Relationship(inverse: \Trip.stops) var others: [Stop]? = []
    // error: the inverse belongs to a model that this relationship does not hold: name a property of one that it holds
    @Relationship(inverse: \Trip.stops) var another: Stop?
    // error: a to-many relationship is an array of models; write '[Stop]'
    @Relationship var set: Set<Stop> = []
    // error: 'minimumModelCount' cannot be -1; write a number from 0 on, or leave it out
    @Relationship(minimumModelCount: -1) var few: [Stop] = []
    // error: 'minimumModelCount' and 'maximumModelCount' limit an array of models: remove them, or write '[Model]'
    @Relationship(minimumModelCount: 1) var one: Stop?
    init() {}
}

@Model final class Constraints {
    // error: '#Unique' cannot follow '\.stop?.name'; name a property of 'Constraints' itself
    #Unique<Constraints>([\.stop?.name])
    // error: '#Index' cannot name 'tags', which holds many values
    #Index<Constraints>([\.tags])
    #if DEBUG || !DEBUG
    // error: 'shout' is not a stored property of 'Constraints'
    #Unique<Constraints>([\.shout])
    #endif
    // error: '#Unique<Stop>' is in the body of 'Constraints'; write '#Unique<Constraints>', or move it to 'Stop'
    #Unique<Stop>([\.name])
    // error: '#Unique' cannot name 'passing', which is '.ephemeral', because the store keeps no value to compare
    #Unique<Constraints>([\.count, \.passing])
    // warning: '#Index' has no effect on 'passing', which is '.ephemeral'; remove one of them
    #Index<Constraints>([\.passing])
    #Unique<Constraints>([\.count, \.text])
    #Index<Constraints>([\.count], [\.text, \.count])
    // warning: '#Unique' has '[\.text, \.count]' already; remove one of them
    #Unique<Constraints>([\.text, \.count])
    // warning: '#Index' has '[\.text, \.count]' already; remove one of them
    #Index<Constraints>([\.count, \.text], [\.text, \.count])
    // warning: '#Unique' has 'text' twice in one array; remove one of them
    #Unique<Constraints>([\.text, \.text])
    // error: '#Unique' takes arrays of key paths; write '[\.count]'
    #Unique<Constraints>(\.count)
    // error: '#Unique' takes arrays of key paths; write '[\.count]'
    // error: '#Unique' takes arrays of key paths; write '[\.text]'
    #Unique<Constraints>(\.count, \.text)
    // error: '#Index' takes arrays of key paths; write '[\.count]'
    #Index<Constraints>(\.count)
    // error: '#Unique' needs a key path
    #Unique<Constraints>()
    // error: '#Index' needs a key path
    #Index<Constraints>()
    // error: 'nothing' is not a stored property of 'Constraints'
    #Unique<Constraints>([\.nothing])
    // error: 'nothing' is not a stored property of 'Constraints'
    #Unique<Constraints>([\.count], [\.count, \.nothing])
    // error: 'nothing' is not a stored property of 'Constraints'
    #Index<Constraints>([\.count, \.nothing])
    // error: value of type 'Constraints' has no member 'nothing'
    #Unique<Constraints>([\Constraints.nothing])
    var count = 0
    var text = ""
    @Attribute(.ephemeral) var passing = 0
    var stop: Stop?
    var tags: [String] = []
    var shout: String { "" }
    init() {}
}

@Model class Parent {
    var count = 0
    init() {}
}

@Model final class Child: Parent {
    // error: '#Unique' cannot name 'count', which 'Child' overrides, because the key path leads to the override
    #Unique<Child>([\.count])
    override var count: Int { didSet { _ = count } }
    override init() { super.init() }
}

enum Generic<Value> {
    // error: a '@Model' class cannot be inside the generic 'Generic', because a store keeps one entity for each class
    @Model final class Inner {
        var count = 0
        init() {}
    }
}

#if swift(>=6)
@Model final class Constants {
    // error in Swift 6: a property that the store keeps cannot be 'let', because it is set when the model is fetched; write 'var'
    let constant: Int
    // error in Swift 6: a property that the store keeps cannot be 'let', because it is set when the model is fetched; write 'var'
    let identifier = UUID()
    init(constant: Int) { self.constant = constant }
}

// error in Swift 6: a '@Model' class belongs to its context and not to an actor; remove '@MainActor'
@MainActor @Model final class Isolated {
    var count = 0
    var list: [Int] = []
    init() {}
}
#endif

// error: '@Model' cannot be attached to an actor; declare the model as 'final class'
@Model actor Acting {
    var count = 0
    init() {}
}

// error: 'extension' macro cannot be attached to extension
@Model extension PlainClass {
    var count: Int { 0 }
}

@Model final class Backed {
    var count = 0
    // error: '@Model' adds 'init(backingData:)', which makes a model of stored values; remove this one
    init(backingData: any BackingData<Backed>) { count = 1 }
}

@Model class OpenlyBacked {
    var count = 0
    // error: '@Model' adds 'init(backingData:)', which makes a model of stored values; remove this one
    required init(backingData: any BackingData<OpenlyBacked>) { count = 1 }
}

@Model final class BackedChild: Parent {
    var number = 0
    // error: '@Model' adds 'init(backingData:)', which makes a model of stored values; remove this one
    required init(backingData: any BackingData<Parent>) { super.init() }
}

// error: '@Model' makes the class observable; remove '@Observable'
@Observable @Model final class Observed {
    var count = 0
    init() {}
}

@Model final class Namesake {
    // error: a property named like its class hides the class; give 'Namesake' another name
    var Namesake = 0
    @Attribute(.unique) var number = 0
    init() {}
}

nonisolated class PlainParent {
    init(count: Int) {}
}

@Model final class PlainChild: PlainParent {
    var number = 0
    override init(count: Int) { super.init(count: count) }
    // error: missing argument for parameter 'count' in call
}

@Model final class LimitedChild: Parent {
    #Unique<LimitedChild>([\.count, \.number])
    #Index<LimitedChild>([\.nothing])
    var number = 0
    override init() { super.init() }
    // error: value of type 'LimitedChild' has no member 'nothing'
}

func makeLocalModel() {
    // error: local type cannot have attached extension macro
    @Model final class Local {
        @Attribute(.unique) var number = 0
        @Relationship(inverse: \Local.back) var next: Local?
        var back: Local?
        init() {}
    }
}

// error: '@Model' is repeated on one class; remove one of them
@Model @Model final class Twice {
    var count = 0
    init() {}
}

// error: '@Model' requires an initializer, because some properties have no initial value
@Model final class WithoutInitializer {
    var count: Int
}

extension WithoutInitializer {
    convenience init(text: String) { self.init() }
}

// error: '@ModelActor' requires an initializer, because some properties have no initial value
@ModelActor actor Importer {
    let limit: Int
}
