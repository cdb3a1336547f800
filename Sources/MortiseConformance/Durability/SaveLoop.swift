import Foundation
import MortiseCore

/// The work of a process that is going to be killed: saves, one after the other, which can be distinguished afterwards.
///
/// The save of number n inserts three entries of the group n, changes the rank of those of the group before, and deletes
/// those of the group before that; none of these may be there without the others.
struct SaveLoop {
    static let parts = 3

    let container: ModelContainer

    /// The number of the last save that is there.
    /// - Throws: `KillFault` where the store holds what no sequence of whole saves leaves.
    static func last(in container: ModelContainer) throws -> Int {
        let entries = try ModelContext(container).fetch(FetchDescriptor<Entry>())
        if entries.isEmpty { return 0 }
        let groups = Dictionary(grouping: entries) { Int($0.group) ?? 0 }
        let last = groups.keys.max() ?? 0
        let wanted: [Int: Int] = last > 1 ? [last: 0, last - 1: 1] : [last: 0]
        for (group, rank) in wanted {
            let found = groups[group] ?? []
            if found.count != parts || !found.allSatisfy({ $0.rank == rank }) {
                throw KillFault(
                    text: "half of save \(last): \(found.count) of \(parts) entries of group \(group), with the ranks "
                        + "\(found.map { $0.rank.map(String.init) ?? "nil" })")
            }
        }
        if let old = groups.keys.first(where: { wanted[$0] == nil }) {
            throw KillFault(text: "found save \(last), but also group \(old), which that or an earlier save deleted")
        }
        return last
    }

    /// Saves until the process ends, or `limit` is reached. Calls `report` before and after each save. Throws what the
    /// container throws.
    func run(upTo limit: Int = .max, _ report: (String) -> Void) throws {
        var number = try Self.last(in: container) + 1
        let context = ModelContext(container)
        var previous = try context.fetch(FetchDescriptor<Entry>())
        while number <= limit {
            let before = "\(number - 1)"
            for entry in previous {
                if entry.group == before { entry.rank = 1 } else { context.delete(entry) }
            }
            previous.removeAll { $0.group != before }
            for part in 0..<Self.parts {
                let text = String(repeating: "x", count: (number * 7 + part * 131) % 2_000)
                let entry = Entry("\(number).\(part)", group: "\(number)", rank: 0, note: text)
                context.insert(entry)
                previous.append(entry)
            }
            report("begin \(number)")
            try context.save()
            report("done \(number)")
            number += 1
        }
    }
}

/// What a killed process should not have left.
struct KillFault: Error, Hashable, CustomStringConvertible {
    let text: String
    var description: String { text }
}
