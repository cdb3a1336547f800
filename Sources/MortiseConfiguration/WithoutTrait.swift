#if !Configuration
/// In this module only with the package's trait `Configuration`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"Configuration\"])")
public struct StoreSettings {}
#endif
