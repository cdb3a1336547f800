import Foundation
public import MortiseCore

/// Where an app's stores are, from its command line, its environment and a file.
///
/// One set of keys says it, whatever they come from:
///
/// | key | environment | flag | says |
/// |---|---|---|---|
/// | `mortise.store.url` | `MORTISE_STORE_URL` | `--mortise-store-url` | the store URL |
/// | `mortise.store.OPTION` | `MORTISE_STORE_DURABILITY` | `--mortise-store-durability` | an option of the URL's scheme |
/// | `mortise.stores.NAME.url` | `MORTISE_STORES_NAME_URL` | `--mortise-stores-name-url` | the URL of one of several stores |
/// | `mortise.stores.NAME.OPTION` | `MORTISE_STORES_NAME_DURABILITY` | `--mortise-stores-name-durability` | an option of it |
/// | | `MORTISE_CONFIG` | | the path of a JSON file with these keys |
///
/// Options that have a key of their own take the place of those in the URL, so that a secret need not stand in one. The
/// command line goes before the environment, and that before the file. A key's value never appears in an error. An option
/// that the scheme does not have is not looked for.
///
/// Values come through swift-configuration, for which a toolchain before Swift 6.2 is too old: with one, `standard()` knows
/// the environment only.
public struct StoreSettings: Sendable {
    private let lookUp: @Sendable (_ key: [String]) throws -> String?

    /// - Parameter lookUp: the value of a key, such as `["mortise", "store", "url"]`; nil where there is none.
    public init(_ lookUp: @escaping @Sendable (_ key: [String]) throws -> String?) { self.lookUp = lookUp }

    /// The store URL under a name, its options included; nil where there is none.
    /// - Parameter name: nil for the one store of `mortise.store`.
    /// - Throws: `StoreURLError`; `StoreSettingsError` for a value that is no text, number or truth value.
    public func url(named name: String? = nil, registry: StoreRegistry) throws -> String? {
        guard let text = try value(name, "url") else { return nil }
        let url = try StoreURL(text)
        var options = url.options
        for option in try registry.scheme(of: url).options {
            if let value = try value(name, option.name) { options[option.name] = value }
        }
        return url.with(options: options)
    }

    /// The configuration of the store under a name.
    /// - Throws: `StoreSettingsError.noStore` where nothing is said of it; `StoreURLError`.
    public func configuration(
        named name: String? = nil, registry: StoreRegistry
    ) throws -> any DataStoreConfiguration {
        guard let url = try url(named: name, registry: registry) else {
            throw StoreSettingsError.noStore(key: Self.key(name, "url").joined(separator: "."))
        }
        return try registry.configuration(for: url)
    }

    private static func key(_ name: String?, _ last: String) -> [String] {
        name.map { ["mortise", "stores", $0, last] } ?? ["mortise", "store", last]
    }

    private func value(_ name: String?, _ last: String) throws -> String? { try lookUp(Self.key(name, last)) }
}

/// What is wrong with an app's settings. Values are left out.
public enum StoreSettingsError: Error, Hashable, Sendable {
    /// Nothing says where the store is.
    case noStore(key: String)
    /// The value of a key is a list or an object.
    case wrongType(key: String, provider: String)
    /// The file of settings cannot be read.
    case unreadableFile(path: String, fault: String)
}

extension StoreSettingsError: CustomStringConvertible, ClassifiedStoreError {
    public var description: String {
        switch self {
        case .noStore(let key):
            "Nothing says where the store is: give its URL, or set \(key), in the environment as "
                + key.uppercased().replacingOccurrences(of: ".", with: "_") + "."
        case .wrongType(let key, let provider):
            "The value of \(key) (\(provider)) is no text, number or truth value. Write it as text."
        case .unreadableFile(let path, let fault): "The settings in \(path) cannot be read: \(fault)."
        }
    }
    public var errorClass: StoreErrorClass { .usage }
}
