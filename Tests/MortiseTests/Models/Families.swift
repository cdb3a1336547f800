import Foundation
import Mortise

/// A parent with children under every delete rule: optional and required to-one, one to one, and many to many.
@Model
final class Guild {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Apprentice.guild) var apprentices: [Apprentice] = []
    @Relationship(deleteRule: .cascade, inverse: \Master.guild) var masters: [Master] = []
    @Relationship(deleteRule: .cascade, inverse: \Seal.guild) var seal: Seal?
    @Relationship(deleteRule: .cascade, inverse: \Fair.guilds) var fairs: [Fair] = []
    @Relationship(deleteRule: .deny, inverse: \Debt.guild) var debts: [Debt] = []
    @Relationship(deleteRule: .deny, inverse: \Court.guilds) var courts: [Court] = []
    @Relationship(deleteRule: .noAction, inverse: \Notice.guild) var notices: [Notice] = []

    init(_ name: String) { self.name = name }
}

@Model
final class Apprentice {
    var name: String
    var guild: Guild?
    init(_ name: String) { self.name = name }
}

/// The to-one is required and has no other side until the initializer ends.
@Model
final class Master {
    var name: String
    var guild: Guild
    init(_ name: String, _ guild: Guild) {
        self.name = name
        self.guild = guild
    }
}

@Model
final class Seal {
    var name: String
    var guild: Guild?
    init(_ name: String) { self.name = name }
}

@Model
final class Fair {
    var name: String
    var guilds: [Guild] = []
    init(_ name: String) { self.name = name }
}

@Model
final class Debt {
    var name: String
    var guild: Guild?
    init(_ name: String) { self.name = name }
}

@Model
final class Court {
    var name: String
    var guilds: [Guild] = []
    init(_ name: String) { self.name = name }
}

@Model
final class Notice {
    var name: String
    var guild: Guild?
    init(_ name: String) { self.name = name }
}

/// What its initializer is given reaches no setter: neither the required one nor the array without a default.
@Model
final class Voyage {
    var name: String
    var ship: Ship
    @Relationship(inverse: \Sailor.voyages) var crew: [Sailor]

    init(_ name: String, _ ship: Ship, crew: [Sailor] = []) {
        self.name = name
        self.ship = ship
        self.crew = crew
    }

    init?(named name: String?, _ ship: Ship) {
        guard let name else { return nil }
        self.name = name
        self.ship = ship
        self.crew = []
        if name.isEmpty { return }
        self.name = name + "!"
    }
}

@Model
final class Ship {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Voyage.ship) var voyages: [Voyage] = []
    init(_ name: String) { self.name = name }
}

@Model
final class Sailor {
    var name: String
    var voyages: [Voyage] = []
    init(_ name: String) { self.name = name }
}

/// A subclass whose own required relationship is given before its superclass is initialized.
@Model
class Errand {
    var name: String
    init(name: String) { self.name = name }
}

@Model
final class Delivery: Errand {
    var cart: Cart
    init(_ name: String, _ cart: Cart) {
        self.cart = cart
        super.init(name: name)
    }
}

@Model
final class Cart {
    @Relationship(deleteRule: .cascade, inverse: \Delivery.cart) var deliveries: [Delivery] = []
    init() {}
}

func familyContainer() throws -> ModelContainer { try memory(Guild.self, Voyage.self, Delivery.self, Studio.self) }

/// Holds prints by two relationships that take them with it, and by one that keeps it from being deleted.
@Model
final class Studio {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Print.studio) var prints: [Print] = []
    @Relationship(deleteRule: .cascade, inverse: \Print.archive) var archived: [Print] = []
    @Relationship(deleteRule: .deny, inverse: \Print.advertised) var poster: Print?
    init(_ name: String) { self.name = name }
}

@Model
final class Print {
    var title: String
    var studio: Studio?
    var archive: Studio?
    var advertised: Studio?
    init(_ title: String) { self.title = title }
}
