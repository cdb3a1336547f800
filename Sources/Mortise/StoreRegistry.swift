public import MortiseCore

/// Which configuration a store URL stands for.
///
/// A store URL is a scheme, a colon and what the scheme wants, usually a path: `memory:`, `json:notes/library.json`. The
/// path is everything between the colon and a `?`; it is not percent-decoded, and relative to the current folder.
/// Options follow as `?name=value&name=value`. Text without a scheme is a mistake, not a path.
public struct StoreRegistry: Sendable {
    /// Makes a configuration of what follows the scheme.
    public typealias Make = @Sendable (_ url: StoreURL) throws -> any DataStoreConfiguration

    private var schemes: [String: Make] = [:]

    /// A registry that knows no scheme.
    public init() {}

    /// Adds a scheme, or replaces it.
    /// - Parameter scheme: lower-case letters and digits.
    public mutating func register(_ scheme: String, _ make: @escaping Make) { schemes[scheme] = make }

    /// The schemes known, in alphabetical order.
    public var knownSchemes: [String] { schemes.keys.sorted() }

    /// - Throws: `StoreURLError`; what the scheme's own function throws.
    public func configuration(for text: String) throws -> any DataStoreConfiguration {
        let url = try StoreURL(text)
        guard let make = schemes[url.scheme] else {
            throw StoreURLError.unknownScheme(url: text, scheme: url.scheme, known: knownSchemes)
        }
        return try make(url)
    }
}

/// The parts of a store URL.
public struct StoreURL: Sendable, Hashable {
    public let text: String
    public let scheme: String
    public let path: String
    public let options: [String: String]

    /// - Throws: `StoreURLError.malformed`.
    public init(_ text: String) throws {
        self.text = text
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw StoreURLError.malformed(url: text, fault: "there is no scheme before a colon, as in json:\(text)")
        }
        scheme = text[..<colon].lowercased()
        let rest = text[text.index(after: colon)...]
        let question = rest.firstIndex(of: "?") ?? rest.endIndex
        path = String(rest[..<question])
        var options: [String: String] = [:]
        if question != rest.endIndex {
            for item in rest[rest.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false) {
                guard let equals = item.firstIndex(of: "="), equals != item.startIndex else {
                    throw StoreURLError.malformed(url: text, fault: "\"\(item)\" is no option; write name=value")
                }
                let name = String(item[..<equals])
                guard options.updateValue(String(item[item.index(after: equals)...]), forKey: name) == nil else {
                    throw StoreURLError.malformed(url: text, fault: "the option \"\(name)\" is given twice")
                }
            }
        }
        self.options = options
    }

    /// Checks that there are no options but these.
    /// - Throws: `StoreURLError.unknownOption`.
    public func allow(options allowed: String...) throws {
        if let unknown = options.keys.filter({ !allowed.contains($0) }).min() {
            throw StoreURLError.unknownOption(url: text, option: unknown, allowed: allowed.sorted())
        }
    }

    /// The path, which has to be there.
    /// - Throws: `StoreURLError.malformed`.
    public func requiredPath() throws -> String {
        if path.isEmpty {
            throw StoreURLError.malformed(
                url: text, fault: "a path has to follow the colon, as in \(scheme):library.\(scheme)")
        }
        return path
    }

    /// The value of an option that is `true` or `false`.
    /// - Throws: `StoreURLError.malformed`.
    public func flag(_ name: String, default fallback: Bool) throws -> Bool {
        switch options[name] {
        case nil: return fallback
        case "true": return true
        case "false": return false
        case .some(let other):
            throw StoreURLError.malformed(url: text, fault: "\(name) is true or false, not \"\(other)\"")
        }
    }
}

/// What is wrong with a store URL.
public enum StoreURLError: Error, Hashable, Sendable {
    case malformed(url: String, fault: String)
    case unknownScheme(url: String, scheme: String, known: [String])
    case unknownOption(url: String, option: String, allowed: [String])
}

extension StoreURLError: CustomStringConvertible, SwiftDataErrorConvertible {
    public var description: String {
        switch self {
        case .malformed(let url, let fault): "The store URL \"\(url)\" is not understood: \(fault)."
        case .unknownScheme(let url, let scheme, let known):
            "The store URL \"\(url)\" has the unknown scheme \"\(scheme)\". Known are "
                + known.map { $0 + ":" }.joined(separator: ", ") + "."
        case .unknownOption(let url, let option, let allowed):
            "The store URL \"\(url)\" has the unknown option \"\(option)\". "
                + (allowed.isEmpty ? "This scheme takes none." : "Allowed are \(allowed.joined(separator: ", ")).")
        }
    }
    public var swiftDataError: SwiftDataError { .loadIssueModelContainer }
}
