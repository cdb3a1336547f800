/// A set of slots: one word for the first 64, more words only if a model has more properties.
public struct SlotSet: Sendable, Hashable {
    private var first: UInt64 = 0
    private var rest: [UInt64] = []

    /// Makes an empty set.
    public init() {}
    /// Makes a set of slots. Slots must not be negative.
    public init(_ slots: some Sequence<Int>) {
        for slot in slots { insert(slot) }
    }

    /// Whether the set has no slots.
    public var isEmpty: Bool { first == 0 && rest.allSatisfy { $0 == 0 } }

    /// Whether the set has a slot; false for negative slots.
    @inline(__always)
    public func contains(_ slot: Int) -> Bool {
        if 0..<64 ~= slot { return first & (1 << UInt64(slot)) != 0 }
        return containsFar(slot)
    }

    private func containsFar(_ slot: Int) -> Bool {
        if slot < 0 { return false }
        let word = slot / 64 - 1
        return word < rest.count && rest[word] & (1 << UInt64(slot % 64)) != 0
    }

    /// Adds a slot, which must not be negative. Nothing changes if it is in the set.
    @inline(__always)
    public mutating func insert(_ slot: Int) {
        if 0..<64 ~= slot { first |= 1 << UInt64(slot) } else { insertFar(slot) }
    }

    private mutating func insertFar(_ slot: Int) {
        if slot < 0 { return }
        let word = slot / 64 - 1
        if word >= rest.count { rest += repeatElement(0, count: word + 1 - rest.count) }
        rest[word] |= 1 << UInt64(slot % 64)
    }

    /// Removes a slot. Nothing changes if it is not in the set.
    public mutating func remove(_ slot: Int) {
        guard contains(slot) else { return }
        if slot < 64 { first &= ~(1 << UInt64(slot)) } else { rest[slot / 64 - 1] &= ~(1 << UInt64(slot % 64)) }
    }

    /// Adds the slots of another set.
    public mutating func formUnion(_ other: SlotSet) {
        first |= other.first
        if other.rest.count > rest.count { rest += repeatElement(0, count: other.rest.count - rest.count) }
        for word in other.rest.indices { rest[word] |= other.rest[word] }
    }

    /// Whether all slots of the other set are in this one.
    public func isSuperset(of other: SlotSet) -> Bool {
        if other.first & ~first != 0 { return false }
        return other.rest.indices.allSatisfy { other.rest[$0] & ~($0 < rest.count ? rest[$0] : 0) == 0 }
    }

    /// The slots in ascending order.
    public var slots: [Int] {
        var result: [Int] = []
        for (word, bits) in ([first] + rest).enumerated() {
            var bits = bits
            while bits != 0 {
                result.append(word * 64 + bits.trailingZeroBitCount)
                bits &= bits - 1
            }
        }
        return result
    }
}
