import Foundation
import MortiseInMemory

/// Makes a case that fails smaller as long as it fails.
enum Shrinking {
    /// The smallest case found, as text.
    static func smallest(_ query: RandomQuery, _ data: QueryData, hasIndexes: Bool, _ difference: String) -> String {
        var query = query
        var data = data
        var difference = difference
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for (smallerQuery, smallerData) in candidates(query, data) {
                guard let worlds = try? QueryWorld.all(smallerData, hasIndexes: hasIndexes),
                    let still = smallerQuery.difference(in: worlds)
                else {
                    continue
                }
                (query, data, difference) = (smallerQuery, smallerData, still)
                isSmaller = true
                break
            }
        }
        var text = "query seed \(query.seed)\n\(difference)\n"
        for box in data.boxes { text += "  \(box)\n" }
        for item in data.items { text += "  \(item)\n" }
        for change in data.changes { text += "  unsaved: \(change)\n" }
        return text
    }

    private static func candidates(_ query: RandomQuery, _ data: QueryData) -> [(RandomQuery, QueryData)] {
        var found: [(RandomQuery, QueryData)] = []
        func add(_ change: (inout RandomQuery, inout QueryData) -> Void) {
            var (query, data) = (query, data)
            change(&query, &data)
            found.append((query, data))
        }
        if let world = try? QueryWorld("shape", InMemoryConfiguration(), data) {
            let made = query.shape(in: world)
            let kept = query.kept ?? made.conditions.indices.map { [$0] }
            for place in kept.indices where kept.count > 1 {
                add { query, _ in query.kept = kept.enumerated().filter { $0.offset != place }.map(\.element) }
            }
            for (place, way) in kept.enumerated() {
                let parts = way.dropFirst().reduce(made.conditions[way[0]]) { $0.parts[$1] }.parts
                for part in parts.indices {
                    add { query, _ in
                        var ways = kept
                        ways[place].append(part)
                        query.kept = ways
                    }
                }
            }
            let keys = query.keptKeys ?? Array(0..<made.keys)
            for key in keys { add { query, _ in query.keptKeys = keys.filter { $0 != key } } }
        }
        if query.isLimited { add { query, _ in query.isLimited = false } }
        // Many records at once first: the large tables would take for ever.
        for size in [data.items.count / 2, data.items.count / 8] where size > 4 {
            for start in stride(from: 0, to: data.items.count, by: size) {
                add { _, data in data.items.removeSubrange(start..<min(start + size, data.items.count)) }
            }
        }
        for place in data.changes.indices { add { _, data in data.changes.remove(at: place) } }
        for place in data.items.indices { add { _, data in data.items.remove(at: place) } }
        for place in data.boxes.indices { add { _, data in data.boxes.remove(at: place) } }
        return found
    }
}
