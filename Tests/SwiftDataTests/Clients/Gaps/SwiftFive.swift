// What Swift 6 itself refuses, and Swift 5 warns of.
import SwiftData

// RealmVsSwiftData
@Model final class Constant {
    @Attribute(.unique) let id: UUID
    let kind: String = "kind"
    var n: Int
    init(n: Int) {
        id = UUID()
        self.n = n
    }
}
// A relationship that is set once, before the rest.
@Model final class Leg {
    let journey: Journey?
    var n: Int
    init(journey: Journey?, n: Int) {
        self.journey = journey
        self.n = n
    }
}
@Model final class Journey {
    @Relationship(inverse: \Leg.journey) var legs: [Leg] = []
    init() {}
}
// EveSwiftData: its classes are not final.
@Model class Open: Sendable {
    var n: Int
    init(n: Int) { self.n = n }
}
// enchanted
@Model class Vouched {
    var n: Int
    init(n: Int) { self.n = n }
}
extension Vouched: @unchecked Sendable {}
// VaultTracker
@MainActor @Model final class Asset: Sendable {
    var n: Int
    init(n: Int) { self.n = n }
}
@MainActor @Model final class Shown {
    var n: Int
    init(n: Int) { self.n = n }
}

@MainActor func checkSwiftFive(_ container: ModelContainer) throws {
    let context = container.mainContext
    let constant = Constant(n: 1)
    let id = constant.id
    context.insert(constant)
    context.insert(Shown(n: 2))
    let journey = Journey()
    context.insert(journey)
    let leg = Leg(journey: journey, n: 3)
    check(journey.legs == [leg] && leg.modelContext === context, "a let that holds a model is linked")
    context.insert(Open(n: 4))
    context.insert(Vouched(n: 5))
    context.insert(Asset(n: 6))
    try context.save()
    let stored = ModelContext(container)
    check(try stored.fetch(FetchDescriptor<Journey>()).map { $0.legs.map(\.n) } == [[3]], "a let that holds a model")
    check(try stored.fetch(FetchDescriptor<Open>()).map(\.n) == [4], "Sendable, not final")
    check(try stored.fetch(FetchDescriptor<Vouched>()).map(\.n) == [5], "Sendable in an extension")
    check(try stored.fetch(FetchDescriptor<Asset>()).map(\.n) == [6], "@MainActor and Sendable")
    let found = try ModelContext(container).fetch(FetchDescriptor<Constant>(predicate: #Predicate { $0.id == id }))
    check(found.map(\.n) == [1] && found[0].id == id && found[0].kind == "kind", "let")
    check(try ModelContext(container).fetch(FetchDescriptor<Shown>()).map(\.n) == [2], "@MainActor")
}
let swiftFiveModels: [any PersistentModel.Type] = [
    Constant.self, Shown.self, Leg.self, Journey.self, Open.self, Vouched.self, Asset.self,
]
