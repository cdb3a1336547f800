/// A store that can be closed; a closed store throws on every use.
public protocol ClosableDataStore: DataStore {
    /// Releases the store's files, locks and connections; `ModelContainer.close()` calls it once. Later saves throw
    /// that the store is closed; reads that need what was released throw too. Closing again does nothing.
    /// - Throws: the first error of writing or releasing something; the store is closed nevertheless.
    func close() throws
}
