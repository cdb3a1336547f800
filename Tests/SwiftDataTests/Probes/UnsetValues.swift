// Values that initializers do not set, and what the compiler says of each, at the line that follows the comment.
import Foundation
import SwiftData

@Model final class Leg {
    init() {}
}

@Model final class Forgetful {
    var count: Int
    var name: String { didSet { _ = name } }
    var leg: Leg
    var next: Leg?
    init(count: Int, name: String) {
        self.count = count
        self.name = name
        // error: return from initializer without initializing all stored properties
    }

    init(leg: Leg) {
        self.leg = leg
        name = ""
        // error: return from initializer without initializing all stored properties
    }

    init(leg: Leg, early: Bool) throws {
        self.leg = leg
        count = 0
        if early {
            // error: return from initializer without initializing all stored properties
            return
        }
        throw CancellationError()
    }
}
