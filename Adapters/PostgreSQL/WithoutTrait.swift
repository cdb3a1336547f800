#if !PostgreSQL
/// In this module only with the package's trait `PostgreSQL`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"PostgreSQL\"])")
public enum PostgreSQLStore {}
#endif
