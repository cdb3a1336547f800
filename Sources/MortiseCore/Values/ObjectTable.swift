/// Values by the addresses of objects or types that stay for ever, or that the values retain. Nothing can be taken out again.
///
/// Measured against a `Dictionary` by `ObjectIdentifier`: the property of a key path is found in 180 instructions in place of 420,
/// which is about two percent of a fetch by two conditions.
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
        var place = ObjectSet.start(address, mask)
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
        var place = ObjectSet.start(entry.address, mask)
        while places[place] != nil { place = (place + 1) & mask }
        places[place] = entry
    }
}
