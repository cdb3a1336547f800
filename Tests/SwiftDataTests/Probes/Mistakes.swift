// Mistakes in models, and what the compiler says of each, at the line that follows the comment. Nothing else is said.
import Foundation
import Observation
import SwiftData

struct Unstorable {}
class PlainClass {}
struct Kept: Codable {}
@propertyWrapper nonisolated struct Clamped { var wrappedValue: Int }

@Model final class Stop {
    var trip: Trip?
    var name = ""
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
    // error: a to-many relationship is an array of models; write '[Stop]'
    @Relationship var set: Set<Stop> = []
    // error: 'minimumModelCount' cannot be -1; write a number from 0 on, or leave it out
    @Relationship(minimumModelCount: -1) var few: [Stop] = []
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
    var stop: Stop?
    var tags: [String] = []
    var shout: String { "" }
    init() {}
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

// error: '@ModelActor' requires an initializer, because some properties have no initial value
@ModelActor actor Importer {
    let limit: Int
}
