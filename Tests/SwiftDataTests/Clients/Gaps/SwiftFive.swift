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
// VaultTracker
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
    try context.save()
    let found = try ModelContext(container).fetch(FetchDescriptor<Constant>(predicate: #Predicate { $0.id == id }))
    check(found.map(\.n) == [1] && found[0].id == id && found[0].kind == "kind", "let")
    check(try ModelContext(container).fetch(FetchDescriptor<Shown>()).map(\.n) == [2], "@MainActor")
}
let swiftFiveModels: [any PersistentModel.Type] = [Constant.self, Shown.self]
