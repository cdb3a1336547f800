import Foundation
import Mortise

/// A required to-one relationship with a parent whose rule is nullify.
@Model
final class House {
    var name: String
    @Relationship(inverse: \Room.house) var rooms: [Room] = []
    @Relationship(deleteRule: .cascade, inverse: \Lamp.house) var lamps: [Lamp]? = []
    @Relationship(deleteRule: .deny, inverse: \Tenant.house) var tenants: [Tenant] = []
    @Relationship(deleteRule: .noAction, inverse: \Meter.house) var meters: [Meter] = []
    @Relationship(inverse: \Key.house) var key: Key?
    @Relationship(inverse: \Poster.house) var posters: [Poster] = []

    init(name: String) { self.name = name }
}

@Model
final class Room {
    var name: String
    var house: House
    init(name: String, house: House) {
        self.name = name
        self.house = house
    }
}

@Model
final class Lamp {
    var watts: Int
    var house: House
    init(watts: Int, house: House) {
        self.watts = watts
        self.house = house
    }
}

@Model
final class Tenant {
    var name: String
    var house: House?
    init(name: String) { self.name = name }
}

@Model
final class Meter {
    var reading: Int
    var house: House?
    init(reading: Int) { self.reading = reading }
}

/// One to one, both sides optional.
@Model
final class Key {
    var number: Int
    var house: House?
    init(number: Int) { self.number = number }
}

/// The plain case: an optional to-one whose parent nullifies.
@Model
final class Poster {
    var title: String
    var house: House?
    init(title: String) { self.title = title }
}

/// Refers to itself to one and to many, and to many of its own both ways.
@Model
final class Node {
    var name: String
    var next: Node?
    @Relationship(deleteRule: .cascade, inverse: \Node.parent) var children: [Node] = []
    var parent: Node?
    @Relationship(inverse: \Node.admirers) var heroes: [Node] = []
    var admirers: [Node] = []

    init(_ name: String, parent: Node? = nil) {
        self.name = name
        self.parent = parent
    }
}

/// A list of which each element owns the next one.
@Model
final class Link {
    var number: Int
    @Relationship(deleteRule: .cascade, inverse: \Link.previous) var next: Link?
    var previous: Link?

    init(_ number: Int) { self.number = number }
}

/// Its required relationship has no inverse.
@Model
final class Letter {
    var text: String
    var house: House

    init(_ text: String, to house: House) {
        self.text = text
        self.house = house
    }
}

func householdContainer() throws -> ModelContainer { try memory(House.self, Node.self, Link.self, Letter.self) }
