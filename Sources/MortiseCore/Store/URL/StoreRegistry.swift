/// Maps the scheme of a store URL to the configuration that opens it.
public struct StoreRegistry: Sendable {
    private var schemes: [String: StoreScheme] = [:]

    /// Creates a registry of the given schemes; of two with one name, the later one counts.
    public init(_ schemes: StoreScheme...) {
        for scheme in schemes { register(scheme) }
    }

    /// Adds a scheme, or replaces the one of that name.
    public mutating func register(_ scheme: StoreScheme) { schemes[scheme.name] = scheme }

    /// The known schemes, in order of their names.
    public var knownSchemes: [StoreScheme] { schemes.values.sorted { $0.name < $1.name } }

    /// The configuration for a store URL.
    /// - Throws: `StoreURLError`, which lists what is allowed; what the adapter throws.
    public func configuration(for text: String) throws -> any DataStoreConfiguration {
        try configuration(for: StoreURL(text))
    }

    /// The configuration for a store URL.
    /// - Throws: `StoreURLError`, which lists what is allowed; what the adapter throws.
    public func configuration(for url: StoreURL) throws -> any DataStoreConfiguration {
        try scheme(of: url).configuration(for: url)
    }

    /// The scheme of a store URL.
    /// - Throws: `StoreURLError.unknownScheme`.
    public func scheme(of url: StoreURL) throws(StoreURLError) -> StoreScheme {
        guard let scheme = schemes[url.scheme] else {
            throw .unknownScheme(url: url.redacted, scheme: url.scheme, known: knownSchemes.map(\.name))
        }
        return scheme
    }

    /// A text that should be a store URL, made safe to show and log: without passwords, without options that are secret
    /// by declaration or by name, and without what cannot be parsed.
    public func redacted(_ text: String) -> String {
        let scheme = schemes[text.prefix { $0 != ":" }.lowercased()]
        return StoreURLRedaction.redacted(text, hiding: Set(scheme?.options.filter(\.isSecret).map(\.name) ?? []))
    }
}
