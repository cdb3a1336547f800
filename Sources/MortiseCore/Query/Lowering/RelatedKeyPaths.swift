import Synchronization

/// The properties to which key paths through to-one relationships lead.
///
/// A key path does not say of what it consists. So those that there are to a model's related properties are made of the
/// properties' own and found by two hash values, which cover every component: 128 bits, so that no two key paths of a program
/// have both in common. They are not compared with `==`: that holds appended key paths to be others than literals where the
/// two have become read-only at different components.
enum RelatedKeyPaths {
    struct Step: Sendable {
        let layout: ModelLayout
        let slot: Int
    }

    /// Relationships on the way, at most.
    private static let longest = 4
    /// Key paths of one model, at most; what is behind them is left to the texts of key paths, and to code.
    private static let room = 20_000
    /// By the layout, which lives for ever.
    private static let known = Mutex<[ObjectIdentifier: Table]>([:])

    /// The properties along a key path, the one it leads to last; nil for a key path of another kind.
    static func chain(of keyPath: AnyKeyPath, from layout: ModelLayout) -> [Step]? {
        let key = ObjectIdentifier(layout)
        let hash = Fingerprint(keyPath)
        return known.withLock { known in
            var table = known[key] ?? Table(of: layout)
            if let chain = table.chains[hash] { return chain }
            guard table.hasMore else { return nil }
            // Most key paths are short, so that the long ones are made when one is asked for.
            while table.hasMore, table.chains[hash] == nil { table.extend() }
            known[key] = table
            return table.chains[hash]
        }
    }

    /// The key paths from one model, the shorter ones first.
    private struct Table {
        /// A to-one relationship that may be followed further.
        private struct Way {
            let path: SharedKeyPath
            let chain: [Step]
            let destination: ModelLayout
        }
        private(set) var chains: [Fingerprint: [Step]] = [:]
        private var ways: [Way] = []
        private var length = 0

        init(of layout: ModelLayout) {
            for slot in layout.properties.indices { add(layout.keyPaths[slot], [Step(layout: layout, slot: slot)]) }
        }

        var hasMore: Bool { !ways.isEmpty && length < longest }

        /// Adds the key paths with one more relationship.
        mutating func extend() {
            length += 1
            let last = ways
            ways = []
            for way in last {
                let isOptional = type(of: way.path.keyPath).valueType is any OptionalValue.Type
                let layout = way.destination
                for slot in layout.properties.indices where chains.count < room {
                    let own = isOptional ? layout.chainedKeyPaths[slot] : layout.keyPaths[slot]
                    guard let path = own.flatMap(way.path.keyPath.appending(path:)) else { continue }
                    let chain = way.chain + [Step(layout: layout, slot: slot)]
                    let hash = Fingerprint(path)
                    if chains[hash] == nil { chains[hash] = chain }
                    add(path, chain)
                }
            }
        }

        private mutating func add(_ path: AnyKeyPath, _ chain: [Step]) {
            guard let last = chain.last, last.layout.record.slots[last.slot].role == .toOne,
                let destination = last.layout.destinations[last.slot]
            else { return }
            ways.append(Way(path: SharedKeyPath(keyPath: path), chain: chain, destination: destination))
        }
    }

    /// What tells a key path from others.
    private struct Fingerprint: Hashable {
        private let first: Int
        private let second: Int

        init(_ keyPath: AnyKeyPath) {
            first = keyPath.hashValue
            var hasher = Hasher()
            hasher.combine(0)
            hasher.combine(keyPath)
            second = hasher.finalize()
        }
    }

    /// @unchecked: key paths are immutable; the type does not say so.
    private struct SharedKeyPath: @unchecked Sendable { let keyPath: AnyKeyPath }
}
