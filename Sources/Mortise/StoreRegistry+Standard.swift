import MortiseCore
import MortiseInMemory
import MortiseJSONFile

extension StoreRegistry {
    /// The stores of this package.
    ///
    /// - `memory:` or `memory:NAME`: in memory, gone with the container. No options.
    /// - `json:PATH`: one JSON file. Options: `allowsSave=true|false`; `integrity=required|acceptEdits`.
    public static let standard: StoreRegistry = {
        var registry = StoreRegistry()
        registry.register("memory") { url in
            try url.allow()
            return InMemoryConfiguration(url.path.isEmpty ? "memory" : url.path)
        }
        registry.register("json") { url in
            try url.allow(options: "allowsSave", "integrity")
            let integrity: JSONFileIntegrity
            switch url.options["integrity"] {
            case nil, "required": integrity = .required
            case "acceptEdits": integrity = .acceptEdits
            case .some(let other):
                throw StoreURLError.malformed(
                    url: url.text, fault: "integrity is required or acceptEdits, not \"\(other)\"")
            }
            return JSONFileConfiguration(
                path: try url.requiredPath(), allowsSave: try url.flag("allowsSave", default: true),
                integrity: integrity)
        }
        return registry
    }()
}
