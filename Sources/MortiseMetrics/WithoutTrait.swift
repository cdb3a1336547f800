#if !Metrics
/// In this module only with the package's trait `Metrics`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"Metrics\"])")
public enum StoreMetrics {
    /// Needs the trait.
    public static func start(slowFetchLimit limit: Duration = .zero) {}
}
#endif
