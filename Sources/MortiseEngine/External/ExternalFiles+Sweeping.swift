import MortiseCore
import Synchronization

extension ExternalFiles {
    /// The files in the folder whose names are of our form; empty if there is no folder, a link is at its path, or it
    /// cannot be listed.
    package func present() -> [ExternalReference.Name] { (try? names(in: folder)) ?? [] }

    /// Which of the files that no record names are removed for good.
    package enum Dropping: Sendable {
        /// None: they are moved aside, since an older copy of the store may have been put in the place of a newer one.
        case nothing
        /// Those that this process has written since it opened the store: no other copy of the store names them.
        case written
        /// All of them.
        case everything
    }

    /// Moves the files aside that no record names any more, and moves those back that one does. Whatever is not a regular file,
    /// or cannot be moved, stays.
    ///
    /// Nothing is touched where the records cannot all be read, or the folder is not marked as this store's. A folder without
    /// a mark is marked where the records name data and all of these are there.
    ///
    /// A crash leaves each file in one of the two places; it is read from either.
    /// - Parameters:
    ///   - names: files, as `present()` gave them before anything else was asked for.
    ///   - dropping: what is removed instead, also of what was moved aside before.
    ///   - isCertain: asked once all records have been read; false leaves everything where it is.
    ///   - version: gives the records. It is on the disk, names of files included, so that none comes back that names more;
    ///     nobody else writes.
    /// - Returns: how many were moved aside or removed.
    @discardableResult
    package func sweep(
        _ names: [ExternalReference.Name], dropping: Dropping = .nothing, where isCertain: () -> Bool = { true },
        keeping version: () throws -> EngineVersion
    ) rethrows -> Int {
        guard let aside = try? self.names(in: asideFolder), !names.isEmpty || !aside.isEmpty else { return 0 }
        // In this order: what is settled meanwhile is named by the version that is asked for next.
        let (unsettled, tables, owner, written) = state.withLock { ($0.unsettled, $0.tables, $0.owner, $0.written) }
        var named: Set<ExternalReference.Name> = []
        let latest = try version()
        do {
            for table in latest.tables.values + tables.compactMap(\.table) {
                try table.forEachReference { _, _, reference in named.insert(reference.name) }
            }
            try latest.checkDamage()
        } catch {
            return 0
        }
        guard let owner, isCertain(), isMarked(for: owner, named, names, aside) else { return 0 }
        let kept = named.union(unsettled)
        restore(aside.filter(kept.contains))
        let unnamed = names.filter { !kept.contains($0) }
        func isDropped(_ name: ExternalReference.Name) -> Bool {
            switch dropping {
            case .nothing: false
            case .written: written.contains(name)
            case .everything: true
            }
        }
        let dropped =
            remove(unnamed.filter(isDropped).map { path(of: $0) })
            + remove(aside.filter { !kept.contains($0) && isDropped($0) }.map { asidePath(of: $0) })
        removeUnfinishedMarks()
        return dropped + moveAside(unnamed.filter { !isDropped($0) })
    }

    /// Whether the folder is this store's, by its mark; or by what it holds, where it has none yet.
    private func isMarked(
        for owner: String, _ named: Set<ExternalReference.Name>, _ present: [ExternalReference.Name],
        _ aside: [ExternalReference.Name]
    ) -> Bool {
        switch try? mark(of: owner) {
        case .mine: return true
        case .another, nil: return false
        case .missing:
            guard !named.isEmpty, named.isSubset(of: Set(present).union(aside)) else { return false }
            return (try? writeMark(of: owner)) != nil
        }
    }

    private func isRegular(_ path: String) -> Bool {
        (try? fileSystem.info(path, followingLinks: false))?.kind == .regular
    }

    private func remove(_ paths: [String]) -> Int {
        paths.count { path in
            isRegular(path) && (try? retryingInterrupts { () throws(FileError) in try fileSystem.unlink(path) }) != nil
        }
    }

    /// Removes what a process has left that died while it marked the folder. Nobody else writes to it.
    package func removeUnfinishedMarks() {
        guard (try? fileSystem.info(folder, followingLinks: false))?.kind == .directory else { return }
        let names = (try? retryingInterrupts { () throws(FileError) in try fileSystem.list(folder) }) ?? []
        let unfinished = names.filter { TemporaryName.matches($0, of: Self.markName) }
        _ = remove(unfinished.map { PathText.join(folder, $0) })
    }

    /// - Returns: how many were moved.
    private func moveAside(_ names: [ExternalReference.Name]) -> Int {
        if names.isEmpty { return 0 }
        do {
            if try fileSystem.infoIfPresent(asideFolder, followingLinks: false) == nil {
                let searchable = permissions | (permissions & 0o444) >> 2
                try retryingInterrupts { () throws(FileError) in
                    try fileSystem.createDirectory(asideFolder, permissions: searchable)
                }
                // Before anything is in it that a power cut could take along.
                try fileSystem.syncDirectory(folder)
            }
            guard try fileSystem.info(asideFolder, followingLinks: false).kind == .directory else { return 0 }
        } catch {
            return 0
        }
        return move(names.map { (path(of: $0), asidePath(of: $0)) }, into: asideFolder, from: folder)
    }

    private func restore(_ names: [ExternalReference.Name]) {
        _ = move(names.map { (asidePath(of: $0), path(of: $0)) }, into: folder, from: asideFolder)
    }

    private func move(_ paths: [(source: String, target: String)], into target: String, from source: String) -> Int {
        var count = 0
        for (from, to) in paths where isRegular(from) {
            switch Result(catching: { () throws(FileError) in try fileSystem.infoIfPresent(to, followingLinks: false) })
            {
            case .success(nil): if (try? fileSystem.rename(from, to: to)) != nil { count += 1 }
            // A power cut between the two syncs below has left it in both places.
            case .success(.some): if isRegular(to), hasSameContents(from, to) { count += remove([from]) }
            case .failure: continue
            }
        }
        if count > 0 {
            // The new names first: a file may be in both places after a power cut, but never in none.
            try? fileSystem.syncDirectory(target)
            try? fileSystem.syncDirectory(source)
        }
        return count
    }

    private func hasSameContents(_ first: String, _ second: String) -> Bool {
        let same = try? retryingInterrupts { () throws(FileError) in
            let one = try fileSystem.open(first, mode: .read)
            defer { try? one.close() }
            let other = try fileSystem.open(second, mode: .read)
            defer { try? other.close() }
            guard try one.info().size == other.info().size else { return false }
            var offset: Int64 = 0
            while true {
                let piece = try one.readAll(count: 1 << 20, at: offset)
                guard try other.readAll(count: 1 << 20, at: offset) == piece else { return false }
                if piece.isEmpty { return true }
                offset += Int64(piece.count)
            }
        }
        return same ?? false
    }

    /// Notes a published version: as long as its tables are retained, the files that they name stay.
    func notePublished(_ version: EngineVersion) {
        state.withLock { state in
            state.tables.removeAll { $0.table == nil }
            for table in version.tables.values
            where table.plan.storesExternally || (state.wasThere && table.plan.hasData) {
                if !state.tables.contains(where: { $0.table === table }) { state.tables.append(.init(table: table)) }
            }
        }
    }
}

extension EngineVersion {
    /// Calls the body for each external value. Parts of the version that are still in its file are read without being
    /// kept.
    /// - Throws: what the body throws; the error of what cannot be read.
    package func forEachReference(
        _ body: (_ table: TableVersion, _ slot: Int, _ row: Int, _ reference: ExternalReference) throws -> Void
    ) throws {
        for plan in catalog.plans {
            guard let table = tables[plan.entityName] else { continue }
            try table.forEachReference { try body(table, $0, $1, $2) }
        }
    }

    /// Whether any value is external.
    /// - Throws: the error of what cannot be read.
    package func hasReferences() throws -> Bool {
        struct Found: Error {}
        do {
            try forEachReference { _, _, _, _ in throw Found() }
            return false
        } catch is Found {
            return true
        }
    }

    /// The error that users of the store get for a value whose file is at fault.
    package func error(_ fault: ExternalFileFault, _ table: TableVersion, _ slot: Int, _ row: Int) -> ExternalValueError
    {
        table.error(fault, row, slot)
    }
}

extension TableVersion {
    /// Whether a column may have external values.
    func mayHaveFiles(in column: Column) -> Bool {
        plan.external.map { column.storesExternally || (column.kind == .data && $0.state.withLock(\.wasThere)) }
            ?? false
    }

    func forEachReference(_ body: (_ slot: Int, _ row: Int, _ reference: ExternalReference) throws -> Void) throws {
        let slots = plan.columns.filter { $0.kind == .data && $0.form == .bytes }.map(\.slot)
        if slots.isEmpty { return }
        for (number, group) in groups.enumerated() {
            for (index, cell) in group.cells.enumerated() {
                let first = (number << ChunkGroup.shift + index) << Chunk.shift
                let count = min(Chunk.capacity, endRow - first)
                if count <= 0 { continue }
                let chunk = try cell.read()
                // A place does not hold its chunk, which nobody else may hold.
                try withExtendedLifetime(chunk) {
                    let place = chunk.place
                    for slot in slots {
                        let entry = place.entry(slot)
                        if entry.form != .bytes { continue }
                        for offset in 0..<count where place.isExternal(entry, offset) && !place.isDead(offset) {
                            guard let reference = ExternalReference(bytes: place.bytes(entry, offset)) else { continue }
                            try body(slot, first + offset, reference)
                        }
                    }
                }
            }
        }
    }

    /// The error that users of the store get for a value whose file is at fault.
    func error(_ fault: ExternalFileFault, _ row: Int, _ slot: Int) -> ExternalValueError {
        ExternalValueError(
            entity: plan.entityName, property: layout.slots[slot].name, record: identifier(ofRow: row), fault: fault)
    }

    /// Reads the value behind a reference in a row.
    func read(_ reference: ExternalReference, _ row: Int, _ slot: Int) throws -> StoredValue {
        do throws(ExternalFileFault) {
            guard let files = plan.external else { throw ExternalFileFault(path: "", reason: .noPlace) }
            return .data(try files.read(reference))
        } catch {
            throw self.error(error, row, slot)
        }
    }
}
