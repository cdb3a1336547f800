import Foundation
import MortiseCore
import PackageTestSupport

/// A random query, and how its result is divided.
struct Query {
    enum Division { case none, byKind, byName }

    var descriptor: FetchDescriptor<Item>
    var division: Division
    let text: String

    init(_ random: inout SeededGenerator) {
        let condition = random.below(Self.conditions.count)
        let order = random.below(Self.orders.count)
        descriptor = FetchDescriptor(predicate: Self.conditions[condition].1, sortBy: Self.orders[order].1)
        let limit: Int? = random.pick([nil, nil, nil, 0, 1, 3, 5, 40])
        let offset: Int? = random.pick([nil, nil, nil, 1, 2, 7])
        descriptor.fetchLimit = limit
        descriptor.fetchOffset = offset
        descriptor.includePendingChanges = !random.chance(5)
        division = random.pick([.none, .none, .byKind, .byName])
        text =
            "\(Self.conditions[condition].0) by \(Self.orders[order].0), limit \(limit ?? -1), offset \(offset ?? 0), "
            + "\(division), pending \(descriptor.includePendingChanges)"
    }

    static func condition(_ random: inout SeededGenerator) -> Predicate<Item>? { random.pick(conditions).1 }

    private static var conditions: [(String, Predicate<Item>?)] {
        [
            ("all", nil), ("all", nil),
            ("score > 1", #Predicate<Item> { $0.score > 1 }),
            ("kind == a", #Predicate<Item> { $0.kind == "a" }),
            ("kind nil", #Predicate<Item> { $0.kind == nil }),
            ("name has b", #Predicate<Item> { $0.name.contains("b") }),
            ("rank 2 or score 0", #Predicate<Item> { $0.rank == 2 || $0.score == 0 }),
            ("folder f1", #Predicate<Item> { $0.folder?.name == "f1" }),
            ("no folder", #Predicate<Item> { $0.folder == nil }),
            ("tag t1", #Predicate<Item> { $0.tags.contains { $0.label == "t1" } }),
            ("no tags", #Predicate<Item> { $0.tags.isEmpty }),
            ("2 children", #Predicate<Item> { $0.children.count > 1 }),
            ("children all > 0", #Predicate<Item> { $0.children.allSatisfy { $0.score > 0 } }),
            ("parent a", #Predicate<Item> { $0.parent?.kind == "a" }),
            ("grandparent b", #Predicate<Item> { $0.parent?.parent?.name == "b" }),
            ("child's tag", #Predicate<Item> { $0.children.contains { $0.tags.contains { $0.label == "t1" } } }),
            ("link", #Predicate<Item> { $0.link?.name == "f1" }),
        ]
    }

    private static var orders: [(String, [SortDescriptor<Item>])] {
        [
            ("identity", []), ("score", [SortDescriptor(\.score)]),
            ("score down", [SortDescriptor(\.score, order: .reverse)]),
            ("kind, score", [SortDescriptor(\.kind), SortDescriptor(\.score)]),
            ("name down, rank", [SortDescriptor(\.name, order: .reverse), SortDescriptor(\.rank)]),
            ("rank", [SortDescriptor(\.rank)]), ("folder", [SortDescriptor(\.folder?.name)]),
            ("parent, rank down", [SortDescriptor(\.parent?.name), SortDescriptor(\.rank, order: .reverse)]),
        ]
    }
}

/// An observer of a query, without its type.
final class Watch {
    let query: Query
    private(set) var error: String?
    private var told: [PersistentIdentifier] = []
    private(set) var changes = 0
    private let context: ModelContext
    private let plain: ResultsObserver<Item, Never>?
    private let divided: ResultsObserver<Item, String>?

    init(_ query: Query, _ context: ModelContext) throws {
        self.query = query
        self.context = context
        switch query.division {
        case .none:
            plain = try ResultsObserver(fetchDescriptor: query.descriptor, modelContext: context, isolation: nil)
            divided = nil
        case .byKind:
            plain = nil
            divided = try ResultsObserver(
                fetchDescriptor: query.descriptor, sectionBy: \.kind, modelContext: context, isolation: nil)
        case .byName:
            plain = nil
            divided = try ResultsObserver(
                fetchDescriptor: query.descriptor, sectionBy: \.name, modelContext: context, isolation: nil)
        }
        told = results.map(\.persistentModelID)
        plain?.onChange = { [weak self] in self?.take($0) }
        divided?.onChange = { [weak self] in self?.take($0) }
    }

    var results: [Item] { plain.map { Array($0.results) } ?? divided.map { Array($0.results) } ?? [] }
    var explanation: LiveExplanation? { plain?.explanation ?? divided?.explanation }
    private var failure: (any Error)? { plain?.error ?? divided?.error }

    func setCondition(_ predicate: Predicate<Item>?) {
        plain?.filterBy = predicate
        divided?.filterBy = predicate
    }

    private func take(_ change: ResultsChange) {
        changes += 1
        let names = Dictionary(
            change.renamed.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { first, _ in first })
        let named =
            change.removed.map(\.identifier) + change.inserted.map(\.identifier)
            + (change.moved + change.updated).map(\.identifier)
        if Set(named).count != named.count { error = error ?? "a row is named twice in \(change)" }
        if change.oldCount != told.count { error = error ?? "\(change.oldCount) rows before, not \(told.count)" }
        told = change.applied(to: told) { $0 }.map { names[$0] ?? $0 }
    }

    /// What is wrong; nil if nothing is.
    func check() throws -> String? {
        if let error { return error }
        if let failure { return "error: \(failure)" }
        var descriptor = plain?.fetchDescriptor ?? divided?.fetchDescriptor ?? query.descriptor
        switch query.division {
        case .none: break
        case .byKind: descriptor.sortBy.insert(SortDescriptor(\.kind, comparator: .lexical), at: 0)
        case .byName:
            // Where the first key sorts by name the other way, that decides.
            let isFirst = descriptor.sortBy.first?.keyPath == \Item.name
            descriptor.sortBy.insert(SortDescriptor(\.name, comparator: .lexical), at: isFirst ? 1 : 0)
        }
        let fetched = try context.fetch(descriptor)
        let expected = fetched.map(\.persistentModelID)
        let shown = results
        if shown.map(\.persistentModelID) != expected {
            return "shows \(shown.map(Self.text)), a fetch finds \(fetched.map(Self.text))"
        }
        if told != expected { return "was told \(told), a fetch finds \(expected)" }
        // Models show unsaved values also where the result is that of the stored ones.
        guard let divided, query.descriptor.includePendingChanges else { return nil }
        guard let sections = divided.sections else { return "has no sections" }
        var titles: [String] = []
        var groups: [[PersistentIdentifier]] = []
        for item in fetched {
            let title = query.division == .byKind ? item.kind ?? "" : item.name
            if titles.last == title {
                groups[groups.count - 1].append(item.persistentModelID)
            } else {
                titles.append(title)
                groups.append([item.persistentModelID])
            }
        }
        if sections.map(\.title) != titles { return "has sections \(sections.map(\.title)), expected \(titles)" }
        if sections.map({ $0.map(\.persistentModelID) }) != groups { return "has other rows in its sections" }
        for (index, item) in shown.enumerated() where index % 3 == 0 {
            guard let path = divided.indexPath(for: item), divided.element(at: path) === item else {
                return "does not find row \(index) by its path"
            }
        }
        return nil
    }

    private static func text(_ item: Item) -> String {
        "\(item.name)/\(item.score)/\(item.kind ?? "-")/\(item.rank.map { "\($0)" } ?? "-")"
    }
}
