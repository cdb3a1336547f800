// What a save asks of a store, and what it answers, in the store's own form.

extension TypedSession {
    /// The request that carries out changes.
    func request(for pending: ModelChanges) throws -> DataStoreSaveChangesRequest<Store.Snapshot> {
        let changes = pending.changes
        return DataStoreSaveChangesRequest(
            inserted: try snapshots(changes.inserted.requested, of: pending.inserted),
            updated: try snapshots(
                changes.updated.map {
                    DefaultSnapshot(persistentIdentifier: $0.record, layout: $0.layout, values: $0.values)
                }, of: pending.updated),
            deleted: try snapshots(
                changes.deleted.map {
                    DefaultSnapshot(persistentIdentifier: $0.record, layout: $0.layout, values: $0.values)
                }, of: pending.deleted), editingState: editingState,
            changedSlots: changes.updated.map(\.slots), baseVersion: changes.baseVersion,
            updatedVersions: baseVersions(of: changes.updated.map(\.record)),
            deletedVersions: baseVersions(of: changes.deleted.map(\.record)))
    }

    func outcome(of result: DataStoreSaveChangesResult<Store.Snapshot>) throws -> SaveOutcome {
        var outcome = SaveOutcome(result)
        for (identifier, snapshot) in result.snapshotsToReregister {
            guard let layout = schema.layouts[identifier.entityName] else { continue }
            var taken = DefaultSnapshot(
                persistentIdentifier: identifier, layout: layout.record, values: try values(of: snapshot, in: layout))
            taken.recordVersion = recordVersion(of: snapshot)
            outcome.reregistered.append(taken)
        }
        return outcome
    }

    /// The records in the store's own form.
    private func snapshots(
        _ records: [DefaultSnapshot], of models: [any PersistentModel]
    ) throws -> [Store.Snapshot] {
        if Store.Snapshot.self == DefaultSnapshot.self {
            // The same type: a cast would go through the elements one by one.
            return unsafeBitCast(records, to: [Store.Snapshot].self)
        }
        guard models.count == records.count else { throw DataStoreError.unsupportedFeature }
        return models.map { foreignSnapshot(of: $0) }
    }

    private func foreignSnapshot<M: PersistentModel>(of model: M) -> Store.Snapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return Store.Snapshot(from: model._backingData(), relatedBackingDatas: &related)
    }
}
