#if !Inspector
/// In this module only with the package's trait `Inspector`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"Inspector\"])")
public struct Inspector {
    /// Needs the trait.
    public init() {}
}
#endif
