/// One kind of store that URLs can name: what an adapter contributes to a `StoreRegistry`.
///
/// A URL is checked against the scheme's declarations before the configuration is made, so an unknown option, a
/// repeated one, or one with an invalid value gives the same clear error for all stores.
public struct StoreScheme: Sendable {
    /// The scheme: lower-case letters, digits, `+`, `-` and `.`.
    public let name: String
    /// The kind of store, in a few words.
    public let summary: String
    /// What follows the colon.
    public let location: StoreLocation
    /// The options that URLs of this scheme may have.
    public let options: [StoreOption]
    private let make: @Sendable (_ url: StoreURL) throws -> any DataStoreConfiguration

    /// Describes the URLs of a kind of store.
    /// - Parameters:
    ///   - name: the scheme, before the colon; case is ignored.
    ///   - summary: one line for lists of schemes.
    ///   - location: what follows the colon.
    ///   - options: the options that a URL of this scheme can have; any other option is an error.
    ///   - make: makes the configuration from a URL whose path and options have been checked. Read option values with
    ///     `flag(_:)` and its siblings.
    public init(
        _ name: String, summary: String, location: StoreLocation = .path, options: [StoreOption] = [],
        _ make: @escaping @Sendable (_ url: StoreURL) throws -> any DataStoreConfiguration
    ) {
        self.name = name.lowercased()
        self.summary = summary
        self.location = location
        self.options = options
        self.make = make
    }

    /// - Throws: `StoreURLError`; what the adapter throws.
    func configuration(for url: StoreURL) throws -> any DataStoreConfiguration {
        var url = url
        url.secrets = Set(options.filter(\.isSecret).map(\.name))
        if case .path = location, url.path.isEmpty {
            throw url.malformed("it has no path after the colon; write one as in \(name):library.\(name)")
        }
        for given in url.options.keys.sorted() {
            guard let option = options.first(where: { $0.name == given }) else {
                throw StoreURLError.unknownOption(
                    url: url.redacted, option: given, allowed: options.map(\.name).sorted())
            }
            if let value = url.options[given], !option.values.allows(value) {
                let found = option.isSecret || StoreURLRedaction.isSecret(given) ? "" : ", not \"\(value)\""
                throw url.malformed("\(given) must be \(option.values.description)\(found)")
            }
        }
        return try make(url)
    }
}

/// What follows the colon of a store URL.
public enum StoreLocation: Sendable, Hashable {
    /// A path, which must not be empty.
    case path
    /// A name, which may be empty.
    case name
    /// Anything else; only the adapter interprets it.
    case other(String)
}

/// An option of a scheme.
public struct StoreOption: Sendable, Hashable {
    /// The values that an option takes.
    public enum Values: Sendable, Hashable {
        /// `true` or `false`.
        case flag
        /// One of these words.
        case oneOf([String])
        /// A whole number in the range.
        case wholeNumber(ClosedRange<Int>)
        /// A time in `ms` or `s`, up to an hour.
        case duration
        /// Any text.
        case text
        /// What a configuration may be called: 1 to 100 bytes of text without slashes, control characters, and space at its ends.
        case name
    }

    /// The option's name in a URL.
    public let name: String
    /// The values that the option takes.
    public let values: Values
    /// The default, as written in a URL.
    public let defaultValue: String
    /// What the option does, in one line for a list of options.
    public let summary: String
    /// Whether the value is kept out of errors and logs.
    public let isSecret: Bool

    /// Declares an option.
    public init(
        _ name: String, _ values: Values, default defaultValue: String, _ summary: String, isSecret: Bool = false
    ) {
        self.name = name
        self.values = values
        self.defaultValue = defaultValue
        self.summary = summary
        self.isSecret = isSecret
    }

    /// `allowsSave`: whether the store may be changed.
    public static let allowsSave = StoreOption(
        "allowsSave", .flag, default: "true", "false opens the store for reading only; another process may write it")
    /// `name`: what the configuration is called, in errors, in logs, and for `ModelContainer.store(named:)`.
    public static let name = StoreOption(
        "name", .name, default: "the file's name without extension",
        "what the store is called; each of a container's stores needs a name of its own")
    /// `dropping`: the entities whose records may be dropped although the schema's version is that of the store.
    public static let dropping = StoreOption(
        "dropping", .text, default: "",
        "entities that the schema lacks and whose records may be dropped, separated by commas")
}

extension StoreOption.Values: CustomStringConvertible {
    /// The allowed values, worded to follow "must be".
    public var description: String {
        switch self {
        case .flag: "true or false"
        case .oneOf(let words):
            words.count < 2
                ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .wholeNumber(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration: "an interval such as 50ms or 2s, up to an hour"
        case .text: "text"
        case .name: "1 to 100 bytes of text without slashes, control characters, and space at its ends"
        }
    }

    func allows(_ value: String) -> Bool {
        switch self {
        case .flag: value == "true" || value == "false"
        case .oneOf(let words): words.contains(value)
        case .wholeNumber(let range): Self.number(value).map(range.contains) ?? false
        case .duration: Self.duration(value) != nil
        case .text: true
        case .name: Self.isName(value)
        }
    }

    private static func isName(_ text: String) -> Bool {
        guard (1...100).contains(text.utf8.count), let first = text.first, let last = text.last else { return false }
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: scalar != "/"
            }
        }
        return isPlain && !first.isWhitespace && !last.isWhitespace && text != "." && text != ".."
    }

    fileprivate static func number(_ text: String) -> Int? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    fileprivate static func duration(_ text: String) -> Duration? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard let number = Int(String(Substring(digits))), number <= 3_600_000 else { return nil }
        switch text.dropFirst(digits.count) {
        case "ms": return .milliseconds(number)
        case "s" where number <= 3_600: return .seconds(number)
        default: return nil
        }
    }
}

extension StoreURL {
    /// The value of a flag; nil if the URL does not have the option.
    public func flag(_ name: String) -> Bool? { options[name].map { $0 == "true" } }
    /// The value of a whole number; nil if the URL does not have the option.
    public func wholeNumber(_ name: String) -> Int? { options[name].flatMap(StoreOption.Values.number) }
    /// The value of a duration; nil if the URL does not have the option.
    public func duration(_ name: String) -> Duration? { options[name].flatMap(StoreOption.Values.duration) }
    /// What the configuration is to be called; nil if the URL does not say. The scheme has to declare `StoreOption.name`.
    public var name: String? { options["name"] }
    /// Whether the store may be changed.
    public var allowsSave: Bool { flag("allowsSave") ?? true }
    /// The entities whose records may be dropped.
    public var dropping: [String] { (options["dropping"] ?? "").split(separator: ",").map(String.init) }
}
