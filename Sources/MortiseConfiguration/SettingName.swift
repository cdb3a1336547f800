#if Configuration
/// The name of a setting, spelled as in its source: for finding settings that have no effect.
struct SettingName: Sendable {
    /// As it was written.
    let text: String
    /// Where it was written.
    let place: String
    /// Its words in lower case with `_` between, alike wherever it was written.
    let words: String

    /// A key of a file.
    init(_ components: [String], in path: String) {
        text = components.joined(separator: ".")
        place = path
        words = Self.words(components)
    }

    private init(text: String, place: String, words: String) {
        self.text = text
        self.place = place
        self.words = words
    }

    /// The flags among a program's arguments that are of the prefix `mortise`.
    static func all(arguments: [String]) -> [SettingName] {
        arguments.filter { $0.hasPrefix("--mortise-") }.map { argument in
            let name = argument.prefix { $0 != "=" }
            return SettingName(
                text: String(name), place: "the command line",
                words: name.dropFirst(2).lowercased().replacing("-", with: "_"))
        }
    }

    /// The variables of an environment that are of the prefix `MORTISE`. Others of that prefix may be another program's, so
    /// that only those of stores are looked at.
    static func all(environment: [String: String]) -> [SettingName] {
        environment.keys.filter { $0.hasPrefix("MORTISE_STORE_") || $0.hasPrefix("MORTISE_STORES_") }.sorted()
            .map { SettingName(text: $0, place: "the environment", words: $0.lowercased()) }
    }

    /// The words of a key, whose components may be written in camel case.
    static func words(_ components: [String]) -> String {
        components.map { component in
            component.reduce(into: "") { text, character in
                if character.isUppercase, !text.isEmpty { text.append("_") }
                text += character.lowercased()
            }
        }.joined(separator: "_")
    }
}
#endif
