import Foundation

/// Works out what one store was at a point in its history.
struct PastReading {
    let schema: Schema
    let point: HistoryPoint
    let allowsReplay: Bool
    /// The store's place, for errors.
    let location: String

    func unavailable(_ reason: AsOfUnavailable.Reason, _ oldest: Int64? = nil) -> AsOfUnavailable {
        AsOfUnavailable(store: location, oldest: oldest, reason: reason)
    }

    /// - Parameters:
    ///   - archive: the store's history.
    ///   - version: a version of the store.
    ///   - last: the transaction that led to it.
    /// - Returns: the version under what has been taken back.
    /// - Throws: `AsOfUnavailable`; `SwiftDataError.historyTokenExpired`; the store's errors.
    func version(
        _ archive: any HistoryArchive, _ version: any StoreVersion, _ last: Int64
    ) throws -> PastVersion {
        let bounds = try archive.historyBounds()
        let number = try number(in: archive, bounds, last)
        if number < bounds.horizon { throw unavailable(.notKept, bounds.horizon) }
        if number < bounds.erasure { throw unavailable(.erased, bounds.erasure) }
        var folded = FoldedChanges(schema)
        if number < last { folded = try archive.fold(number + 1...last, under: schema) }
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
            folded.complete(try archive.values(of: unknown, after: number, under: schema))
            unknown = folded.withoutOld
        }
        if !unknown.isEmpty {
            // Later than the last change of which something is not known.
            let oldest = unknown.keys.compactMap { folded.records[$0]?.last }.max()
            throw unavailable(!allowsReplay && number > bounds.horizon ? .needsReplay : .valuesNotKept, oldest)
        }
        return PastVersion(version, without: folded, under: schema)
    }

    /// The number of the last transaction that counts.
    private func number(in archive: any HistoryArchive, _ bounds: HistoryBounds, _ last: Int64) throws -> Int64 {
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

extension VersionedDataStore {
    /// The store as it was at a point in its history, for a program that reads stores without models.
    /// - Parameters:
    ///   - point: the point; a token has to name the store.
    ///   - schema: what the store was opened with.
    /// - Returns: its records as they were.
    /// - Throws: `AsOfUnavailable`; `SwiftDataError.historyTokenExpired`; the store's errors.
    package func version(asOf point: HistoryPoint, under schema: Schema) throws -> any StoreVersion {
        func reading(_ location: String) -> PastReading {
            PastReading(schema: schema, point: point, allowsReplay: true, location: location)
        }
        guard let archive = historyArchive else { throw reading(identifier).unavailable(.unsupported) }
        let version = currentVersion
        let token = historyToken(ofVersion: version.number) as? DefaultHistoryToken
        let last = try token?.tokenValue?[identifier] ?? archive.historyBounds().last
        return try reading(archive.historyLocation).version(archive, version, last)
    }
}
