// What other people's sources do in their models, as found in twenty repositories. It compiles in both language modes.
import SwiftData

// SwiftSync
@Model final class Member {
    var n: Int
    init(n: Int) { self.n = n }
}
// SimplyPersist, enchanted
@Model final class Sent: @unchecked Sendable {
    var n: Int { didSet { seen += 1 } }
    @Transient var seen = 0
    init(n: Int) { self.n = n }
}
// EveSwiftData
@Model final class Promised: Sendable {
    var n: Int
    init(n: Int) { self.n = n }
}
@Model final class Spelled: PersistentModel, Sendable {
    var n: Int
    init(n: Int) { self.n = n }
}
// enchanted
@Model final class Derived {
    var n: Int
    @Transient var t: Int { n + 1 }
    init(n: Int) { self.n = n }
}
// 1mash0
@Model final class Soft {
    var n: Int
    var isDeleted: Bool = false
    var hasChanges: Int = 7
    init(n: Int) { self.n = n }
}
// Cork
@Model final class Twice {
    @Attribute(.unique) @Attribute(.spotlight, originalName: "m") var n: Int
    init(n: Int) { self.n = n }
}
// Apple's Backyard Birds
@Model final class Backyard {
    @Relationship(inverse: \Plant.backyard) var leading: [Plant] = []
    @Relationship(inverse: \Plant.backyard) var trailing: [Plant] = []
    init() {}
}
@Model final class Plant {
    var backyard: Backyard?
    init() {}
}
// Two apps that a string search found
@Model final class Archived {
    @Attribute(.transformable(by: "NSSecureUnarchiveFromData")) var tags: [String]
    @Attribute(.transformable(by: NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue)) var more:
        [Int]?
    init(tags: [String]) { self.tags = tags }
}
