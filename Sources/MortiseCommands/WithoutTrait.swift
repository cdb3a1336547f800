#if !Tool
public import MortiseCore

/// In this module only with the package's trait `Tool`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"Tool\"])")
public struct MortiseTool {
    /// Needs the trait.
    public init(registry: StoreRegistry, version: String = "") {}

    /// Needs the trait.
    public func run() {}
}
#endif
