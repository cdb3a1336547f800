#if !Configuration
public import MortiseCore

/// In this module only with the package's trait `Configuration`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"Configuration\"])")
public struct StoreSettings {
    /// Needs the trait.
    public static func standard(arguments: [String] = []) throws -> StoreSettings { StoreSettings() }

    /// Needs the trait.
    public func url(named name: String? = nil, registry: StoreRegistry) throws -> String? { nil }
}
#endif
