package import MortiseCore

extension MigratableConfiguration {
    /// Opens the store under the schema that it holds, which another process may change between looking and locking.
    /// - Parameter open: opens the store; returns nil if it holds another schema than that by now.
    /// - Returns: what `open` returned.
    /// - Throws: `MigrationError.storeGone`, `.openElsewhere` for a store that others change again and again; what opening throws.
    package func openingUnderStoredSchema<R>(_ open: (StoredSchema) throws -> R?) throws -> R {
        for _ in 0..<16 {
            guard let stored = try storedSchema() else { throw MigrationError.storeGone(store: name) }
            do {
                if let opened = try open(stored) { return opened }
            } catch {
                if try storedSchema() == stored { throw error }
            }
        }
        throw MigrationError.openElsewhere(store: name)
    }
}
