import MortiseCore

/// What the coded values of one record may hold, the same in every store: a value that one of them takes the others take.
///
/// An array or object counts two parts, every other value one, the name of a member one. A record's coded values may have
/// 2^18 parts, each of them besides one for each 64 bytes of its strings and names. Arrays and objects nest 508 deep at most.
package enum CodedBudget {
    package static let parts = 1 << 18
    static let bytesForEachMore = 64
    package static let deepest = 508

    /// What a value counts for.
    package struct Cost {
        private(set) var parts = 0
        /// In strings and names, as UTF-8.
        private(set) var bytes = 0
        private(set) var depth = 0

        package init(_ value: StoredValue) { add(value, depth: 0) }

        /// The parts that go against a record's.
        package var excess: Int { max(0, parts - bytes / CodedBudget.bytesForEachMore) }

        /// Whether a value alone is within the limits.
        package var isAllowed: Bool { depth <= CodedBudget.deepest && excess <= CodedBudget.parts }

        private mutating func add(_ value: StoredValue, depth: Int) {
            parts += 1
            switch value {
            case .string(let string): bytes += string.utf8.count
            case .array(let elements):
                guard begin(depth) else { return }
                for element in elements { add(element, depth: depth + 1) }
            case .object(let members):
                guard begin(depth) else { return }
                for (name, member) in members {
                    parts += 1
                    bytes += name.utf8.count
                    add(member, depth: depth + 1)
                }
            default: break
            }
        }

        /// - Returns: false where it goes too deep to look on.
        private mutating func begin(_ depth: Int) -> Bool {
            parts += 1
            self.depth = max(self.depth, depth + 1)
            return depth < CodedBudget.deepest
        }
    }

    /// Whether a file of that many bytes may have that many parts. Whatever a record may hold passes, since its strings
    /// are among the bytes.
    package static func admits(parts: Int, in bytes: Int) -> Bool {
        parts <= Self.parts + bytes / bytesForEachMore
    }
}
