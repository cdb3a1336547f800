/// How one store of a container is.
public struct StoreHealth: Sendable, Hashable, Codable {
    /// What keeps a store from working, in the order of urgency.
    public enum Status: String, Sendable, Hashable, Codable, CaseIterable {
        /// The store answers, and would take a save.
        case healthy
        /// The store answers, and its disk has less room than was asked for.
        case lowOnSpace
        /// Somebody else holds the store, or has taken its lock away.
        case locked
        /// The store cannot be read whole.
        case damaged
        /// The container is closed.
        case closed
        /// Anything else; `fault` says what.
        case failing
    }

    /// The name of the store's configuration.
    public let store: String
    /// Where the store is, such as a path, or `memory`; nil for one that does not tell.
    public let location: String?
    /// How it is.
    public let status: Status
    /// What is wrong, and what to do; nil where nothing is.
    public let fault: String?
    /// How many bytes more can be written where the store is; nil if that is not known.
    public let freeSpace: Int64?

    /// Whether the store answers. One that is low on space does.
    public var answers: Bool { status == .healthy || status == .lowOnSpace }
}

extension ModelContainer {
    /// Asks every store how it is, for the health check of a service. Cheap: records are read only of stores that cannot be asked
    /// otherwise, one of each. Waits for no save, unless a store has to be read, or takes one call at a time. Never throws: what is
    /// wrong is in the result.
    /// - Parameter leastFreeSpace: with fewer bytes free than that, a store is low on space.
    /// - Returns: one value for each store, in the order of the configurations.
    public func health(leastFreeSpace: Int64 = 64 << 20) -> [StoreHealth] {
        zip(storeConfigurations, stores).enumerated().map { index, pair in
            let (configuration, connection) = pair
            let described = configuration as? any SelfDescribingConfiguration
            let freeSpace = (try? described?.freeSpace()).flatMap(\.self)
            let error = isClosed ? nil : fault(of: connection, at: index)
            let status: StoreHealth.Status =
                // Also where it was closed meanwhile, which the store tells in words of its own.
                if isClosed {
                    .closed
                } else if let error {
                    Self.status(after: error)
                } else if let freeSpace, freeSpace < leastFreeSpace, connection.underlying.allowsSave {
                    .lowOnSpace
                } else {
                    .healthy
                }
            let text: String? =
                switch status {
                case .closed: "\(ModelContextError.containerClosed)"
                case .lowOnSpace:
                    "\(freeSpace ?? 0) bytes are free, fewer than \(leastFreeSpace). Make room on the disk."
                default: error.map { "\($0)" }
                }
            return StoreHealth(
                store: configuration.name, location: described?.location, status: status, fault: text,
                freeSpace: freeSpace)
        }
    }

    private func fault(of connection: StoreConnection, at index: Int) -> (any Error)? {
        do {
            let store = connection.underlying
            if connection.capabilities.contains(.healthChecks) {
                try connection.calling { try $0.checkHealth() }
            } else if let name = store.schema.entities.map(\.name).first(where: { storeIndex(ofEntity: $0) == index }),
                let type = schema.layouts[name]?.type
            {
                try fetchOne(of: type)
            }
            return nil
        } catch {
            return error
        }
    }

    private func fetchOne<Model: PersistentModel>(of type: Model.Type) throws {
        var descriptor = FetchDescriptor<Model>()
        descriptor.fetchLimit = 1
        // A policy of the container concerns what the app asks for.
        descriptor.fullScanPolicy = .allow
        _ = try ModelContext(self).fetch(descriptor)
    }

    private static func status(after error: any Error) -> StoreHealth.Status {
        switch (error as? any ClassifiedStoreError)?.errorClass {
        case .locked, .busy: .locked
        case .damaged: .damaged
        default: .failing
        }
    }
}
