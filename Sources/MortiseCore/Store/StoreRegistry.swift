/// Which configuration a store URL stands for.
public struct StoreRegistry: Sendable {
    private var schemes: [String: StoreScheme] = [:]

    /// A registry that knows the schemes given; of two that have one name, the later.
    public init(_ schemes: StoreScheme...) {
        for scheme in schemes { register(scheme) }
    }

    /// Adds a scheme, or replaces the one of that name.
    public mutating func register(_ scheme: StoreScheme) { schemes[scheme.name] = scheme }

    /// The schemes known, by name.
    public var knownSchemes: [StoreScheme] { schemes.values.sorted { $0.name < $1.name } }

    /// - Throws: `StoreURLError`, which lists what is allowed; what the adapter throws.
    public func configuration(for text: String) throws -> any DataStoreConfiguration {
        try configuration(for: StoreURL(text))
    }

    /// - Throws: `StoreURLError`, which lists what is allowed; what the adapter throws.
    public func configuration(for url: StoreURL) throws -> any DataStoreConfiguration {
        try scheme(of: url).configuration(for: url)
    }

    /// - Throws: `StoreURLError.unknownScheme`.
    public func scheme(of url: StoreURL) throws(StoreURLError) -> StoreScheme {
        guard let scheme = schemes[url.scheme] else {
            throw .unknownScheme(url: url.redacted, scheme: url.scheme, known: knownSchemes.map(\.name))
        }
        return scheme
    }

    /// A text that should be a store URL as it may be shown and logged: without passwords, without what its scheme or its
    /// name calls secret, and without what is not understood.
    public func redacted(_ text: String) -> String {
        let scheme = schemes[text.prefix { $0 != ":" }.lowercased()]
        return StoreURLRedaction.redacted(text, hiding: Set(scheme?.options.filter(\.isSecret).map(\.name) ?? []))
    }
}
