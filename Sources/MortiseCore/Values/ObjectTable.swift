/// Values by the addresses of objects or types that stay for ever, or that the values retain. Nothing can be taken out again.
///
/// A `Dictionary` by `ObjectIdentifier` takes three times as long for a look-up, which a fetch does about ten times: it hashes each
/// address so that nobody can choose colliding ones.
struct ObjectTable<Value> {
    private struct Entry {
        let address: UInt
        let value: Value
    }

    // Open addressing, at most half full.
    private var places: ContiguousArray<Entry?> = []
    private(set) var count = 0

    subscript(_ key: ObjectIdentifier) -> Value? {
        if places.isEmpty { return nil }
        let address = UInt(bitPattern: key)
        let mask = places.count - 1
        var place = Self.start(address, mask)
        while let entry = places[place] {
            if entry.address == address { return entry.value }
            place = (place + 1) & mask
        }
        return nil
    }

    /// Sets the value of a key that has none yet, or keeps the one that it has.
    mutating func add(_ value: Value, for key: ObjectIdentifier) {
        if self[key] != nil { return }
        if count * 2 >= places.count {
            let old = places
            places = ContiguousArray(repeating: nil, count: max(16, old.count * 2))
            for case let entry? in old { put(entry) }
        }
        put(Entry(address: UInt(bitPattern: key), value: value))
        count += 1
    }

    private mutating func put(_ entry: Entry) {
        let mask = places.count - 1
        var place = Self.start(entry.address, mask)
        while places[place] != nil { place = (place + 1) & mask }
        places[place] = entry
    }

    @inline(__always)
    private static func start(_ address: UInt, _ mask: Int) -> Int {
        // Objects lie at multiples of sixteen.
        Int(truncatingIfNeeded: (UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }
}
