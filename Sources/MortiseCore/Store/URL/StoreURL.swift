import Foundation

/// The parts of a store URL.
///
/// A store URL is a scheme, a colon and what the scheme expects, usually a path: `memory:`, `json:notes/library.json`.
/// The path is everything between the colon and a `?`; it is not percent-decoded, and relative to the current folder.
/// Options follow as `?name=value&name=value`; their values are percent-decoded. Text without a scheme is an error, not
/// a path.
public struct StoreURL: Sendable, Hashable {
    /// The whole URL as given; it may hold a secret.
    public let text: String
    /// The scheme, in lower case.
    public let scheme: String
    /// The text between the colon and the question mark.
    public let path: String
    /// The options by name, percent-decoded.
    public let options: [String: String]
    /// The options that the scheme declares secret.
    var secrets: Set<String> = []

    /// Parses a store URL.
    /// - Throws: `StoreURLError.malformed`.
    public init(_ text: String) throws(StoreURLError) {
        self.text = text
        func malformed(_ fault: String) -> StoreURLError {
            .malformed(url: StoreURLRedaction.redacted(text), fault: fault)
        }
        if text.utf8.contains(0) { throw malformed("it contains a NUL character") }
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw malformed("it has no scheme; write one as in json:\(StoreURLRedaction.redacted(text))")
        }
        scheme = text[..<colon].lowercased()
        let rest = text[text.index(after: colon)...]
        let question = rest.firstIndex(of: "?") ?? rest.endIndex
        path = String(rest[..<question])
        var options: [String: String] = [:]
        if question != rest.endIndex {
            let items = rest[rest.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
            for (place, item) in items.enumerated() {
                guard let equals = item.firstIndex(of: "="), equals != item.startIndex else {
                    // The text may be the secret itself, so the error gives its position instead.
                    throw malformed("option \(place + 1) after \"?\" is not of the form name=value")
                }
                let name = String(item[..<equals])
                guard let value = item[item.index(after: equals)...].removingPercentEncoding else {
                    throw malformed("the value of \"\(name)\" has a % without two hexadecimal digits after it")
                }
                guard options.updateValue(value, forKey: name) == nil else {
                    throw malformed("the option \"\(name)\" is given twice")
                }
            }
        }
        self.options = options
    }

    /// The URL with other options, as text that parses to such a URL.
    public func with(options: [String: String]) -> String {
        let items = options.sorted { $0.key < $1.key }.map { name, value in
            let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~/:,"))
            return name + "=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? value)
        }
        return "\(scheme):\(path)" + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    /// The URL without passwords and other secrets, to be shown and logged.
    public var redacted: String { StoreURLRedaction.redacted(text, hiding: secrets) }

    /// Makes an error about this URL.
    public func malformed(_ fault: String) -> StoreURLError { .malformed(url: redacted, fault: fault) }
}

extension StoreURL: CustomStringConvertible {
    /// The URL without passwords and secret options; safe to print.
    public var description: String { redacted }
}

/// Leaves out of a text that should be a store URL what may be a secret, whether it is well formed or not.
enum StoreURLRedaction {
    private static let secretWords = ["password", "passwd", "secret", "token", "apikey", "credential"]

    /// Whether an option of that name counts as a secret even if no scheme declares it one.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let plain = name.lowercased().filter { $0 != "-" && $0 != "_" }
        return secretWords.contains { plain.contains($0) }
    }

    static func redacted(_ text: String, hiding secrets: Set<String> = []) -> String {
        let question = text.firstIndex(of: "?") ?? text.endIndex
        var result = withoutPassword(text[..<question])
        guard question != text.endIndex else { return result }
        let items = text[text.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
        result += "?" + items.map { redactedItem($0, secrets) }.joined(separator: "&")
        return result
    }

    private static func redactedItem(_ item: Substring, _ secrets: Set<String>) -> String {
        // Without a name, a value cannot be known not to be a secret.
        guard let equals = item.firstIndex(of: "="), equals != item.startIndex else {
            return item.isEmpty ? "" : item.first == "=" ? "=…" : "…"
        }
        guard isSecret(item[..<equals]) || secrets.contains(String(item[..<equals])) else { return String(item) }
        return item[...equals] + "…"
    }

    /// Of `scheme://user:password@host`, removes what is between the second colon and the last `@`; a password may hold
    /// a slash, although it should not.
    private static func withoutPassword(_ text: Substring) -> String {
        guard let start = text.range(of: "://")?.upperBound, let at = text[start...].lastIndex(of: "@"),
            let colon = text[start..<at].firstIndex(of: ":")
        else { return String(text) }
        return text[...colon] + "…" + text[at...]
    }
}

/// What is wrong with a store URL. Secrets in the URL are left out.
public enum StoreURLError: Error, Hashable, Sendable {
    /// The URL cannot be parsed, or an option has an invalid value.
    case malformed(url: String, fault: String)
    /// No adapter is registered for the scheme.
    case unknownScheme(url: String, scheme: String, known: [String])
    /// The scheme has no such option.
    case unknownOption(url: String, option: String, allowed: [String])
}

extension StoreURLError: CustomStringConvertible, SwiftDataErrorConvertible {
    /// The URL, without secrets, and what is wrong with it, in one line.
    public var description: String {
        switch self {
        case .malformed(let url, let fault): "The store URL \"\(url)\" is invalid: \(fault)."
        case .unknownScheme(let url, let scheme, let known):
            "The store URL \"\(url)\" has the unknown scheme \"\(scheme)\". Known schemes: "
                + known.map { $0 + ":" }.joined(separator: ", ") + "."
        case .unknownOption(let url, let option, let allowed):
            "The store URL \"\(url)\" has the unknown option \"\(option)\". "
                + (allowed.isEmpty
                    ? "This scheme has no options." : "Allowed options: \(allowed.joined(separator: ", ")).")
        }
    }
    /// The error of SwiftData that this one matches: `loadIssueModelContainer`.
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}
