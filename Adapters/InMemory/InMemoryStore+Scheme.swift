public import MortiseCore

extension StoreScheme {
    /// `memory:` or `memory:NAME`: in memory, gone with the container. No options.
    public static let memory = StoreScheme("memory", summary: "in memory, until the process ends", location: .name) {
        InMemoryConfiguration($0.path.isEmpty ? "memory" : $0.path)
    }
}
