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

@Model final class Wandering {
    var leg: Leg
    var count: Int
    init(leg: Leg, early: Bool) {
        self.leg = leg
        if early { count = 1 }
        // error: return from initializer without initializing all stored properties
    }

    init(leg: Leg, number: Int) {
        self.leg = leg
        switch number {
        case 1: count = 1
        case 2:
            fallthrough;
        default:
            print(number)
            break
        }
        // error: return from initializer without initializing all stored properties
    }

    init(leg: Leg, numbers: [Int]) throws {
        self.leg = leg
        if numbers.isEmpty { throw CancellationError() } else if numbers.contains(1) { count = 3 }
        for number in numbers { count = number }
        // error: return from initializer without initializing all stored properties
    }

    init(leg: Leg, late: Bool) {
        if late {
            count = 3
            return
        }
        count = 4
        self.leg = leg
        // error: return from initializer without initializing all stored properties
    }
}
