import Foundation

extension HistoryArchive {
    /// The transactions that a descriptor asks for. Changes are read of those alone that are returned, or whose changes the predicate
    /// looks at.
    package func transactions(
        matching descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        let (found, haveChanges) = try matches(descriptor)
        return haveChanges ? found : try withChanges(found)
    }

    /// The transactions that deleting by a descriptor takes, without their changes: nobody misses what is gone already, and values are
    /// read only where the predicate or the order looks at them.
    func deletable(
        matching descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] { try matches(descriptor, isDeleting: true).found }

    private func matches(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>, isDeleting: Bool = false
    ) throws -> (found: [DefaultHistoryTransaction], haveChanges: Bool) {
        let query = HistoryQuery(descriptor.predicate, store: historyStore)
        let limit = descriptor.fetchLimit == 0 ? Int.max : Int(clamping: descriptor.fetchLimit)
        let sortsHeaders = descriptor.sortBy.allSatisfy {
            $0.keyPath.map { HistoryQuery.headerPaths.contains($0) } ?? false
        }
        // What is sorted away needs no changes.
        let isSortedAway = !descriptor.sortBy.isEmpty && limit < .max && !query.readsChanges
        let isLoading = !sortsHeaders || !(isDeleting || isSortedAway)
        var found: [DefaultHistoryTransaction] = []
        try forEachMatch(query, loading: isLoading, isDeleting: isDeleting) { entry, changes in
            found.append(entry.transaction(of: historyStore, changes))
            return !descriptor.sortBy.isEmpty || found.count < limit
        }
        if descriptor.sortBy.isEmpty { return (found, isLoading) }
        found.sort(using: descriptor.sortBy)
        if found.count > limit { found.removeLast(found.count - limit) }
        return (found, isLoading)
    }

    /// Reads the changes of transactions that were found.
    private func withChanges(_ found: [DefaultHistoryTransaction]) throws -> [DefaultHistoryTransaction] {
        let numbers = found.map(\.transactionIdentifier)
        guard let first = numbers.min(), let last = numbers.max() else { return found }
        let wanted = Set(numbers)
        var made: [Int64: DefaultHistoryTransaction] = [:]
        try readHistory(first...last, from: nil) { entry, changes in
            if wanted.contains(entry.number) {
                made[entry.number] = entry.transaction(of: historyStore, try changes())
            }
            return true
        }
        return found.map { made[$0.transactionIdentifier] ?? $0 }
    }

    /// Hands over the entries that match, oldest first and with their changes if these are to be loaded, until the body returns
    /// false.
    private func forEachMatch(
        _ query: HistoryQuery, loading isLoading: Bool, isDeleting: Bool = false,
        _ body: (HistoryEntry, [HistoryChange]) throws -> Bool
    ) throws {
        let bounds = try historyBounds()
        let origin = isDeleting ? nil : query.origin
        if let origin { try check(origin, bounds) }
        guard let numbers = query.numbers, numbers.lowerBound <= bounds.last else { return }
        let end = min(numbers.upperBound, bounds.last)
        var expected = numbers.lowerBound
        var isEnded = false
        // Between an origin and the first that is late enough something may be missing.
        try readHistory(numbers.lowerBound...end, from: origin == nil ? query.earliest : nil) { entry, changes in
            if let origin, entry.number > expected { throw expired(origin, bounds, "\(expected) is lost") }
            expected = entry.number + 1
            if let origin, entry.kind == .erasure, entry.number > origin.number {
                throw expired(origin, bounds, "\(entry.number) removed all records")
            }
            let header = entry.transaction(of: historyStore)
            guard try query.mayMatch(header) else { return true }
            if entry.kind == .stub {
                if let origin { throw expired(origin, bounds, "\(entry.number) was deleted from the history") }
                return true
            }
            let made = isLoading || query.readsChanges ? try changes() : []
            guard try query.matches(entry.transaction(of: historyStore, made)) else { return true }
            isEnded = try !body(entry, made)
            return !isEnded
        }
        if let origin, !isEnded, expected <= end { throw expired(origin, bounds, "\(expected) is lost") }
    }

    /// Whether the history goes on from where a token was made.
    private func check(_ origin: HistoryQuery.Origin, _ bounds: HistoryBounds) throws {
        let number = origin.number
        if origin.isIncluded ? number <= bounds.horizon && bounds.horizon > 0 : number < bounds.horizon {
            throw expired(origin, bounds, "it begins after \(bounds.horizon)")
        }
        if number > bounds.last { throw expired(origin, bounds, "its last transaction is \(bounds.last)") }
        if number < bounds.erasure { throw expired(origin, bounds, "\(bounds.erasure) removed all records") }
        guard number > 0, let mark = origin.mark else { return }
        var kept: UInt64?
        if number == bounds.horizon {
            kept = bounds.horizonMark
        } else {
            try readHistory(number...number, from: nil) { entry, _ in
                kept = entry.mark
                return false
            }
        }
        if let kept, kept != mark {
            throw expired(
                origin, bounds, "\(number) is another transaction in it; the store was restored, copied or salvaged")
        }
    }

    private func expired(_ origin: HistoryQuery.Origin, _ bounds: HistoryBounds, _ why: String) -> SwiftDataError {
        .historyTokenExpired(
            store: historyLocation, after: origin.number, oldest: bounds.horizon + 1, because: why)
    }

    /// Forgets what a descriptor matches; its order and limit count too.
    /// - Parameters:
    ///   - descriptor: which transactions.
    ///   - isForced: whether holders that need it are lost instead.
    ///   - isSecure: as for `removeHistory`.
    ///   - reportLost: called with the name of each holder that is lost by that.
    /// - Returns: how many transactions were forgotten.
    /// - Throws: `HistoryHeld`; why the history cannot be read or changed; what evaluating the predicate throws.
    package func deleteTransactions(
        matching descriptor: HistoryDescriptor<DefaultHistoryTransaction>, forced isForced: Bool = false,
        secure isSecure: Bool = false, reportingLost reportLost: (_ holder: String) -> Void = { _ in }
    ) throws -> Int {
        var descriptor = descriptor
        if descriptor.fetchLimit == 0 { descriptor.sortBy = [] }
        let numbers = try deletable(matching: descriptor).map(\.transactionIdentifier).sorted()
        guard let last = numbers.last else { return 0 }
        let holders = try historyHolders().filter { $0.needs(last, of: historyStore) }
        if !holders.isEmpty, !isForced {
            throw HistoryHeld(store: historyLocation, holders: holders.map(\.name).sorted())
        }
        let names = Set(holders.map(\.name))
        // First: whatever happens in between, nobody counts as holding what is gone.
        try turn(names, from: .active, to: .lost)
        do {
            try removeHistory(numbers, secure: isSecure)
        } catch {
            if (try? isKept(last)) ?? false {
                try? turn(names, from: .lost, to: .active)
            } else {
                names.sorted().forEach(reportLost)
            }
            throw error
        }
        names.sorted().forEach(reportLost)
        return numbers.count
    }

    private func turn(_ names: Set<String>, from old: HistoryHolder.State, to new: HistoryHolder.State) throws {
        if names.isEmpty { return }
        try updateHistoryHolders { holders in
            for place in holders.indices where names.contains(holders[place].name) && holders[place].state == old {
                holders[place].state = new
            }
        }
    }

    private func isKept(_ number: Int64) throws -> Bool {
        var isKept = false
        try readHistory(number...number, from: nil) { entry, _ in
            isKept = entry.kind != .stub
            return false
        }
        return isKept
    }
}
