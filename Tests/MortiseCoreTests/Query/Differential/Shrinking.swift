import Foundation

/// Makes a case that fails smaller as long as it fails.
enum Shrinking {
    /// The smallest case found, as text.
    static func smallest(_ query: RandomQuery, _ data: QueryData, _ difference: String) -> String {
        var query = query
        var data = data
        var difference = difference
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            for (smallerQuery, smallerData) in candidates(query, data) {
                guard let worlds = try? QueryWorld.all(smallerData), let still = smallerQuery.difference(in: worlds)
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
        if let world = try? QueryWorld.all(data).first {
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
        if query.hasWindow { add { query, _ in query.hasWindow = false } }
        for place in data.changes.indices { add { _, data in data.changes.remove(at: place) } }
        for place in data.items.indices { add { _, data in data.items.remove(at: place) } }
        for place in data.boxes.indices { add { _, data in data.boxes.remove(at: place) } }
        return found
    }
}
