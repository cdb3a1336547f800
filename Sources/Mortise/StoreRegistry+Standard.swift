import MortiseAppendLog
import MortiseCore
import MortiseInMemory
import MortiseJSONFile

extension StoreRegistry {
    /// The stores of this package.
    ///
    /// - `memory:` or `memory:NAME`: in memory, gone with the container. No options.
    /// - `json:PATH`: one JSON file. Options: `allowsSave=true|false`; `integrity=required|acceptEdits`.
    /// - `log:PATH`: an append log. Options: `allowsSave=true|false`; `durability=full|batched|none`; with `batched`
    ///   `interval=50ms`, in `ms` or `s`.
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
        registry.register("log") { url in
            try url.allow(options: "allowsSave", "durability", "interval")
            return AppendLogConfiguration(
                path: try url.requiredPath(), allowsSave: try url.flag("allowsSave", default: true),
                durability: try durability(url))
        }
        return registry
    }()

    private static func durability(_ url: StoreURL) throws -> AppendLogDurability {
        let interval = url.options["interval"]
        if interval != nil, url.options["durability"] != "batched" {
            throw StoreURLError.malformed(url: url.text, fault: "interval goes with durability=batched only")
        }
        switch url.options["durability"] {
        case nil, "full": return .full
        case "none": return .none
        case "batched": return .batched(try duration(interval ?? "50ms", url))
        case .some(let other):
            throw StoreURLError.malformed(
                url: url.text, fault: "durability is full, batched or none, not \"\(other)\"")
        }
    }

    private static func duration(_ text: String, _ url: StoreURL) throws -> Duration {
        let digits = text.prefix { ("0"..."9").contains($0) }
        if let number = Int(digits), number <= 3_600_000 {
            switch text.dropFirst(digits.count) {
            case "ms": return .milliseconds(number)
            case "s" where number <= 3_600: return .seconds(number)
            default: break
            }
        }
        throw StoreURLError.malformed(url: url.text, fault: "\"\(text)\" is no interval such as 50ms or 2s")
    }
}
