import Foundation
import MortiseCore

extension ConformanceCase {
    /// Items with something of everything, stored in the order of `itemNames`.
    static func storeItems(_ c: CaseContext) throws {
        let attic = Crate("attic")
        let inner = Crate("inner", outer: attic)
        let anvil = Item("anvil", size: 1, weight: 1.5, flag: true, rank: 1, note: "n")
        anvil.tags = ["a", "b"]
        anvil.numbers = [1, 2, 3]
        anvil.marks = ["a": 1]
        anvil.place = Place(name: "oslo", latitude: 59.9)
        anvil.branch = Place(name: "north", latitude: 1)
        anvil.day = Date(timeIntervalSinceReferenceDate: 0.25)
        let bell = Item("bell", size: 2, weight: 3)
        bell.tags = ["bar"]
        bell.place = Place(name: "oslofjord", latitude: 60)
        bell.branch = Place(name: "south", latitude: 2)
        bell.tint = .green
        let candle = Item("Candle", size: 3, weight: -2, flag: true, rank: 3, note: "")
        candle.numbers = [5]
        candle.marks = ["a": 2, "b": 1]
        candle.tint = .white
        let timber = Item("timber", size: 4, weight: .infinity, rank: 2, note: "N")
        timber.tags = ["c", "a"]
        timber.numbers = [3, 1]
        timber.marks = ["b": 5]
        let engine = SpecialItem("engine", size: 5, extra: 5)
        engine.tags = ["a"]
        engine.numbers = [2, 4]
        let écrin = Item("e\u{301}crin", size: 0, weight: .nan)
        écrin.marks = ["A": 1]
        let bellows = Item("bellows", size: 6, weight: 0.5, rank: 6, note: "50%")
        let horn = SpecialItem("horn", size: 7, extra: 1)
        let session = try c.session()
        let items = [anvil, bell, candle, timber, engine, écrin, bellows, horn]
        session.change("insert \(items.count) items in 2 crates") {
            for item in items { session.context.insert(item) }
            session.context.insert(inner)
            anvil.crate = inner
            bell.crate = attic
            horn.crate = inner
            anvil.peers = [bell, engine]
            timber.peers = [candle]
        }
        try session.save()
    }

    /// A case that asks for items with a predicate, and counts them, and takes their identifiers.
    static func query(
        _ id: String, level: Level = .core, _ requirement: String, hint: String, finds names: [String],
        _ predicate: @escaping @Sendable () -> Predicate<Item>
    ) -> ConformanceCase {
        query(id, level: level, requirement, hint: hint, finds: names, in: storeItems, \.name, predicate)
    }

    static func query<M: PersistentModel>(
        _ id: String, level: Level = .core, _ requirement: String, hint: String, finds names: [String],
        in store: @escaping @Sendable (CaseContext) throws -> Void,
        _ name: @escaping @Sendable (M) -> String, _ predicate: @escaping @Sendable () -> Predicate<M>
    ) -> ConformanceCase {
        ConformanceCase(id, level: level, requirement: requirement, hint: hint) { c in
            try store(c)
            let session = try c.session()
            let descriptor = FetchDescriptor<M>(predicate: predicate())
            try c.expect(try session.fetch(descriptor).map(name), is: names, "what matches:")
            try c.expect(try session.count(descriptor), is: names.count, "count of what matches:")
            try c.expect(try session.identifiers(descriptor).count, is: names.count, "identifiers of what matches:")
        }
    }

    /// A case whose predicate cannot be evaluated for one of the items.
    static func impossible(
        _ id: String, _ requirement: String, hint: String, _ expected: String,
        matching: @escaping @Sendable (QueryEvaluationError) -> Bool,
        _ predicate: @escaping @Sendable () -> Predicate<Item>
    ) -> ConformanceCase {
        ConformanceCase(id, level: .full, requirement: requirement, hint: hint) { c in
            try storeItems(c)
            let session = try c.session()
            try c.expectError(
                "QueryEvaluationError.\(expected)",
                matching: { ($0 as? QueryEvaluationError).map(matching) ?? false }
            ) { _ = try session.fetch(FetchDescriptor(predicate: predicate())) }
            try c.expect(try session.count(FetchDescriptor<Item>()), is: 8, "items that the context still counts:")
        }
    }
}
