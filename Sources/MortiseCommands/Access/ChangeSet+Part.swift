#if Tool
import MortiseCore

extension ChangeSet {
    /// The changes of some records alone; nil where no change is of one of them.
    func part(of isWanted: (PersistentIdentifier) -> Bool) -> ChangeSet? {
        var part = self
        part.updated = updated.filter { isWanted($0.record) }
        part.deleted = deleted.filter { isWanted($0.record) }
        part.inserted =
            inserted.hasValues
            ? Insertions(inserted.values.filter { isWanted($0.persistentIdentifier) })
            : Insertions(records: inserted.records.filter(isWanted))
        return part.isEmpty ? nil : part
    }
}
#endif
