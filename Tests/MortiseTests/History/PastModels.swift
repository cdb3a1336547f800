import Foundation
import Mortise
import PackageTestSupport

@Model class PastItem {
    @Attribute(.unique) var code: String
    @Attribute(.preserveValueOnDeletion) var name: String
    var size: Int
    var weight: Double?
    var note: String?
    var colors: [String] = []
    /// Ends with its box.
    var box: PastBox?
    @Relationship(inverse: \PastTag.items) var tags: [PastTag] = []
    @Relationship(inverse: \PastLabel.item) var label: PastLabel?
    /// Nothing leads back.
    var favorite: PastTag?

    init(_ number: Int) {
        code = "c\(number)"
        name = "n\(number)"
        size = number
    }
}

@Model final class PastGem: PastItem {
    var carats: Double = 0.5
    var cutter: String?

    override init(_ number: Int) {
        super.init(number)
    }
}

@Model final class PastBox {
    var name: String
    var size: Int
    @Relationship(deleteRule: .cascade, inverse: \PastItem.box) var items: [PastItem] = []
    @Relationship(inverse: \PastBox.inner) var outer: PastBox?
    var inner: [PastBox] = []

    init(_ number: Int) {
        name = "b\(number)"
        size = number
    }
}

@Model final class PastTag {
    var name: String
    var items: [PastItem] = []

    init(_ number: Int) { name = "t\(number)" }
}

@Model final class PastLabel {
    var name: String
    var item: PastItem?

    init(_ number: Int) { name = "l\(number)" }
}

/// All that can be seen of the stores in one context.
struct PastState: Equatable {
    /// The records, each with its values, in the order of a fetch without order.
    private(set) var lines: [String] = []

    /// - Parameter isNamed: whether records are told by their names instead of their identifiers, and in no order.
    init(_ context: ModelContext, named isNamed: Bool = false) throws {
        func id(_ model: (any PersistentModel)?) -> String {
            guard let model else { return "-" }
            if !isNamed { return "\(model.persistentModelID)" }
            return switch model {
            case let item as PastItem: item.code
            case let box as PastBox: box.name
            case let tag as PastTag: tag.name
            case let label as PastLabel: label.name
            default: "?"
            }
        }
        func ids(_ models: [any PersistentModel]) -> [String] {
            let all = models.map(id)
            return isNamed ? all.sorted() : all
        }
        for item in try context.fetch(FetchDescriptor<PastItem>()) {
            let gem = item as? PastGem
            lines.append(
                "\(id(item)) \(item.code) \(item.name) \(item.size) \(item.weight ?? -1) \(item.note ?? "-") "
                    + "\(item.colors) \(gem?.carats ?? -1) \(gem?.cutter ?? "-") box \(id(item.box)) tags \(ids(item.tags)) "
                    + "label \(id(item.label)) favorite \(id(item.favorite))")
        }
        for box in try context.fetch(FetchDescriptor<PastBox>()) {
            lines.append(
                "\(id(box)) \(box.name) \(box.size) items \(ids(box.items)) outer \(id(box.outer)) inner \(ids(box.inner))"
            )
        }
        for tag in try context.fetch(FetchDescriptor<PastTag>()) {
            lines.append("\(id(tag)) \(tag.name) items \(ids(tag.items))")
        }
        for label in try context.fetch(FetchDescriptor<PastLabel>()) {
            lines.append("\(id(label)) \(label.name) item \(id(label.item))")
        }
        if isNamed { lines.sort() }
    }

    /// Where two states differ, for a message.
    func difference(from other: PastState) -> String {
        let (mine, others) = (Set(lines), Set(other.lines))
        let changed =
            lines.filter { !others.contains($0) }.map { "+ \($0)" }
            + other.lines.filter { !mine.contains($0) }.map { "- \($0)" }
        return changed.isEmpty ? "the order" : changed.prefix(8).joined(separator: "\n")
    }
}

/// A random program of saves and batches.
struct PastProgram {
    let container: ModelContainer
    let context: ModelContext
    private var generator: SeededGenerator
    private var next = 0
    /// What a save left, by the save's token; first the empty store.
    private(set) var states: [(token: DefaultHistoryToken, state: PastState)] = []
    private let isNamed: Bool
    /// The most changes of a save.
    var changes = 6

    static var types: [any PersistentModel.Type] {
        [PastItem.self, PastGem.self, PastBox.self, PastTag.self, PastLabel.self]
    }

    init(seed: UInt64, in container: ModelContainer, named isNamed: Bool = false) {
        self.isNamed = isNamed
        self.container = container
        context = ModelContext(container)
        generator = SeededGenerator(seed: seed)
    }

    /// Saves, until the history is that long.
    mutating func run(saves: Int) throws {
        for _ in 0..<saves {
            if generator.chance(8) {
                try batch()
            } else {
                for _ in 0...generator.below(changes) { try change() }
                context.author = "a\(next)"
                try context.save()
            }
            try note()
        }
    }

    /// Notes the state after what was saved last.
    mutating func note() throws {
        guard let last = try context.fetchHistory(HistoryOf()).last?.token else { return }
        if states.last?.token == last { return }
        states.append((last, try PastState(ModelContext(container), named: isNamed)))
    }

    private mutating func pick<T: PersistentModel>(_ type: T.Type) throws -> T? {
        let all = try context.fetch(FetchDescriptor<T>())
        return all.isEmpty ? nil : generator.pick(all)
    }

    private mutating func picked<T: PersistentModel>(_ type: T.Type) throws -> [T] {
        var left = try context.fetch(FetchDescriptor<T>())
        return (0..<min(left.count, generator.below(4))).map { _ in left.remove(at: generator.below(left.count)) }
    }

    private mutating func batch() throws {
        let size = generator.below(20)
        context.author = "batch"
        switch generator.below(3) {
        case 0:
            try context.update(PastItem.self, where: #Predicate { $0.size < size }) {
                $0.set(\.note, to: "batch \(size)")
            }
        case 1: try context.update(PastBox.self, where: #Predicate { $0.size > size }) { $0.set(\.size, to: size) }
        default:
            try context.delete(model: PastItem.self, where: #Predicate { $0.size == size })
            if context.hasChanges { try context.save() }
        }
    }

    mutating func change() throws {
        next += 1
        switch generator.below(22) {
        case 0, 1: context.insert(PastItem(next))
        case 2, 3: context.insert(PastGem(next))
        case 4, 5: context.insert(PastBox(next))
        case 6: context.insert(PastTag(next))
        case 7: context.insert(PastLabel(next))
        case 8: if let item = try pick(PastItem.self) { context.delete(item) }
        case 9:
            switch generator.below(3) {
            case 0: if let box = try pick(PastBox.self) { context.delete(box) }
            case 1: if let tag = try pick(PastTag.self) { context.delete(tag) }
            default: if let label = try pick(PastLabel.self) { context.delete(label) }
            }
        case 10: try pick(PastItem.self)?.name = "n\(next)"
        case 11: try pick(PastItem.self)?.size = generator.below(20)
        case 12: try pick(PastItem.self)?.weight = generator.chance(3) ? nil : Double(next) / 4
        case 13: try pick(PastItem.self)?.colors = (0..<generator.below(3)).map { "x\($0)" }
        case 14: try pick(PastGem.self)?.cutter = generator.chance(3) ? nil : "k\(next)"
        case 15: try pick(PastItem.self)?.code = "c\(next)"
        case 16, 17: try pick(PastItem.self)?.box = generator.chance(4) ? nil : try pick(PastBox.self)
        case 18:
            if let item = try pick(PastItem.self) { item.tags = try picked(PastTag.self) }
        case 19:
            if let box = try pick(PastBox.self) { box.items = try picked(PastItem.self) }
        case 20:
            if let item = try pick(PastItem.self) { item.label = generator.chance(3) ? nil : try pick(PastLabel.self) }
            if let box = try pick(PastBox.self), let other = try pick(PastBox.self), box !== other {
                box.outer = generator.chance(3) ? nil : other
            }
        default: try pick(PastItem.self)?.favorite = generator.chance(3) ? nil : try pick(PastTag.self)
        }
    }
}
