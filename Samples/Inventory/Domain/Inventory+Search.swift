import Foundation
import Mortise

/// What a client looks for. What is nil does not matter.
public struct ItemSearch: Hashable, Sendable {
    public var text: String?
    public var tag: String?
    public var place: String?

    public init(text: String? = nil, tag: String? = nil, place: String? = nil) {
        self.text = text
        self.tag = tag
        self.place = place
    }

    var predicate: Predicate<Item> {
        var conditions: [Predicate<Item>] = []
        if let text, !text.isEmpty {
            conditions.append(#Predicate { $0.name.localizedStandardContains(text) || $0.code == text })
        }
        if let tag { conditions.append(#Predicate { item in item.tags.contains { $0.name == tag } }) }
        if let place { conditions.append(#Predicate { $0.place?.name == place }) }
        return conditions.reduce(.true) { $0.and($1) }
    }
}

extension Inventory {
    /// A page of what was found, in the order of names.
    /// - Parameter cursor: `next` of the page before; nil begins.
    /// - Throws: `PageError` for a cursor that was made up, or belongs to another search.
    public func search(_ search: ItemSearch, after cursor: String? = nil, size: Int = 50) throws -> ItemPage {
        let descriptor = FetchDescriptor<Item>(
            predicate: search.predicate, sortBy: [SortDescriptor(\.name), SortDescriptor(\.code)])
        let page = try context(for: nil).page(
            descriptor, after: cursor.map { try PageCursor(string: $0) }, size: max(1, min(size, 500)))
        return ItemPage(items: page.models.map { ItemAnswer($0) }, next: page.next?.string)
    }

    /// How many things are at each place.
    /// - Returns: quantities by the name of the place; those that are nowhere under an empty name.
    public func totals() throws -> [String: Int] {
        let groups = try context(for: nil).groups(
            FetchDescriptor<Item>(), by: \.place?.name, computing: .sum(\.quantity))
        var totals: [String: Int] = [:]
        for group in groups { totals[group.key ?? "", default: 0] += group.values }
        return totals
    }
}
