import Foundation

/// Works out what the stores of a container were at a point in their history.
struct PastOpening {
    let container: ModelContainer
    let point: HistoryPoint
    let allowsReplay: Bool

    /// By the place of a store in the container: what it was; nil for a store that is read as it is and has no versions.
    /// - Throws: `AsOfUnavailable`; `SwiftDataError.historyTokenExpired` for a token of another past; the stores' errors.
    func versions() throws -> [PastVersion?] {
        try container.checkOpen()
        if case .token(let token) = point {
            let names = Set(container.stores.map(\.identifier))
            guard let named = token.tokenValue?.keys, named.contains(where: names.contains) else {
                let locations = container.stores.map(\.location).joined(separator: ", ")
                throw AsOfUnavailable(store: locations, oldest: nil, reason: .otherStore)
            }
        }
        return try container.stores.map(version)
    }

    private func version(of store: StoreConnection) throws -> PastVersion? {
        let isNamed = if case .token(let token) = point { token.tokenValue?[store.identifier] != nil } else { true }
        func unavailable(_ reason: AsOfUnavailable.Reason, _ oldest: Int64? = nil) -> AsOfUnavailable {
            AsOfUnavailable(store: store.location, oldest: oldest, reason: reason)
        }
        store.saveLock.lock()
        defer { store.saveLock.unlock() }
        guard let version = store.version else {
            if isNamed { throw unavailable(.unsupported) }
            return nil
        }
        if !isNamed { return PastVersion(version, without: FoldedChanges(container.schema), under: container.schema) }
        var found: PastVersion?
        let isThere = try store.withArchive { archive in
            var version = version
            var last = try archive.historyBounds().last
            // No save of this container is under way; others come in between.
            for _ in 0..<100 {
                if let token = store.historyToken(ofVersion: version.number) as? DefaultHistoryToken,
                    let number = token.tokenValue?[store.identifier]
                {
                    last = number
                    break
                }
                guard let again = store.version, again.number != version.number else { break }
                version = again
                last = try archive.historyBounds().last
            }
            found = try self.version(archive, version, last, unavailable)
        }
        guard isThere, let found else { throw unavailable(.unsupported) }
        return found
    }

    private func version(
        _ archive: any HistoryArchive, _ version: any StoreVersion, _ last: Int64,
        _ unavailable: (AsOfUnavailable.Reason, Int64?) -> AsOfUnavailable
    ) throws -> PastVersion {
        let bounds = try archive.historyBounds()
        let number = try number(in: archive, bounds, last, unavailable)
        if number < bounds.horizon { throw unavailable(.notKept, bounds.horizon) }
        if number < bounds.erasure { throw unavailable(.erased, bounds.erasure) }
        var folded = FoldedChanges(container.schema)
        if number < last { folded = try archive.fold(number + 1...last, under: container.schema) }
        if let barrier = folded.barrier {
            let reason: AsOfUnavailable.Reason =
                switch barrier.kind {
                case .erasure: .erased
                case .migration: .migrated
                case .changes, .stub: .notKept
                }
            throw unavailable(reason, barrier.number)
        }
        var unknown = folded.withoutOld
        if !unknown.isEmpty, allowsReplay {
            folded.complete(try archive.values(of: unknown, after: number, under: container.schema))
            unknown = folded.withoutOld
        }
        if !unknown.isEmpty {
            // Later than the last change of which something is not known.
            let oldest = unknown.keys.compactMap { folded.records[$0]?.last }.max()
            throw unavailable(!allowsReplay && number > bounds.horizon ? .needsReplay : .valuesNotKept, oldest)
        }
        return PastVersion(version, without: folded, under: container.schema)
    }

    /// The number of the last transaction that counts.
    private func number(
        in archive: any HistoryArchive, _ bounds: HistoryBounds, _ last: Int64,
        _ unavailable: (AsOfUnavailable.Reason, Int64?) -> AsOfUnavailable
    ) throws -> Int64 {
        switch point {
        case .token(let token):
            let narrowed = token.narrowed(to: archive.historyStore)
            let number = narrowed.tokenValue?[archive.historyStore] ?? 0
            // The mark says whether it is the same past.
            if number >= bounds.horizon { _ = try archive.entry(number, mark: narrowed.marks[archive.historyStore]) }
            return number
        case .date(let date):
            var found: Int64?
            if bounds.horizon < last {
                try archive.readHistory(bounds.horizon + 1...last, from: nil) { entry, _ in
                    if entry.timestamp <= date { found = entry.number }
                    return true
                }
            }
            if let found { return found }
            // When the transactions were saved that are gone, nobody knows.
            if bounds.horizon > 0 { throw unavailable(.notKept, bounds.horizon) }
            return 0
        }
    }
}
