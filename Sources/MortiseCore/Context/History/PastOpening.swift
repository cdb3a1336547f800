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
        let reading = PastReading(
            schema: container.schema, point: point, allowsReplay: allowsReplay, location: store.location)
        store.saveLock.lock()
        defer { store.saveLock.unlock() }
        guard let version = store.version else {
            if isNamed { throw reading.unavailable(.unsupported) }
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
            found = try reading.version(archive, version, last)
        }
        guard isThere, let found else { throw reading.unavailable(.unsupported) }
        return found
    }
}
