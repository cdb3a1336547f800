import MortiseCore
import Synchronization

extension ExternalFiles {
    /// The files in the folder whose names are of our form; none where there is no folder, or it cannot be listed.
    package func present() -> [ExternalReference.Name] {
        let names = try? retryingInterrupts { () throws(FileError) in try fileSystem.list(folder) }
        return (names ?? []).compactMap { ExternalReference.Name($0) }
    }

    /// Removes the files that no record names any more. Whatever is not a regular file, or cannot be removed, stays; so does
    /// everything where the records cannot all be read.
    ///
    /// The removals are not synced: a file that comes back after a power loss is swept again.
    /// - Parameters:
    ///   - names: files, as `present()` gave them before anything else was asked for.
    ///   - version: gives the records. It is on the disk, names of files included, so that none comes back that names more;
    ///     nobody else writes.
    /// - Returns: how many were removed.
    @discardableResult
    package func sweep(
        _ names: [ExternalReference.Name], keeping version: () throws -> EngineVersion
    ) rethrows -> Int {
        if names.isEmpty { return 0 }
        // In this order: what is settled meanwhile is named by the version that is asked for next.
        let (unsettled, tables) = state.withLock { ($0.unsettled, $0.tables) }
        var kept = unsettled
        let latest = try version()
        do {
            for table in latest.tables.values + tables.compactMap(\.table) {
                try table.forEachReference { _, _, reference in kept.insert(reference.name) }
            }
            try latest.checkDamage()
        } catch {
            return 0
        }
        var count = 0
        for name in names where !kept.contains(name) {
            let path = path(of: name)
            guard (try? fileSystem.info(path, followingLinks: false))?.kind == .regular else { continue }
            if (try? retryingInterrupts { () throws(FileError) in try fileSystem.unlink(path) }) != nil { count += 1 }
        }
        return count
    }

    /// Notes a version that is published: as long as somebody holds its tables, what they name stays.
    func notePublished(_ version: EngineVersion) {
        state.withLock { state in
            state.tables.removeAll { $0.table == nil }
            for table in version.tables.values
            where table.plan.keepsOutside || (state.wasThere && table.plan.hasData) {
                if !state.tables.contains(where: { $0.table === table }) { state.tables.append(.init(table: table)) }
            }
        }
    }
}

extension EngineVersion {
    /// Calls the body for each value that is in a file of its own. What of the version is still in its own file is read
    /// without being kept.
    /// - Throws: what the body throws; the error of what cannot be read.
    package func forEachReference(
        _ body: (_ table: TableVersion, _ slot: Int, _ row: Int, _ reference: ExternalReference) throws -> Void
    ) throws {
        for plan in catalog.plans {
            guard let table = tables[plan.entityName] else { continue }
            try table.forEachReference { try body(table, $0, $1, $2) }
        }
    }

    /// Whether any value is in a file of its own.
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
    /// Whether a column may have values that are in files of their own.
    func mayHaveFiles(in column: Column) -> Bool {
        plan.external.map { column.keepsOutside || (column.kind == .data && $0.state.withLock(\.wasThere)) } ?? false
    }

    func forEachReference(_ body: (_ slot: Int, _ row: Int, _ reference: ExternalReference) throws -> Void) throws {
        let slots = plan.columns.filter { $0.kind == .data && $0.form == .bytes }.map(\.slot)
        if slots.isEmpty { return }
        for (number, group) in groups.enumerated() {
            for (index, cell) in group.cells.enumerated() {
                let first = (number << ChunkGroup.shift + index) << Chunk.shift
                let count = min(Chunk.capacity, endRow - first)
                if count <= 0 { continue }
                let chunk: Chunk
                switch cell {
                case .chunk(let known): chunk = known
                case .packed(let packed): chunk = try packed.read()
                }
                let place = chunk.place
                for slot in slots {
                    let entry = place.entry(slot)
                    if entry.form != .bytes { continue }
                    for offset in 0..<count where place.isOutside(entry, offset) && !place.isDead(offset) {
                        guard let reference = ExternalReference(bytes: place.bytes(entry, offset)) else { continue }
                        try body(slot, first + offset, reference)
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

    /// The value that a reference in a row stands for.
    func read(_ reference: ExternalReference, _ row: Int, _ slot: Int) throws -> StoredValue {
        do throws(ExternalFileFault) {
            guard let files = plan.external else { throw ExternalFileFault(path: "", reason: .noPlace) }
            return .data(try files.read(reference))
        } catch {
            throw self.error(error, row, slot)
        }
    }
}
