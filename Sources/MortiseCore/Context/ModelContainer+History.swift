import Foundation

extension ModelContainer {
    /// Keeps what comes after a token in the histories of the stores, for a reader that has not seen it yet: no limit drops it, and nobody
    /// deletes it without saying so. It is kept where the store is: in a file beside it, or in memory.
    ///
    /// Taking a name again returns the holder as it is, with the token that it has advanced to, whatever token is given. Where one store
    /// refuses, no store has the holder.
    /// - Parameters:
    ///   - name: the holder's name.
    ///   - token: what the reader has seen; nil for everything so far.
    ///   - lease: how long it holds without advancing; nil for as long as it likes.
    ///   - maximumLag: how many bytes of a store's history it may hold; beyond, it is lost as soon as a limit drops what it needs, and
    ///     `StoreEvent.historyHolderLost` says so. Nil for any number.
    /// - Returns: the holder.
    /// - Throws: `SwiftDataError.historyTokenExpired` for a new name, if some of what comes after the token is gone already in one of the
    ///   stores, of which none holds anything then; `DataStoreError.unsupportedFeature` if no store has a history of holders;
    ///   `ModelContextError.containerClosed`; the stores' errors.
    @discardableResult
    public func holdHistory(
        _ name: String, after token: DefaultHistoryToken? = nil, lease: Duration? = nil, maximumLag: Int64? = nil
    ) throws -> HistoryHolder {
        // First what may refuse: nobody would release a holder that was never returned.
        var starts: [String: DefaultHistoryToken] = [:]
        try withArchives { archive in
            if try archive.historyHolders().contains(where: { $0.name == name }) { return }
            do {
                if let token { try archive.checkReadable(after: token) }
            } catch let error as SwiftDataError where error == .historyTokenExpired {
                // A history without holders refuses nobody.
                try archive.updateHistoryHolders { _ in }
                throw error
            }
            starts[archive.historyStore] = try token?.narrowed(to: archive.historyStore) ?? archive.lastToken()
        }
        var made: Set<String> = []
        do {
            try withArchives { archive in
                guard let start = starts[archive.historyStore] else { return }
                try archive.updateHistoryHolders { holders in
                    if holders.contains(where: { $0.name == name }) { return }
                    holders.append(HistoryHolder(name, token: start, lease: lease, maximumLag: maximumLag))
                    made.insert(archive.historyStore)
                }
                // What was there may have been dropped before it was held.
                if let token, made.contains(archive.historyStore) { try archive.checkReadable(after: token) }
            }
        } catch {
            try? withArchives { archive in
                guard made.contains(archive.historyStore) else { return }
                try archive.updateHistoryHolders { holders in holders.removeAll { $0.name == name } }
            }
            throw error
        }
        guard let holder = try historyHolders.first(where: { $0.name == name }) else {
            throw HistoryHolderError.unknown(name: name)
        }
        return holder
    }

    /// Lets a holder say what it has seen, so that it holds what comes after that. A holder never moves backwards: in each store the later
    /// of its token and the given one counts, whichever comes first. Only where its own is of another past, because a backup was restored, the
    /// given one takes its place.
    /// - Throws: `HistoryHolderError.unknown`, `.lost`; `SwiftDataError.historyTokenExpired` for a token of another past, and where its
    ///   lease had ended and some of what it needed is gone; `ModelContextError.containerClosed`; the stores' errors.
    public func advanceHistory(_ name: String, to token: DefaultHistoryToken) throws {
        var isKnown = false
        try withArchives { archive in
            let store = archive.historyStore
            guard let holder = try archive.historyHolders().first(where: { $0.name == name }) else { return }
            isKnown = true
            if holder.state == .lost { throw HistoryHolderError.lost(name: name) }
            if holder.settled(at: Date()).state == .expired { try archive.checkReadable(after: holder.token) }
            let seen = token.tokenValue?[store] == nil ? nil : token.narrowed(to: store)
            if let seen { try archive.checkPast(of: seen) }
            let isOfAnotherPast = try archive.isOfAnotherPast(holder.token)
            try archive.updateHistoryHolders { holders in
                guard let place = holders.firstIndex(where: { $0.name == name }) else {
                    throw HistoryHolderError.unknown(name: name)
                }
                if holders[place].state == .lost { throw HistoryHolderError.lost(name: name) }
                if let seen {
                    let isReplaced = isOfAnotherPast && holders[place].token == holder.token
                    holders[place].token = isReplaced ? seen : holders[place].token.advanced(by: seen)
                }
                holders[place].advanced = Date()
                holders[place].state = .active
            }
        }
        if !isKnown { throw HistoryHolderError.unknown(name: name) }
    }

    /// Ends a holder: what it held may be dropped.
    /// - Throws: `HistoryHolderError.unknown`; `ModelContextError.containerClosed`; the stores' errors.
    public func releaseHistory(_ name: String) throws {
        var isKnown = false
        try withArchives { archive in
            try archive.updateHistoryHolders { holders in
                if holders.contains(where: { $0.name == name }) { isKnown = true }
                holders.removeAll { $0.name == name }
            }
        }
        if !isKnown { throw HistoryHolderError.unknown(name: name) }
    }

    /// The holders of the stores' histories, by name. One that holds several histories is lost if one of them has lost it, and expired if
    /// one has let it expire.
    /// - Throws: `DataStoreError.unsupportedFeature` if no store has a history of holders; `ModelContextError.containerClosed`; the
    ///   stores' errors.
    public var historyHolders: [HistoryHolder] {
        get throws {
            var found: [String: HistoryHolder] = [:]
            let now = Date()
            try withArchives { archive in
                for holder in try archive.historyHolders().map({ $0.settled(at: now) }) {
                    guard var known = found[holder.name] else {
                        found[holder.name] = holder
                        continue
                    }
                    known.token = known.token.advanced(by: holder.token)
                    known.advanced = max(known.advanced, holder.advanced)
                    if holder.state == .lost || known.state == .active { known.state = holder.state }
                    found[holder.name] = known
                }
            }
            return found.values.sorted { $0.name < $1.name }
        }
    }

    /// How large the stores' histories are, and how far they reach, in the order of the configurations. Stores whose history is of
    /// another kind are left out.
    /// - Throws: `DataStoreError.unsupportedFeature` if there is no history to tell of; `ModelContextError.containerClosed`; the stores'
    ///   errors.
    public func historyStatus() throws -> [HistoryStatus] {
        var found: [HistoryStatus] = []
        try withArchives { found.append(try $0.historyStatus()) }
        return found
    }

    private func withArchives(_ body: (any HistoryArchive) throws -> Void) throws {
        try checkOpen()
        var isAny = false
        for store in stores {
            do {
                if try store.withArchive({ try body($0) }) { isAny = true }
            } catch DataStoreError.unsupportedFeature {
                // Its history has no holders, as one that no container asks.
                continue
            }
        }
        if !isAny { throw DataStoreError.unsupportedFeature }
    }
}

extension ModelContainer {
    /// What a descriptor asks of each store, whose limit is one for all of them together.
    /// - Returns: in the order of the stores; nil for one of whose history it takes nothing.
    /// - Throws: what fetching throws.
    func historyShares<T: HistoryTransaction>(of descriptor: HistoryDescriptor<T>) throws -> [HistoryDescriptor<T>?] {
        let whole = Array(repeating: Optional(descriptor), count: stores.count)
        if descriptor.fetchLimit == 0 || stores.count < 2 { return whole }
        let histories = try stores.map { try $0.deletableHistory(descriptor) }
        if histories.count(where: { $0 != nil }) < 2 { return whole }
        let taken = Set(descriptor.merged(histories.compactMap(\.self)))
        return histories.map { history in
            var share = descriptor
            guard let history else { return share }
            share.fetchLimit = UInt64(history.count(where: taken.contains))
            // No limit is another one.
            return share.fetchLimit == 0 ? nil : share
        }
    }
}

extension ModelContext {
    /// Deletes the transactions that the descriptor matches from the history. Of those in the middle of it a stub stays: who fetches what
    /// comes after an earlier token learns that something is gone, unless the rest of the predicate would have left it out.
    /// - Parameters:
    ///   - descriptor: which transactions; its order and limit count too, and apply to all stores together as in `fetchHistory(_:)`.
    ///   - force: whether to delete also what holders need. Those holders are lost; `StoreEvent.historyHolderLost` names each.
    ///   - secure: whether the values have to be gone from the storage when the call returns.
    /// - Returns: how many transactions were deleted.
    /// - Throws: `HistoryHeld` where holders need some of them, of which nothing was deleted in that store then; with `secure`, the
    ///   store's error where their values cannot leave the storage yet, after which they may be gone from the history, and holders lost;
    ///   `DataStoreError.unsupportedFeature` if no store of the container keeps such a history; the stores' errors.
    @discardableResult
    public func deleteHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>, force: Bool, secure: Bool = false
    ) throws -> Int {
        try state.prepare()
        var count = 0
        var isAny = false
        for (store, share) in zip(container.stores, try container.historyShares(of: descriptor)) {
            let isDone = try store.withArchive { archive in
                guard let share else { return }
                count += try archive.deleteTransactions(matching: share, forced: force, secure: secure) { holder in
                    StoreEvents.emit(.historyHolderLost(store: store.configurationName, holder: holder))
                }
            }
            if isDone { isAny = true }
        }
        if !isAny { throw DataStoreError.unsupportedFeature }
        return count
    }
}

extension HistoryArchive {
    /// - Throws: `SwiftDataError.historyTokenExpired` if some of what comes after the token is gone.
    func checkReadable(after token: DefaultHistoryToken) throws {
        var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token })
        descriptor.fetchLimit = 1
        _ = try transactions(matching: descriptor)
    }

    /// - Throws: `SwiftDataError.historyTokenExpired` if the token's transaction is still to come, or is another one.
    fileprivate func checkPast(of token: DefaultHistoryToken) throws {
        let narrowed = token.narrowed(to: historyStore)
        _ = try entry(narrowed.tokenValue?[historyStore] ?? 0, mark: narrowed.marks[historyStore])
    }

    fileprivate func isOfAnotherPast(_ token: DefaultHistoryToken) throws -> Bool {
        do {
            try checkPast(of: token)
            return false
        } catch SwiftDataError.historyTokenExpired { return true }
    }

    /// The token of the last transaction, with its mark: without it, what a restored backup gives the same number would count as seen.
    fileprivate func lastToken() throws -> DefaultHistoryToken {
        let bounds = try historyBounds()
        let mark =
            bounds.last == bounds.horizon ? bounds.horizonMark : try entry(bounds.last, mark: nil)?.mark
        return DefaultHistoryToken(bounds.last, mark: mark, store: historyStore)
    }
}
