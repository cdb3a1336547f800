#if !Tool
/// In this module only with the package's trait `Tool`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"Tool\"])")
public struct MortiseTool {}
#endif
