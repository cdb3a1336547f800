#if !Metrics
/// In this module only with the package's trait `Metrics`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"Metrics\"])")
public enum StoreMetrics {}
#endif
