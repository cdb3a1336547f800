import Foundation
import Mortise
import Testing

private enum Made {
    enum Kind: String, Codable { case oak, elm, fir }
    @Model final class Leaf {
        var number: Int
        var kind: Kind
        init(number: Int, kind: Kind = .oak) {
            self.number = number
            self.kind = kind
        }
    }
    @Model final class Tree {
        var leaves: [Leaf] = []
        init() {}
    }
}

/// The same models in a program that does not know all kinds.
private enum Opened {
    enum Kind: String, Codable { case oak, elm }
    @Model final class Leaf {
        var number: Int
        var kind: Kind
        init(number: Int, kind: Kind = .oak) {
            self.number = number
            self.kind = kind
        }
    }
    @Model final class Tree {
        var leaves: [Leaf] = []
        init() {}
    }
}

@Suite struct UnreadableMemberTests {
    /// A getter leaves out a record that it cannot decode. What is saved next must not take it out of the list for good.
    @Test(arguments: ["json", "log"], [true, false]) func staysInItsList(kind: String, isAppended: Bool) throws {
        let folder = try Folder()
        let url = "\(kind):\(folder.path("trees"))"
        var container = try ModelContainer(for: Made.Leaf.self, Made.Tree.self, store: url)
        var context = ModelContext(container)
        let tree = Made.Tree()
        context.insert(tree)
        tree.leaves = [Made.Leaf(number: 0), Made.Leaf(number: 1, kind: .fir), Made.Leaf(number: 2)]
        try context.save()
        try container.close()

        container = try ModelContainer(for: Opened.Leaf.self, Opened.Tree.self, store: url)
        context = ModelContext(container)
        let found = try #require(try context.fetch(FetchDescriptor<Opened.Tree>()).first)
        let added = Opened.Leaf(number: 9)
        if isAppended { found.leaves.append(added) } else { found.leaves = [added] }
        #expect {
            try context.save()
        } throws: {
            guard case .invalidStoredValue("Leaf", "kind", _, "\"fir\"")? = $0 as? ModelContextError else {
                return false
            }
            return true
        }
        // The error is thrown once. What can be saved is.
        try context.save()
        try container.close()

        container = try ModelContainer(for: Made.Leaf.self, Made.Tree.self, store: url)
        let kept = try #require(try ModelContext(container).fetch(FetchDescriptor<Made.Tree>()).first)
        #expect(kept.leaves.map(\.number).sorted() == (isAppended ? [0, 1, 2, 9] : [1, 9]))
        try container.close()
    }
}
