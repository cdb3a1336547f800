public import MortiseCore

extension StoreScheme {
    /// `memory:` or `memory:NAME`: in memory, gone with the container. The option `name=ledger` says the same as `memory:ledger`.
    public static let memory = StoreScheme(
        "memory", summary: "in memory, until the process ends", location: .name,
        options: [
            StoreOption("name", .name, default: "memory", "what the store is called; the same as memory:NAME")
        ]
    ) { url in
        if let name = url.name, !url.path.isEmpty, url.path != name {
            throw url.malformed("it has two names, \"\(url.path)\" and \"\(name)\"; give one")
        }
        return InMemoryConfiguration(url.name ?? (url.path.isEmpty ? "memory" : url.path))
    }
}
