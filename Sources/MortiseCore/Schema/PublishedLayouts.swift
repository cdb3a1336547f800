import Synchronization

/// The finished layouts by type. Finding one takes no lock: programs ask at each relationship that they set and at each fetch.
final class PublishedLayouts: @unchecked Sendable {
    // @unchecked: a place is written once, its layout before its type, by one thread at a time.

    // Open addressing, at most half full; zero is a free place.
    private let types: UnsafeMutablePointer<Atomic<UInt>>
    private let layouts: UnsafeMutablePointer<ModelLayout?>
    private let size: Int

    private init(size: Int) {
        self.size = size
        types = .allocate(capacity: size)
        for place in 0..<size { (types + place).initialize(to: Atomic(0)) }
        layouts = .allocate(capacity: size)
        layouts.initialize(repeating: nil, count: size)
    }

    private func layout(of type: ObjectIdentifier) -> ModelLayout? {
        let address = UInt(bitPattern: type)
        var place = ObjectSet.start(address, size - 1)
        while true {
            let found = types[place].load(ordering: .acquiring)
            if found == address { return layouts[place] }
            if found == 0 { return nil }
            place = (place + 1) & (size - 1)
        }
    }

    private func add(_ layout: ModelLayout, _ type: ObjectIdentifier) {
        let address = UInt(bitPattern: type)
        var place = ObjectSet.start(address, size - 1)
        while true {
            let found = types[place].load(ordering: .relaxed)
            if found == address { return }
            if found == 0 { break }
            place = (place + 1) & (size - 1)
        }
        layouts[place] = layout
        types[place].store(address, ordering: .releasing)
    }

    // One that has become too small is never freed, as somebody may be reading it. Each is twice as large as the one before.
    private static let latest = Atomic<Unmanaged<PublishedLayouts>?>(nil)

    /// The layout of a type; nil if it was not published.
    static func layout(of type: ObjectIdentifier) -> ModelLayout? {
        latest.load(ordering: .acquiring)?._withUnsafeGuaranteedRef { $0.layout(of: type) }
    }

    /// Publishes layouts, which are all that there are together with those that were published before. Called by one thread at a
    /// time.
    static func publish(_ fresh: [ObjectIdentifier: ModelLayout], among all: [ObjectIdentifier: ModelLayout]) {
        if let current = latest.load(ordering: .relaxed)?.takeUnretainedValue(), all.count * 2 <= current.size {
            for (type, layout) in fresh { current.add(layout, type) }
            return
        }
        var size = 64
        while size < all.count * 2 { size *= 2 }
        let larger = PublishedLayouts(size: size)
        for (type, layout) in all { larger.add(layout, type) }
        latest.store(.passRetained(larger), ordering: .releasing)
    }
}
