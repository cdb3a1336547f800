#if !SQLite
/// In this module only with the package's trait `SQLite`.
@available(*, unavailable, message: "depend on Mortise with its trait: .package(url: …, traits: [\"SQLite\"])")
public enum SQLiteStore {}
#endif
