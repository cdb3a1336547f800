/// What was stored when the block of a transaction that may be repeated began.
final class RepeatableStart {
    private var versions: [ObjectIdentifier: any StoreVersion] = [:]
    /// Records of stores without versions that had a unique value in an attempt before.
    private var met: Set<PersistentIdentifier> = []
    /// Whether an attempt before has met such records.
    private var hasLearnt = false
    /// Whether this attempt has met a unique value that somebody else has taken since it began.
    private(set) var hasMetNews = false
    /// Whether all of that may have been taken long before it began: it was the first to meet records of stores without versions.
    private(set) var mayHaveMetOld = false

    func begin(_ sessions: [StoreSession]) {
        versions = [:]
        hasLearnt = !met.isEmpty
        hasMetNews = false
        mayHaveMetOld = false
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
        if let version = versions[ObjectIdentifier(session)] {
            if version.identifier(ofEntity: entity, constraint: constraint, values: values) == record { return true }
            (hasMetNews, mayHaveMetOld) = (true, false)
            return false
        }
        guard met.insert(record).inserted else { return true }
        if !hasMetNews { mayHaveMetOld = !hasLearnt }
        hasMetNews = true
        return false
    }
}
