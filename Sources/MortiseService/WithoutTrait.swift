#if !ServiceLifecycle
public import MortiseCore

/// In this module only with the package's trait `ServiceLifecycle`.
@available(
    *, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"ServiceLifecycle\"])"
)
public struct ContainerService {
    /// Needs the trait.
    public init(_ container: ModelContainer, healthInterval: Duration? = nil) {}
}
#endif
