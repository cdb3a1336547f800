/// What was stored when the block of a transaction that may be repeated began.
final class RepeatableStart {
    private var versions: [ObjectIdentifier: any StoreVersion] = [:]
    /// Records of stores without versions that had a unique value in an attempt before.
    private var met: Set<PersistentIdentifier> = []
    /// Whether this attempt has met a unique value that somebody else has taken since it began.
    private(set) var hasMetNews = false

    func begin(_ sessions: [StoreSession]) {
        versions = [:]
        hasMetNews = false
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
        let isKnown =
            if let version = versions[ObjectIdentifier(session)] {
                version.identifier(ofEntity: entity, constraint: constraint, values: values) == record
            } else {
                !met.insert(record).inserted
            }
        if !isKnown { hasMetNews = true }
        return isKnown
    }
}
