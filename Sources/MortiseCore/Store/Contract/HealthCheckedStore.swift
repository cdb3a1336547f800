/// A store that can tell whether it would take the next save, without reading or writing records.
public protocol HealthCheckedStore: DataStore {
    /// Looks at what keeps the store from working: an earlier failure that has closed it for writing, damage that was met, a file
    /// or a lock that is no longer the one that was opened. Cheap, and does not wait for saves.
    /// - Throws: what is wrong.
    func checkHealth() throws
}
