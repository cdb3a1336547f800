public import MortiseCore

extension StoreScheme {
    /// `memory:` or `memory:NAME`: in memory, gone with the container. No options.
    public static let memory = StoreScheme("memory", summary: "in memory, gone with the process", location: .name) {
        InMemoryConfiguration($0.path.isEmpty ? "memory" : $0.path)
    }
}
