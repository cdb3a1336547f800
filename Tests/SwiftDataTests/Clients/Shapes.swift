// Models of every shape that the macros tell apart. They are only compiled, for the text of their expansions.
import SwiftData

@Model final class Plain {
    @Attribute(.unique) var key: String
    @Attribute(.transformable(by: "names")) var tags: [String]?
    @Relationship(deleteRule: .cascade, inverse: \Part.whole) var parts: [Part] = []
    var size: Int = 1
    init(key: String) { self.key = key }
}

@Model final class Part {
    #Unique<Part>([\.name])
    #Index<Part>([\.name])
    var name: String = ""
    var whole: Plain?
}

protocol Named { var name: String { get } }

@Model open class Root: Named {
    public var name: String = "" {
        willSet { print(newValue) }
        didSet { print(oldValue) }
    }
    public init(name: String) { self.name = name }
    init?(text: String) { return nil }
}

@Model class Branch: Root {
    var width: Double {
        didSet { width += 1 }
    }
    init(width: Double) {
        self.width = width
        super.init(name: "")
    }
}

@Model final class Leaf: Branch {
    var isGreen = true
    init() { super.init(width: 1) }
}

@ModelActor public actor Keeper {}
