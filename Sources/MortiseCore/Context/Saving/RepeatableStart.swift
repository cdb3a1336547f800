/// What was stored when the block of a transaction that may be repeated began.
final class RepeatableStart {
    private var versions: [ObjectIdentifier: any StoreVersion] = [:]
    /// Records of stores without versions that had a unique value in an attempt before.
    private var met: Set<PersistentIdentifier> = []

    func begin(_ sessions: [StoreSession]) {
        versions = [:]
        for session in sessions {
            if let version = session.version { versions[ObjectIdentifier(session)] = version }
        }
    }

    /// Whether a record had the values of a unique constraint already, so that a new model that has them, too, is meant to update
    /// it.
    func knew(
        _ record: PersistentIdentifier, _ values: [StoredValue], _ constraint: Int, ofEntity entity: String,
        in session: StoreSession
    ) -> Bool {
        guard let version = versions[ObjectIdentifier(session)] else { return !met.insert(record).inserted }
        return version.identifier(ofEntity: entity, constraint: constraint, values: values) == record
    }
}
