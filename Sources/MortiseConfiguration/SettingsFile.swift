#if Configuration && canImport(Configuration)
import Configuration
import Foundation
import MortiseEngine
import Yams

/// The keys of a JSON or YAML file, read once and at once.
struct SettingsFile {
    let values: [AbsoluteConfigKey: ConfigValue]
    private let path: String

    var provider: InMemoryProvider { InMemoryProvider(name: path, values: values) }

    /// A longer file is not accepted as settings.
    private static let longest: Int64 = 1 << 20

    /// Reads a file: YAML where its name ends in `.yaml` or `.yml`, else JSON.
    /// - Throws: `StoreSettingsError.unreadableFile`.
    init(_ path: String) throws {
        func fault(_ text: String) -> StoreSettingsError { .unreadableFile(path: path, fault: text) }
        let data: Data
        do {
            data = Data(try POSIXFileSystem().readWhole(path, limit: Self.longest).bytes)
        } catch {
            if case .exceedsLimit = error.reason { throw fault("it has more than \(Self.longest) bytes") }
            throw fault("the file does not exist or cannot be read")
        }
        // The errors would quote the file, in which secrets may stand.
        let members: [String: SettingsValue]
        if path.hasSuffix(".yaml") || path.hasSuffix(".yml") {
            var budget = SettingsBudget()
            guard let node = try? Yams.Parser(yaml: data).singleRoot(), let root = SettingsValue(node, &budget),
                case .object(let found) = root
            else { throw fault("expected a YAML mapping of text, numbers, booleans, lists and mappings") }
            members = found
        } else {
            guard let found = try? JSONDecoder().decode([String: SettingsValue].self, from: data) else {
                throw fault("expected a JSON object")
            }
            members = found
        }
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, member) in members { member.add(under: [name], to: &values) }
        self.values = values
        self.path = path
    }
}

/// How much of a YAML file is looked at: aliases make large trees of small files.
private struct SettingsBudget {
    private var left = 10_000

    mutating func take() -> Bool {
        left -= 1
        return left >= 0
    }
}

extension SettingsValue {
    /// Nil for what settings do not have: keys that are no text, keys that stand twice, and more than anybody writes.
    fileprivate init?(_ node: Yams.Node, _ budget: inout SettingsBudget) {
        guard budget.take() else { return nil }
        switch node {
        case .scalar(let scalar): self = .text(scalar.string)
        case .sequence(let sequence):
            var elements: [SettingsValue] = []
            for element in sequence {
                guard let value = SettingsValue(element, &budget) else { return nil }
                elements.append(value)
            }
            self = .list(elements)
        case .mapping(let mapping):
            var members: [String: SettingsValue] = [:]
            for (key, element) in mapping {
                guard let name = key.scalar?.string, members[name] == nil,
                    let value = SettingsValue(element, &budget)
                else { return nil }
                members[name] = value
            }
            self = .object(members)
        default: return nil
        }
    }
}

/// A value of a file; numbers and Booleans as the text that a URL would have, because decoding by type does not
/// distinguish 0 from false.
enum SettingsValue: Decodable {
    case text(String)
    case list([SettingsValue])
    case object([String: SettingsValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .text(value ? "true" : "false")
        } else if let value = try? container.decode(Int64.self) {
            self = .text("\(value)")
        } else if let value = try? container.decode(Double.self) {
            self = .text("\(value)")
        } else if let elements = try? container.decode([SettingsValue].self) {
            self = .list(elements)
        } else {
            self = .object(try container.decode([String: SettingsValue].self))
        }
    }

    func add(under key: [String], to values: inout [AbsoluteConfigKey: ConfigValue]) {
        switch self {
        case .text(let text): values[AbsoluteConfigKey(key)] = ConfigValue(.string(text), isSecret: true)
        case .list(let elements):
            let texts = elements.map { if case .text(let text) = $0 { text } else { "" } }
            values[AbsoluteConfigKey(key)] = ConfigValue(.stringArray(texts), isSecret: true)
        case .object(let members):
            for (name, member) in members { member.add(under: key + [name], to: &values) }
        }
    }
}
#endif
