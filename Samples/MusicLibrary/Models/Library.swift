import Mortise

/// The models of the music library, and the way to open a store of them.
enum Library {
    /// All models; those that refer to others come after them.
    static var types: [any PersistentModel.Type] {
        [
            Genre.self, MediaType.self, Artist.self, Album.self, Track.self, Playlist.self,
            Employee.self, Customer.self, Invoice.self, InvoiceLine.self,
        ]
    }

    /// A context on the library in the store with the URL `store`.
    ///
    /// - Throws: what the store throws if it cannot be opened.
    static func open(_ store: String) throws -> ModelContext {
        let container = try ModelContainer(for: Schema(types), store: store)
        container.fullScanPolicy = .refuse
        return ModelContext(container)
    }

    /// The URL of a store as it may be printed: without secrets.
    static func shown(_ store: String) -> String { StoreRegistry.standard.redacted(store) }

    /// Whether `context` finds nothing at all.
    static func isEmpty(_ context: ModelContext) throws -> Bool {
        func holds<T: PersistentModel>(_ type: T.Type) throws -> Bool {
            try context.fetchCount(FetchDescriptor<T>()) > 0
        }
        return try !types.contains { try holds($0) }
    }

    /// Deletes everything that `context` finds; nothing of it reaches the store before the context saves.
    static func deleteAll(in context: ModelContext) throws {
        func deleteAll<T: PersistentModel>(_ type: T.Type) throws {
            for model in try context.fetch(FetchDescriptor<T>()) { context.delete(model) }
        }
        for type in types.reversed() { try deleteAll(type) }
    }
}
