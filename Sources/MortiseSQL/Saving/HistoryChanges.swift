import Foundation
import MortiseCore

/// What one transaction changed, as the history keeps it: numbers of records, entities and properties, and the values that
/// deleted records preserve. The bytes are described in `Adapters/SQLite/MAPPING.md`.
package struct HistoryChanges: Sendable {
    /// Records that were inserted one after the other.
    package struct Run: Sendable, Hashable {
        package var entity: Int
        package var first: Int64
        package var count: Int64

        package init(entity: Int, first: Int64, count: Int64) {
            self.entity = entity
            self.first = first
            self.count = count
        }
    }
    /// A record of which some properties were changed.
    package struct Update: Sendable, Hashable {
        package var entity: Int
        package var number: Int64
        package var properties: [Int]

        package init(entity: Int, number: Int64, properties: [Int]) {
            self.entity = entity
            self.number = number
            self.properties = properties
        }
    }
    /// A record that was deleted.
    package struct Deletion: Sendable, Hashable {
        package var entity: Int
        package var number: Int64
        /// By number of the property, the text of its value.
        package var preserved: [(property: Int, text: String)]

        package init(entity: Int, number: Int64, preserved: [(property: Int, text: String)]) {
            self.entity = entity
            self.number = number
            self.preserved = preserved
        }

        package static func == (a: Self, b: Self) -> Bool { a.entity == b.entity && a.number == b.number }
        package func hash(into hasher: inout Hasher) {
            hasher.combine(entity)
            hasher.combine(number)
        }
    }

    /// Whether all records went.
    package var isErasure = false
    /// In the order of their numbers.
    package var inserted: [Run] = []
    /// In the order of the records.
    package var updated: [Update] = []
    /// In the order of their deletion.
    package var deleted: [Deletion] = []
    /// Records whose derived lists have other members, although nothing of them is stored otherwise.
    package var owners: [Update] = []

    private static let format: UInt8 = 1

    package init() {}

    /// Notes a record that was inserted.
    package mutating func insert(_ number: Int64, entity: Int) {
        if let last = inserted.last, last.entity == entity, last.first + last.count == number {
            inserted[inserted.count - 1].count += 1
        } else {
            inserted.append(Run(entity: entity, first: number, count: 1))
        }
    }

    /// The bytes.
    package var data: Data {
        var bytes: [UInt8] = [Self.format, isErasure ? 1 : 0]
        func append(_ number: Int64) {
            var left = UInt64(bitPattern: number)
            while left >= 0x80 {
                bytes.append(UInt8(truncatingIfNeeded: left) | 0x80)
                left >>= 7
            }
            bytes.append(UInt8(left))
        }
        func append(_ number: Int) { append(Int64(number)) }
        append(inserted.count)
        for run in inserted {
            append(run.entity)
            append(run.first)
            append(run.count)
        }
        func append(_ updates: [Update]) {
            append(updates.count)
            for update in updates {
                append(update.entity)
                append(update.number)
                append(update.properties.count)
                for property in update.properties { append(property) }
            }
        }
        append(updated)
        append(deleted.count)
        for deletion in deleted {
            append(deletion.entity)
            append(deletion.number)
            append(deletion.preserved.count)
            for (property, text) in deletion.preserved {
                append(property)
                append(text.utf8.count)
                bytes += text.utf8
            }
        }
        append(owners)
        return Data(bytes)
    }

    /// Whether all records went in the transaction that has the bytes.
    package static func isErasure(_ data: Data) -> Bool { data.dropFirst().first == 1 }

    /// Reads what `data` gave; nil for anything else.
    /// - Parameters:
    ///   - data: the bytes.
    ///   - next: a number that no record has, nor a greater one: damaged bytes tell of no more records than a store has had.
    package init?(_ data: Data, below next: Int64 = .max) {
        var bytes = [UInt8](data)[...]
        func number() -> Int64? {
            var number: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 64, by: 7) {
                guard let byte = bytes.popFirst() else { return nil }
                number |= UInt64(byte & 0x7F) << shift
                if byte < 0x80 { return Int64(bitPattern: number) }
            }
            return nil
        }
        /// Of elements that take some bytes each.
        func count(_ least: Int) -> Int? {
            guard let found = number(), found >= 0, found <= bytes.count / least else { return nil }
            return Int(found)
        }
        func entity() -> Int? { number().flatMap { $0 > 0 ? Int(exactly: $0) : nil } }
        guard bytes.popFirst() == Self.format, let flags = bytes.popFirst(), flags < 2, let runs = count(3) else {
            return nil
        }
        isErasure = flags == 1
        var end: Int64 = 1
        for _ in 0..<runs {
            guard let owner = entity(), let first = number(), let length = number(), first >= end, first < next,
                length > 0, length <= next - first
            else { return nil }
            end = first + length
            inserted.append(Run(entity: owner, first: first, count: length))
        }
        func updates() -> [Update]? {
            guard let updates = count(3) else { return nil }
            var found: [Update] = []
            for _ in 0..<updates {
                guard let owner = entity(), let record = number(), record > 0, let names = count(1) else { return nil }
                var properties: [Int] = []
                for _ in 0..<names {
                    guard let property = entity() else { return nil }
                    properties.append(property)
                }
                found.append(Update(entity: owner, number: record, properties: properties))
            }
            return found
        }
        guard let changed = updates() else { return nil }
        updated = changed
        guard let deletions = count(3) else { return nil }
        for _ in 0..<deletions {
            guard let owner = entity(), let record = number(), record > 0, let values = count(2) else { return nil }
            var preserved: [(property: Int, text: String)] = []
            for _ in 0..<values {
                guard let property = entity(), let length = count(1),
                    let text = String(validating: bytes.prefix(length), as: UTF8.self)
                else { return nil }
                bytes = bytes.dropFirst(length)
                preserved.append((property, text))
            }
            deleted.append(Deletion(entity: owner, number: record, preserved: preserved))
        }
        guard let listed = updates(), bytes.isEmpty else { return nil }
        owners = listed
    }
}
