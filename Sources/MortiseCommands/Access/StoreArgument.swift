#if Tool
import MortiseCore

/// A store as the command line names it.
struct StoreArgument {
    let url: StoreURL
    let configuration: any DataStoreConfiguration
    /// The URL as it may be shown.
    let name: String

    /// - Throws: `StoreURLError`; `ToolError` for a name that the configuration does not explain.
    init(_ text: String) throws {
        let registry = ToolContext.current.registry
        let url = try StoreURL(
            StoreKind.url(of: try ToolContext.current.settings.url(named: text), in: registry))
        self.url = url
        configuration = try registry.configuration(for: url)
        name = registry.redacted(url.text).shown(limit: 300)
    }

    /// The configuration as one of a store that can be opened without its models.
    /// - Throws: `ToolError.unsupported`.
    func selfDescribing() throws -> any SelfDescribingConfiguration {
        guard let configuration = configuration as? any SelfDescribingConfiguration else {
            throw ToolError.unsupported(store: name, what: "be opened without models")
        }
        return configuration
    }

    /// The configuration as one that a container can migrate.
    /// - Throws: `ToolError.unsupported`.
    func migratable() throws -> any MigratableConfiguration {
        guard let migratable = configuration as? any MigratableConfiguration else {
            throw ToolError.unsupported(store: name, what: "be migrated")
        }
        return migratable
    }

    /// The configuration as one whose store can be looked after in this way.
    /// - Throws: `ToolError.unsupported`.
    func capable(of operation: MaintenanceOperation, _ what: String) throws -> any MaintainableConfiguration {
        guard let capable = configuration.capable(of: operation) else {
            throw ToolError.unsupported(store: name, what: what)
        }
        return capable
    }

    /// - Throws: `ToolError.missing` if the store does not exist; what the adapter throws.
    func checkPresence() throws {
        if let files = try (configuration as? any SelfDescribingConfiguration)?.storeFiles(), files.isEmpty {
            throw ToolError.missing(store: name)
        }
    }

    /// Parses the argument that names a new store of this store's kind.
    /// - Parameter text: a URL of the same scheme without options, or a path.
    /// - Returns: the path.
    /// - Throws: `ToolError.usage`.
    func path(ofNewStore text: String) throws -> String { try path(text, of: "the new store") }

    /// Parses the argument that names another store of this store's kind.
    /// - Parameters:
    ///   - text: a URL of the same scheme without options, or a path.
    ///   - what: what an error calls that store.
    /// - Returns: the path.
    /// - Throws: `ToolError.usage`.
    func path(_ text: String, of what: String) throws -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let known = ToolContext.current.registry.knownSchemes.map(\.name)
        guard scheme.count < text.count, known.contains(scheme) else { return text }
        guard scheme == url.scheme else {
            throw ToolError.usage(
                "\(what) must be of the same kind as \(name): expected \(url.scheme):PATH, "
                    + "found \(text.shown(limit: 300)); to copy into another kind of store use \"mortise copy\"")
        }
        let target = try StoreURL(text)
        guard target.options.isEmpty, !target.path.isEmpty else {
            throw ToolError.usage(
                "give \(what) by its path alone: expected \(url.scheme):PATH, found \(text.shown(limit: 300))"
            )
        }
        return target.path
    }

    /// Where two URLs lead, to tell whether they lead to the same place.
    var location: String? { (configuration as? any SelfDescribingConfiguration)?.location }
}
#endif
