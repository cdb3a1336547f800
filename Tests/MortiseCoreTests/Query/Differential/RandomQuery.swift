import Foundation
import MortiseCore
import PackageTestSupport

/// A random query, given by its seed and by what shrinking has taken away from it. One in four asks for the subclass.
struct RandomQuery {
    let seed: UInt64
    /// Which conditions are left: for each, its number and the way down to one of its parts.
    var kept: [[Int]]?
    var keptKeys: [Int]?
    var isLimited = true

    init(seed: UInt64) { self.seed = seed }

    var asksForSubclass: Bool { seed % 4 == 3 }

    /// A sort key, with the order of numbers made total: nil, NaN, the others.
    struct Key<Root: Item> {
        let descriptor: SortDescriptor<Root>
        let number: ((Root) -> Double?)?
        let text: String

        func compare(_ a: Root, _ b: Root) -> ComparisonResult {
            guard let number else { return descriptor.compare(a, b) }
            let (x, y) = (Self.rank(number(a)), Self.rank(number(b)))
            let result: ComparisonResult =
                x.0 != y.0
                ? (x.0 < y.0 ? .orderedAscending : .orderedDescending)
                : x.1 < y.1 ? .orderedAscending : y.1 < x.1 ? .orderedDescending : .orderedSame
            guard descriptor.order == .reverse, result != .orderedSame else { return result }
            return result == .orderedAscending ? .orderedDescending : .orderedAscending
        }
        private static func rank(_ number: Double?) -> (Int, Double) {
            guard let number else { return (0, 0) }
            return number.isNaN ? (1, 0) : (2, number)
        }
    }

    struct Made<Root: Item> {
        var conditions: [Condition]
        var predicate: Predicate<Root>?
        var keys: [Key<Root>]
        var offset: Int?
        var limit: Int?
        var seesChanges: Bool

        var text: String {
            "\(Root.self) where \(predicate.map { "\($0)" } ?? "all")\nsort \(keys.map(\.text)), offset \(offset ?? 0), "
                + "limit \(limit.map(String.init) ?? "none"), unsaved changes \(seesChanges ? "count" : "do not count")"
        }
    }

    func make<Root: Item>(_ root: Root.Type, in world: QueryWorld) -> Made<Root> {
        let maker = RandomPredicate<Root>(seed: seed, boxes: world.boxes)
        var conditions: [Condition] = []
        let depth = maker.random.below(4)
        let count = 1 + maker.random.below(3)
        let isWithout = maker.random.chance(percent: 10)
        let start = maker.random
        let ways = kept ?? (0..<count).map { [$0] }
        func conjunction(_ ways: [[Int]]) -> Predicate<Root> {
            Predicate<Root> { variable in
                maker.random = start
                let item = Term<Root>(variable)
                let all = (0..<count).map { _ in maker.condition(item, depth) }
                conditions = all
                let left = ways.map { Self.part(of: all, $0) }
                guard var whole = left.first?.term else { return P.build_Arg(true) }
                for next in left.dropFirst() { whole = both(whole, next.term) }
                return whole.expression
            }
        }
        let predicate = joinsPredicates ? joined(ways.map { conjunction([$0]) }) ?? conjunction([]) : conjunction(ways)
        var keys = (0..<maker.random.below(3)).map { _ in Self.key(&maker.random) as Key<Root> }
        if let keptKeys { keys = keptKeys.map { keys[$0] } }
        let offset = maker.random.chance(percent: 30) ? maker.random.below(6) : nil
        let limit = maker.random.chance(percent: 40) ? maker.random.below(6) : nil
        let seesChanges = maker.random.chance(percent: 75)
        return Made(
            conditions: conditions, predicate: isWithout ? nil : predicate, keys: keys,
            offset: isLimited ? offset : nil,
            limit: isLimited ? limit : nil, seesChanges: seesChanges)
    }

    /// Whether the conditions are predicates of their own, which are joined.
    private var joinsPredicates: Bool { seed % 5 == 2 }

    private func joined<Root: Item>(_ parts: [Predicate<Root>]) -> Predicate<Root>? {
        guard var whole = parts.first else { return nil }
        for (place, next) in parts.dropFirst().enumerated() {
            switch (seed >> (3 + 2 * UInt64(place))) % 4 {
            case 0: whole = whole.or(next)
            case 1: whole = whole.and(next.not())
            default: whole = whole.and(next)
            }
        }
        return whole
    }

    private static func part(of conditions: [Condition], _ way: [Int]) -> Condition {
        way.dropFirst().reduce(conditions[way[0]]) { $0.parts[$1] }
    }

    private static func key<Root: Item>(_ random: inout SeededGenerator) -> Key<Root> {
        let order: SortOrder = random.chance(percent: 50) ? .forward : .reverse
        func plain(_ descriptor: SortDescriptor<Root>, _ text: String) -> Key<Root> {
            Key(descriptor: descriptor, number: nil, text: "\(text) \(order)")
        }
        switch random.below(19) {
        case 0: return plain(SortDescriptor(\.name, order: order), "name")
        case 1: return plain(SortDescriptor(\.name, comparator: .lexical, order: order), "name lexical")
        case 2: return plain(SortDescriptor(\.note, order: order), "note")
        case 3: return plain(SortDescriptor(\.rank, order: order), "rank")
        case 4: return plain(SortDescriptor(\.size, order: order), "size")
        case 5:
            return Key(descriptor: SortDescriptor(\.weight, order: order), number: \.weight, text: "weight \(order)")
        case 6: return Key(descriptor: SortDescriptor(\.ratio, order: order), number: \.ratio, text: "ratio \(order)")
        case 7:
            return Key(
                descriptor: SortDescriptor(\.day, order: order), number: { $0.day?.timeIntervalSinceReferenceDate },
                text: "day \(order)")
        case 8: return plain(SortDescriptor(\.key, order: order), "key")
        case 9: return plain(SortDescriptor(\.box?.label, order: order), "box?.label")
        case 10: return plain(SortDescriptor(\.box?.outer?.rank, order: order), "box?.outer?.rank")
        case 11: return plain(SortDescriptor(\.place.city, order: order), "place.city")
        case 12:
            return plain(SortDescriptor(\.name, comparator: .localizedStandard, order: order), "name localizedStandard")
        case 13: return plain(SortDescriptor(\.note, comparator: .localized, order: order), "note localized")
        case 14:
            return plain(
                SortDescriptor(\.box?.label, comparator: .localizedStandard, order: order),
                "box?.label localizedStandard")
        case 15: return plain(SortDescriptor(\.branch?.city, order: order), "branch?.city")
        case 16: return plain(SortDescriptor(\.place.opened, order: order), "place.opened")
        default: return plain(SortDescriptor(\.serial, order: order), "serial")
        }
    }

    /// What Foundation's own evaluation finds.
    func expected<Root: Item>(_ made: Made<Root>, in world: QueryWorld) throws -> [Int] {
        var matching = (made.seesChanges ? world.items : try world.storedItems()).compactMap { $0 as? Root }
        if let predicate = made.predicate { matching = try matching.filter { try predicate.evaluate($0) } }
        let places = matching.enumerated().sorted { left, right in
            for key in made.keys {
                let result = key.compare(left.element, right.element)
                if result != .orderedSame { return result == .orderedAscending }
            }
            return left.offset < right.offset
        }
        let start = min(made.offset ?? 0, places.count)
        return places[start...].prefix(made.limit ?? .max).map(\.element.serial)
    }

    /// The first difference between the ways; nil where all agree.
    func difference(in worlds: [QueryWorld]) -> String? {
        asksForSubclass ? difference(Special.self, in: worlds) : difference(Item.self, in: worlds)
    }

    /// The ways to the parts of the conditions and the number of sort keys, for shrinking.
    func shape(in world: QueryWorld) -> (conditions: [Condition], keys: Int) {
        func shape<Root: Item>(_ root: Root.Type) -> (conditions: [Condition], keys: Int) {
            let made = make(root, in: world)
            return (made.conditions, made.keys.count)
        }
        return asksForSubclass ? shape(Special.self) : shape(Item.self)
    }

    /// How a world finds the rows, in its store's words.
    func detail(in world: QueryWorld) throws -> String {
        func detail<Root: Item>(_ root: Root.Type) throws -> String {
            let made = make(root, in: world)
            var descriptor = FetchDescriptor<Root>(predicate: made.predicate, sortBy: made.keys.map(\.descriptor))
            descriptor.fetchOffset = made.offset
            descriptor.fetchLimit = made.limit
            descriptor.includePendingChanges = made.seesChanges
            return try world.context.explain(descriptor).detail
        }
        return asksForSubclass ? try detail(Special.self) : try detail(Item.self)
    }

    /// Not generic: the compiler does not make the code for a key path of what a class-bound parameter inherits.
    private static func identifiers(_ models: [Item]) -> [PersistentIdentifier] { models.map { $0.persistentModelID } }

    private func difference<Root: Item>(_ root: Root.Type, in worlds: [QueryWorld]) -> String? {
        // Every world holds the same, so that what one world's models say is what every store has to find.
        var first: [Int]?
        for world in worlds {
            let made = make(root, in: world)
            var descriptor = FetchDescriptor<Root>(predicate: made.predicate, sortBy: made.keys.map(\.descriptor))
            descriptor.fetchOffset = made.offset
            descriptor.fetchLimit = made.limit
            descriptor.includePendingChanges = made.seesChanges
            do {
                let expected = try first ?? expected(made, in: world)
                first = expected
                let models = try world.context.fetch(descriptor)
                let found = models.map(\.serial)
                // A model that is fetched without its unsaved changes still shows them; its serial number never changes.
                if found != expected {
                    return "\(world.name): expected \(expected), found \(found)\n\(made.text)\n"
                        + "\((try? world.context.explain(descriptor).description) ?? "")"
                }
                let count = try world.context.fetchCount(descriptor)
                if count != expected.count {
                    return "\(world.name): counted \(count) of \(expected.count)\n\(made.text)"
                }
                let identifiers = try world.context.fetchIdentifiers(descriptor)
                if identifiers != Self.identifiers(models) {
                    return "\(world.name): \(identifiers) are the identifiers for \(expected)\n\(made.text)"
                }
            } catch {
                return "\(world.name): \(error)\n\(made.text)"
            }
        }
        return nil
    }
}
