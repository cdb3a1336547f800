import Foundation
import Mortise

/// Unique, with members that go with it, and with places that are unique within it.
@Model
final class Team {
    @Attribute(.unique) var code: String
    var title: String
    @Relationship(deleteRule: .cascade, inverse: \Worker.team) var workers: [Worker] = []
    @Relationship(deleteRule: .cascade, inverse: \Post.team) var posts: [Post] = []
    var best: Worker?

    init(_ code: String, _ title: String = "") {
        self.code = code
        self.title = title
    }
}

/// Unique, and related to its own kind in every way.
@Model
final class Worker {
    @Attribute(.unique) var number: Int
    var name: String
    var nick: String?
    var team: Team?
    var boss: Worker?
    @Relationship(inverse: \Worker.boss) var reports: [Worker] = []
    var friend: Worker?
    @Relationship(inverse: \Worker.friend) var friendOf: Worker?
    var peers: [Worker] = []

    init(_ number: Int, _ name: String, _ team: Team? = nil) {
        self.number = number
        self.name = name
        self.team = team
    }
}

/// Unique together with a related model.
@Model
final class Post {
    #Unique<Post>([\.number, \.team])
    var number: Int
    var name: String
    var team: Team?

    init(_ number: Int, _ name: String, _ team: Team?) {
        self.number = number
        self.name = name
        self.team = team
    }
}

/// Cannot be saved while its nut is on no bolt.
@Model
final class Bolt {
    @Relationship(inverse: \Nut.bolt) var nut: Nut
    init(_ nut: Nut) { self.nut = nut }
}

@Model
final class Nut {
    var bolt: Bolt?
    init() {}
}

/// Runs something while it is being saved: its transformer is asked after unique values are settled.
@Model
final class Racer {
    @Attribute(.transformable(by: "StaffRacing")) var names: [String]
    init(_ names: [String]) { self.names = names }
}

final class StaffRacing: ValueTransformer {
    @TaskLocal static var race: (@Sendable () -> Void)?

    override func transformedValue(_ value: Any?) -> Any? {
        Self.race?()
        return (value as? [String]).map { Data($0.joined(separator: ",").utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self).split(separator: ",").map(String.init) }
    }
}

/// In the schema of no container here.
@Model
final class Visitor {
    var team: Team?
    init() {}
}

/// The stores that a rule of contexts has to hold on.
enum StoreKind: String, CaseIterable {
    case memory, json, log
}

func staffContainer(_ kind: StoreKind, _ folder: Folder) throws -> ModelContainer {
    let place = kind == .memory ? UUID().uuidString : folder.path("staff.\(kind)")
    ValueTransformer.setValueTransformer(StaffRacing(), forName: NSValueTransformerName("StaffRacing"))
    return try ModelContainer(
        for: Team.self, Worker.self, Post.self, Bolt.self, Racer.self, store: "\(kind):\(place)")
}
