import Synchronization

/// What key paths of several components read: properties through to-one relationships, and members of composite values.
///
/// A key path does not tell its components. So those that can be made of a model's own key paths and of its relationships'
/// are made, and a key path is looked up among them by two hash values, which cover every component: 128 bits, so that no
/// two key paths of a program have both in common. They are not compared with `==`: that holds appended key paths to be
/// others than literals where the two have become read-only at different components.
enum KeyPathChains {
    enum Step: Sendable {
        case property(ModelLayout, slot: Int)
        case member(CompositeMembers.Member)

        func expression(on base: QueryExpression) -> QueryExpression {
            switch self {
            case .property(let layout, let slot): .property(base, layout.queryProperty(slot))
            case .member(let member): .member(base, member.name).decoded(as: member.valueType)
            }
        }
    }

    /// Relationships and composites on the way, at most.
    private static let longest = 4
    /// Key paths of one model, at most; longer ones are left to code.
    private static let room = 20_000
    private static let known = Mutex<[Start: Table]>([:])

    /// The components of a key path, in its order, without a tail that may be appended to it; nil for a key path of another
    /// kind.
    static func chain(
        of keyPath: AnyKeyPath, from layout: ModelLayout, followedBy tail: AnyKeyPath? = nil
    ) -> [Step]? {
        let start = Start(layout: ObjectIdentifier(layout), tail: tail.map(Fingerprint.init))
        let hash = Fingerprint(keyPath)
        let last = known.withLock { $0[start] }
        if let last, last.chains[hash] != nil || !last.hasMore { return last.chains[hash] }
        // Outside the lock: composite types run their own code to name their members.
        var table = last ?? Table(of: layout, tail: tail)
        // Most key paths are short, so that the long ones are made when one is asked for.
        while table.hasMore, table.chains[hash] == nil { table.extend() }
        let chain = table.chains[hash]
        known.withLock { [table] known in known[start] = table }
        return chain
    }

    /// The layout lives for ever.
    private struct Start: Hashable {
        let layout: ObjectIdentifier
        let tail: Fingerprint?
    }

    /// The key paths from one model, the shorter ones first.
    private struct Table: Sendable {
        /// A key path that may be followed further.
        private struct Way {
            let path: SharedPath
            let chain: [Step]
            let parts: [Part]
        }
        /// What a model or a composite value consists of.
        ///
        /// @unchecked: key paths are immutable; the type does not say so.
        private struct Part: @unchecked Sendable {
            let keyPath: AnyKeyPath
            /// The same of a value that may be missing.
            let chained: AnyKeyPath?
            let step: Step
        }
        private(set) var chains: [Fingerprint: [Step]] = [:]
        private let tail: SharedPath?
        private var ways: [Way] = []
        private var length = 0

        init(of layout: ModelLayout, tail: AnyKeyPath?) {
            self.tail = tail.map(SharedPath.init)
            for part in Self.parts(of: layout) { add(part.keyPath, [part.step]) }
        }

        var hasMore: Bool { !ways.isEmpty && length < KeyPathChains.longest }

        /// Adds the key paths with one more component.
        mutating func extend() {
            length += 1
            let last = ways
            ways = []
            for way in last {
                let isOptional = type(of: way.path.keyPath).valueType is any OptionalValue.Type
                for part in way.parts where chains.count < KeyPathChains.room {
                    let own = isOptional ? part.chained : part.keyPath
                    guard let path = own.flatMap(way.path.keyPath.appending(path:)) else { continue }
                    add(path, way.chain + [part.step])
                }
            }
        }

        private mutating func add(_ path: AnyKeyPath, _ chain: [Step]) {
            guard let last = chain.last else { return }
            if let whole = tail.map({ path.appending(path: $0.keyPath) }) ?? path {
                let hash = Fingerprint(whole)
                if chains[hash] == nil { chains[hash] = chain }
            }
            let parts = Self.parts(behind: last)
            if !parts.isEmpty { ways.append(Way(path: SharedPath(keyPath: path), chain: chain, parts: parts)) }
        }

        private static func parts(behind step: Step) -> [Part] {
            switch step {
            case .member(let member): return parts(of: member.valueType)
            case .property(let layout, let slot):
                if layout.record.slots[slot].role == .toOne, let destination = layout.destinations[slot] {
                    return parts(of: destination)
                }
                guard layout.isStoredAsItIs(slot), let attribute = layout.properties[slot] as? Schema.Attribute,
                    attribute.kind == .coded
                else { return [] }
                return parts(of: attribute.valueType)
            }
        }

        private static func parts(of layout: ModelLayout) -> [Part] {
            layout.properties.indices.map { slot in
                Part(
                    keyPath: layout.keyPaths[slot], chained: layout.chainedKeyPaths[slot],
                    step: .property(layout, slot: slot))
            }
        }

        private static func parts(of type: any Any.Type) -> [Part] {
            let plain = (type as? any OptionalValue.Type)?.wrappedType ?? type
            return CompositeMembers.of(plain).map { member in
                Part(keyPath: member.keyPath, chained: member.chained, step: .member(member))
            }
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
    private struct SharedPath: @unchecked Sendable { let keyPath: AnyKeyPath }
}
