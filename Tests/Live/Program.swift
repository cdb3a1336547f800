import Foundation
import MortiseCore
import MortiseInMemory
import PackageTestSupport

/// A random program over one store, of changes by several contexts, with observers in each: after every step each observer shows
/// what a fetch finds, and was told no more and no less.
struct Program {
    let seed: UInt64
    private(set) var steps = 0
    private(set) var changes = 0
    private(set) var tests = 0
    private(set) var reruns: [String: Int] = [:]
    private(set) var refills = 0
    private var log: [String] = []

    init(seed: UInt64) { self.seed = seed }

    /// - Returns: what is wrong; nil if nothing is.
    mutating func run(isTraced: Bool) -> String? {
        do {
            return try runSteps(isTraced)
        } catch {
            return "threw \(error) after:\n\(log.suffix(12).joined(separator: "\n"))"
        }
    }

    private mutating func runSteps(_ isTraced: Bool) throws -> String? {
        var random = SeededGenerator(seed: seed)
        let container = try ModelContainer(
            for: Schema([Item.self, Folder.self, Tag.self]), configurations: [InMemoryConfiguration()])
        let contexts = (0..<random.pick([1, 2, 2, 3])).map { _ in ModelContext(container) }
        for name in ["f0", "f1", "f2"] { contexts[0].insert(Folder(name: name)) }
        for label in ["t0", "t1"] { contexts[0].insert(Tag(label: label)) }
        for _ in 0..<random.pick([0, 5, 30, 90]) { contexts[0].insert(Self.item(&random)) }
        try contexts[0].save()
        var watches: [(watch: Watch, context: Int)] = []
        for _ in 0..<random.pick([1, 3, 5]) {
            let place = random.below(contexts.count)
            watches.append((try Watch(Query(&random), contexts[place]), place))
        }
        for _ in 0..<random.pick([10, 40]) {
            let place = random.below(contexts.count)
            for _ in 0..<random.pick([1, 1, 1, 3, 12]) {
                let text = try change(contexts[place], &random)
                log.append("context \(place): \(text)")
                if isTraced { print(log[log.count - 1]) }
            }
            if random.chance(12), let changed = watches.indices.randomElement(using: &random) {
                log.append("filter of \(watches[changed].watch.query.text)")
                watches[changed].watch.setCondition(Query.condition(&random))
            }
            steps += 1
            for (number, (watch, context)) in watches.enumerated() {
                if random.chance(3) {
                    contexts[context].processPendingChanges()
                } else {
                    try contexts[context].refresh()
                }
                // A fetch moves to what is stored, and the observer with it.
                if let fault = try watch.check() {
                    return
                        "observer \(number) in context \(context) of \(watch.query.text) (\(watch.explanation?.description ?? "")) \(fault) "
                        + "after:\n\(log.suffix(12).joined(separator: "\n"))"
                }
            }
        }
        for (watch, _) in watches {
            changes += watch.changes
            guard let explanation = watch.explanation else { continue }
            tests += explanation.tests
            refills += explanation.refills
            for (cause, count) in explanation.reruns { reruns[cause.rawValue, default: 0] += count }
        }
        return nil
    }

    static func item(_ random: inout SeededGenerator) -> Item {
        Item(
            name: random.pick(["a", "b", "ab", "é", "e\u{301}"]), score: score(&random),
            rank: random.pick([nil, 1, 2, 3]), kind: random.pick([nil, "", "a", "b"]))
    }

    private static func score(_ random: inout SeededGenerator) -> Double { random.pick([0, -0.0, 1, 2, 3, .nan]) }

    /// What was changed here may have been deleted elsewhere.
    private static func save(_ context: ModelContext) -> String {
        do {
            try context.save()
            return "save"
        } catch {
            context.rollback()
            return "save, which failed, and rollback"
        }
    }

    private func change(_ context: ModelContext, _ random: inout SeededGenerator) throws -> String {
        func items() throws -> [Item] { try context.fetch(FetchDescriptor<Item>()) }
        switch random.below(100) {
        case 0..<14:
            context.insert(Self.item(&random))
            return "insert"
        case 14..<24:
            guard let item = try items().randomElement(using: &random) else { return "nothing" }
            context.delete(item)
            return "delete"
        case 24..<52:
            guard let item = try items().randomElement(using: &random) else { return "nothing" }
            switch random.below(5) {
            case 0: item.score = Self.score(&random)
            case 1: item.kind = random.pick([nil, "", "a", "b"])
            case 2: item.rank = random.pick([nil, 1, 2, 3])
            case 3: item.name = random.pick(["a", "b", "ab"])
            default: item.note = "\(random.below(3))"
            }
            return "set"
        case 52..<70:
            let all = try items()
            guard let item = all.randomElement(using: &random) else { return "nothing" }
            let folders = try context.fetch(FetchDescriptor<Folder>())
            let tags = try context.fetch(FetchDescriptor<Tag>())
            switch random.below(6) {
            case 0:
                item.folder = random.chance(4) ? nil : folders.randomElement(using: &random)
                return "folder"
            case 1:
                item.tags = tags.filter { _ in random.chance(2) }
                return "tags"
            case 2:
                item.parent = random.chance(4) ? nil : all.randomElement(using: &random)
                return "parent"
            case 3:
                item.children = all.filter { _ in random.chance(8) }
                return "children"
            case 4:
                item.link = folders.randomElement(using: &random)
                return "link"
            default:
                guard let folder = folders.randomElement(using: &random) else { return "nothing" }
                if random.chance(8) {
                    context.delete(folder)
                    return "delete a folder"
                }
                folder.name = random.pick(["f0", "f1", "f2"])
                return "rename a folder"
            }
        case 70..<88:
            return Self.save(context)
        case 88..<92:
            context.rollback()
            return "rollback"
        case 92..<95:
            if context.hasChanges { _ = Self.save(context) }
            try context.delete(model: Item.self, where: #Predicate { $0.rank == 3 && $0.score > 1 })
            return "delete a batch"
        case 95..<97:
            guard let tag = try context.fetch(FetchDescriptor<Tag>()).randomElement(using: &random) else {
                return "nothing"
            }
            tag.label = random.pick(["t0", "t1"])
            return "rename a tag"
        case 97..<99:
            for item in try items() where random.chance(2) { item.score = 3 - item.score }
            return "reverse many"
        default:
            context.processPendingChanges()
            return "process"
        }
    }
}
