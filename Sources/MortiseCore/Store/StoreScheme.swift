/// One kind of store that URLs can name: what an adapter contributes to a `StoreRegistry`.
///
/// A URL is checked against what the scheme declares before the configuration is made of it, so that every option that is
/// not known, given twice or has another value than those allowed is the same clear error for all stores.
public struct StoreScheme: Sendable {
    /// Lower-case letters, digits, `+`, `-` and `.`.
    public let name: String
    /// What kind of store it is, in a few words.
    public let summary: String
    /// What follows the colon.
    public let location: StoreLocation
    public let options: [StoreOption]
    private let make: @Sendable (_ url: StoreURL) throws -> any DataStoreConfiguration

    /// - Parameter make: makes the configuration of a URL that has been checked. Its values are read with `flag(_:)` and
    ///   its kin.
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
            throw url.malformed("a path has to follow the colon, as in \(name):library.\(name)")
        }
        for given in url.options.keys.sorted() {
            guard let option = options.first(where: { $0.name == given }) else {
                throw StoreURLError.unknownOption(
                    url: url.redacted, option: given, allowed: options.map(\.name).sorted())
            }
            if let value = url.options[given], !option.values.allows(value) {
                let found = option.isSecret || StoreURLRedaction.isSecret(given) ? "" : ", not \"\(value)\""
                throw url.malformed("\(given) is \(option.values.description)\(found)")
            }
        }
        return try make(url)
    }
}

/// What follows the colon of a store URL.
public enum StoreLocation: Sendable, Hashable {
    /// A path, which has to be there.
    case path
    /// A name, or nothing.
    case name
    /// Whatever the adapter makes of it.
    case other(String)
}

/// An option of a scheme.
public struct StoreOption: Sendable, Hashable {
    public enum Values: Sendable, Hashable {
        case flag
        case oneOf([String])
        case wholeNumber(ClosedRange<Int>)
        /// A time in `ms` or `s`, up to an hour.
        case duration
        case text
    }

    public let name: String
    public let values: Values
    /// What an URL without the option means, as one would write it.
    public let defaultValue: String
    public let summary: String
    /// Whether the value is kept out of errors and logs.
    public let isSecret: Bool

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
        "allowsSave", .flag, default: "true", "false opens the store for reading only, beside a writer")
}

extension StoreOption.Values: CustomStringConvertible {
    /// What is allowed, to follow "is".
    public var description: String {
        switch self {
        case .flag: "true or false"
        case .oneOf(let words):
            words.count < 2
                ? words.joined() : words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .wholeNumber(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .duration: "an interval such as 50ms or 2s, up to an hour"
        case .text: "text"
        }
    }

    func allows(_ value: String) -> Bool {
        switch self {
        case .flag: value == "true" || value == "false"
        case .oneOf(let words): words.contains(value)
        case .wholeNumber(let range): Self.number(value).map(range.contains) ?? false
        case .duration: Self.duration(value) != nil
        case .text: true
        }
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
    /// The value of a flag; nil where it is not given.
    public func flag(_ name: String) -> Bool? { options[name].map { $0 == "true" } }
    /// The value of an option that is a whole number; nil where it is not given.
    public func wholeNumber(_ name: String) -> Int? { options[name].flatMap(StoreOption.Values.number) }
    /// The value of an option that is a time; nil where it is not given.
    public func duration(_ name: String) -> Duration? { options[name].flatMap(StoreOption.Values.duration) }
    /// Whether the store may be changed.
    public var allowsSave: Bool { flag("allowsSave") ?? true }
}
