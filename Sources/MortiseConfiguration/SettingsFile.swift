#if canImport(Configuration)
import Configuration
import Foundation

/// The keys of a JSON file, read once and at once.
enum SettingsFile {
    /// A file of settings that is longer than this is none.
    private static let longest = 1 << 20

    /// - Throws: `StoreSettingsError.unreadableFile`.
    static func provider(_ path: String) throws -> InMemoryProvider {
        func fault(_ text: String) -> StoreSettingsError { .unreadableFile(path: path, fault: text) }
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
            throw fault("there is no such file, or it may not be read")
        }
        guard data.count <= longest else { throw fault("it has more than \(longest) bytes") }
        // The error would quote the file, in which secrets may stand.
        guard let members = try? JSONDecoder().decode([String: SettingsValue].self, from: data) else {
            throw fault("it holds no JSON object")
        }
        var values: [AbsoluteConfigKey: ConfigValue] = [:]
        for (name, member) in members { member.add(under: [name], to: &values) }
        return InMemoryProvider(name: path, values: values)
    }
}

/// A value of a file, numbers and truth values as the text that a URL would have: asked for by type, 0 is not told from
/// false.
private enum SettingsValue: Decodable {
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
