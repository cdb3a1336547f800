/// The identifiers that the records of a context's last save had before it, so that what was kept of them still leads
/// somewhere.
struct SettledIdentifiers {
    private var temporary: [PersistentIdentifier] = []
    private var permanent: [PersistentIdentifier] = []
    private var index: [PersistentIdentifier: Int]?

    mutating func add(_ temporary: PersistentIdentifier, _ permanent: PersistentIdentifier) {
        self.temporary.append(temporary)
        self.permanent.append(permanent)
        index = nil
    }

    /// The identifier that a record got in place of a temporary one.
    mutating func permanent(of identifier: PersistentIdentifier) -> PersistentIdentifier? {
        if temporary.isEmpty { return nil }
        // Made only for those who ask.
        if index == nil {
            index = Dictionary(zip(temporary, temporary.indices), uniquingKeysWith: { first, _ in first })
        }
        return index?[identifier].map { permanent[$0] }
    }
}
