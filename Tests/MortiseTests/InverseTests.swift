import Foundation
import Mortise
import PackageTestSupport
import Testing

/// Which relationships are each other's inverse where nobody says so, and what becomes of links that a store keeps for
/// relationships that no longer are.
@Suite struct InverseTests {
    @Test func twoArraysAreTwoLists() throws {
        let container = try memory(TwoLists.Item.self)
        let context = ModelContext(container)
        let item = TwoLists.Item("i")
        let other = TwoLists.Other("o")
        context.insert(item)
        context.insert(other)
        item.others = [other]
        #expect(other.items.isEmpty)
        other.items = [item]
        item.others = []
        try context.save()
        let stored = try onlyModel(TwoLists.Other.self, in: ModelContext(container))
        #expect(stored.items.map(\.name) == ["i"] && stored.items[0].others.isEmpty)
        #expect(container.schema.entitiesByName["Item"]?.relationships.map(\.inverseName) == [nil])
    }

    @Test func anArrayAndOneAreInverse() throws {
        let context = ModelContext(try memory(OneAndMany.Item.self))
        let item = OneAndMany.Item("i")
        context.insert(item)
        item.others = [OneAndMany.Other("o")]
        #expect(item.others[0].item === item)
    }

    /// Earlier versions took two arrays for each other's inverse, and their stores kept one of the sides.
    @Test(arguments: ["json", "log", "compacted log"])
    func bothSidesKeepWhatAnEarlierVersionLinked(kind: String) throws {
        let folder = try Folder()
        var random = SeededGenerator(seed: testSeed())
        let url = folder.url.appending(path: kind == "json" ? "a.json" : "a.store")
        var links: [String: Set<String>] = [:]
        do {
            let container = try ModelContainer(
                for: Linked.Item.self, configurations: ModelConfiguration(url: url))
            let context = ModelContext(container)
            let items = (0..<20).map { $0 % 3 == 0 ? Linked.Special("item\($0)") : Linked.Item("item\($0)") }
            let others = (0..<15).map { Linked.Other("other\($0)") }
            for model in items { context.insert(model) }
            for model in others { context.insert(model) }
            try context.save()
            for item in items {
                item.others = others.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
                if Bool.random(using: &random) { try context.save() }
            }
            context.delete(items[7])
            try context.save()
            for item in items where item !== items[7] { links[item.name] = Set(item.others.map(\.name)) }
            if kind == "compacted log" { try container.store(AppendLogStore.self)?.compact() }
            try container.close()
        }
        func check(_ context: ModelContext) throws {
            let items = try context.fetch(FetchDescriptor<TwoLists.Item>())
            #expect(Dictionary(uniqueKeysWithValues: items.map { ($0.name, Set($0.others.map(\.name))) }) == links)
            for other in try context.fetch(FetchDescriptor<TwoLists.Other>()) {
                let owners = links.filter { $0.value.contains(other.name) }.map(\.key)
                #expect(Set(other.items.map(\.name)) == Set(owners), "\(other.name)")
                #expect(other.items.count == owners.count)
            }
        }
        for pass in 0..<3 {
            let container = try ModelContainer(
                for: TwoLists.Item.self, configurations: ModelConfiguration(url: url, allowsSave: pass > 0))
            let context = ModelContext(container)
            try check(context)
            if pass > 0 {
                // A save writes the lists as they are now.
                let item = try #require(try context.fetch(FetchDescriptor<TwoLists.Item>()).first)
                let other = TwoLists.Other("new\(pass)")
                item.others.append(other)
                try context.save()
                links[item.name]?.insert(other.name)
                let stored = try context.fetch(FetchDescriptor<TwoLists.Other>()).first { $0.name == other.name }
                #expect(stored?.items.isEmpty == true)
                context.delete(other)
                try context.save()
                links[item.name]?.remove(other.name)
            }
            try container.close()
        }
    }

    /// `leading` alone named `\Plant.yard`, and now `trailing` names it too.
    @Test(arguments: ["a.json", "a.store"])
    func aListWhoseInverseIsSharedNowKeepsItsMembers(name: String) throws {
        let folder = try Folder()
        let url = folder.url.appending(path: name)
        do {
            let container = try ModelContainer(for: Before.Yard.self, configurations: ModelConfiguration(url: url))
            let context = ModelContext(container)
            let yard = Before.Yard("y")
            context.insert(yard)
            yard.leading = [Before.Plant("a"), Before.Plant("b")]
            yard.trailing = [Before.Plant("c")]
            try context.save()
            try container.close()
        }
        let container = try ModelContainer(for: Shared.Yard.self, configurations: ModelConfiguration(url: url))
        let yard = try onlyModel(Shared.Yard.self, in: ModelContext(container))
        #expect(yard.leading.map(\.name).sorted() == ["a", "b"])
        #expect(yard.trailing.map(\.name) == ["c"])
        #expect(yard.leading.allSatisfy { $0.yard === yard } && yard.trailing[0].yard == nil)
        try container.close()
    }
}

private enum TwoLists {
    @Model class Item {
        var name: String
        var others: [Other] = []
        init(_ name: String) { self.name = name }
    }
    @Model final class Special: Item {
        var extra: Int = 0
        override init(_ name: String) { super.init(name) }
    }
    @Model final class Other {
        var name: String
        var items: [Item] = []
        var specials: [Special] = []
        init(_ name: String) { self.name = name }
    }
}

private enum Linked {
    @Model class Item {
        var name: String
        @Relationship(inverse: \Other.items) var others: [Other] = []
        init(_ name: String) { self.name = name }
    }
    @Model final class Special: Item {
        var extra: Int = 0
        override init(_ name: String) { super.init(name) }
    }
    @Model final class Other {
        var name: String
        var items: [Item] = []
        var specials: [Special] = []
        init(_ name: String) { self.name = name }
    }
}

private enum OneAndMany {
    @Model final class Item {
        var name: String
        var others: [Other] = []
        init(_ name: String) { self.name = name }
    }
    @Model final class Other {
        var name: String
        var item: Item?
        init(_ name: String) { self.name = name }
    }
}

private enum Before {
    @Model final class Yard {
        var name: String
        @Relationship(inverse: \Plant.yard) var leading: [Plant] = []
        var trailing: [Plant] = []
        init(_ name: String) { self.name = name }
    }
    @Model final class Plant {
        var name: String
        var yard: Yard?
        init(_ name: String) { self.name = name }
    }
}

enum Shared {
    @Model final class Yard {
        var name: String
        @Relationship(inverse: \Plant.yard) var leading: [Plant] = []
        @Relationship(inverse: \Plant.yard) var trailing: [Plant] = []
        init(_ name: String) { self.name = name }
    }
    @Model final class Plant {
        var name: String
        var yard: Yard?
        init(_ name: String) { self.name = name }
    }
    @Model final class Match {
        var name: String
        @Relationship(inverse: \Team.matches) var home: Team?
        @Relationship(inverse: \Team.matches) var away: Team?
        init(_ name: String) { self.name = name }
    }
    @Model final class Team {
        var name: String
        var matches: [Match] = []
        init(_ name: String) { self.name = name }
    }
    @Model final class Hive {
        var name: String
        @Relationship(inverse: \Bee.hive) var workers: [Bee] = []
        @Relationship(deleteRule: .cascade, inverse: \Bee.hive) var queen: Bee?
        init(_ name: String) { self.name = name }
    }
    @Model final class Bee {
        var name: String
        var hive: Hive?
        init(_ name: String) { self.name = name }
    }
}
