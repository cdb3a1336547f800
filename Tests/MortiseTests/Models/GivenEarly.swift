import Foundation
import Mortise

@Model
class Carrier {
    var plate: String
    init(plate: String) { self.plate = plate }
}

/// A subclass whose own optional relationship is given before its superclass is initialized, as is usual.
@Model
final class Truck: Carrier {
    var depot: Depot?
    init(_ depot: Depot?) {
        self.depot = depot
        super.init(plate: "t")
    }
}

/// What the others here are given before they are complete.
@Model
final class Depot {
    var name: String
    @Relationship(inverse: \Truck.depot) var trucks: [Truck] = []
    @Relationship(inverse: \Stop.depot) var stops: [Stop] = []
    @Relationship(inverse: \Route.depots) var routes: [Route] = []
    @Relationship(inverse: \Sign.depot) var signs: [Sign] = []
    @Relationship(inverse: \Badge.depot) var badges: [Badge] = []
    init(_ name: String) { self.name = name }
}

/// The optional relationship is given before the property that needs a value.
@Model
final class Stop {
    var depot: Depot?
    var number: Int
    init(_ depot: Depot?, _ number: Int = 0) {
        self.depot = depot
        self.number = number
    }
}

/// The array has an initial value.
@Model
final class Route {
    var depots: [Depot] = []
    var number: Int
    init(_ depots: [Depot], _ number: Int = 0) {
        self.depots = depots
        self.number = number
    }
}

/// Swift gives an optional that is written so no initial value.
@Model
final class Sign {
    var depot: Optional<Depot>
    var number: Int
    init(_ depot: Depot?, _ number: Int = 0) {
        self.depot = depot
        self.number = number
    }
}

/// The type of the relationship is that of its initial value.
@Model
final class Badge {
    var depot = Depot("none")
    var number: Int
    init(_ depot: Depot, _ number: Int = 0) {
        self.depot = depot
        self.number = number
    }
}

func depotContainer() throws -> ModelContainer { try memory(Depot.self, Carrier.self, Truck.self) }

/// Models with names of scalars, which hide those here.
enum Play {
    @Model final class Character {
        var name: String
        @Relationship(inverse: \Scene.hero) var scenes: [Scene] = []
        init(_ name: String) { self.name = name }
    }
    @Model final class Scene {
        @Relationship var hero: Character
        var number: Int
        init(_ hero: Character, _ number: Int) {
            self.hero = hero
            self.number = number
        }
    }
    /// Nothing but the name says that this one has relationships.
    @Model final class Date {
        var place: String
        @Relationship(inverse: \Ticket.date) var tickets: [Ticket] = []
        init(_ place: String) { self.place = place }
    }
    @Model final class Ticket {
        var date: Date
        var number: Int
        init(_ date: Date, _ number: Int) {
            self.date = date
            self.number = number
        }
    }
}
