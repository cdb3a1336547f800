import Foundation
import Mortise

/// Takes lists of things in, in the background: it has a context of its own, on a queue of its own.
@ModelActor
public actor Stocktaking {
    /// What came of a list.
    public struct Outcome: Codable, Hashable, Sendable {
        public var added = 0
        public var counted = 0
        /// Lines that were left out, with the reason.
        public var refused: [String] = []
    }

    /// Adds the items of a list, and counts those anew that are there. Saves in parts, so that no list is too long.
    /// - Throws: what saving throws. The parts that were saved before stay.
    public func take(_ entries: [ItemEntry], by author: String, savingEvery size: Int = 500) throws -> Outcome {
        modelContext.author = author
        var outcome = Outcome()
        for start in stride(from: 0, to: entries.count, by: size) {
            let part = entries[start..<min(start + size, entries.count)]
            // Others may count the same items meanwhile.
            let done = try modelContext.transaction(retrying: 10) { try take(part) }.result
            outcome.added += done.added
            outcome.counted += done.counted
            outcome.refused += done.refused
        }
        return outcome
    }

    private func take(_ entries: ArraySlice<ItemEntry>) throws -> Outcome {
        var outcome = Outcome()
        for entry in entries {
            do { try entry.check() } catch {
                outcome.refused.append("\(entry.code): \(error)")
                continue
            }
            var isNew = false
            let item = try modelContext.findOrCreate(Item.self, where: \.code, is: entry.code) {
                isNew = true
                return Item(code: entry.code, name: entry.name, quantity: 0)
            }
            if isNew { try modelContext.arrange(item, as: entry) }
            if item.quantity != entry.quantity {
                let difference = entry.quantity - item.quantity
                modelContext.insert(Movement(amount: difference, reason: "stocktaking", time: Date(), item: item))
                item.quantity = entry.quantity
            }
            if isNew { outcome.added += 1 } else { outcome.counted += 1 }
        }
        return outcome
    }
}
