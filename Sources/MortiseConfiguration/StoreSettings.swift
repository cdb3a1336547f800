#if Configuration
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
/// | | `MORTISE_CONFIG` | | the path of a JSON or YAML file with these keys |
///
/// Options with their own keys replace those in the URL, so that a secret need not be in one. The command line wins
/// over the environment, and that over the file. A key's value never appears in an error. An option that the URL's
/// scheme does not have is ignored if another scheme has it; a name that is not an option of any scheme is probably
/// misspelled, and is an error that lists what is allowed.
///
/// The module needs the trait `Configuration`: `.package(url: …, traits: ["Configuration"])`.
///
/// Values come through swift-configuration, for which a toolchain before Swift 6.2 is too old: with one, `standard()` knows
/// the environment only.
public struct StoreSettings: Sendable {
    private let lookUp: @Sendable (_ key: [String]) throws -> String?
    /// Whatever is set that may be a key; nothing where that is not known.
    private var names: [SettingName] = []

    /// - Parameter lookUp: returns the value of a key, such as `["mortise", "store", "url"]`; nil if the key is not
    ///   set.
    public init(_ lookUp: @escaping @Sendable (_ key: [String]) throws -> String?) { self.lookUp = lookUp }

    /// Reads the URL of a store from the configuration, with options that are set on their own added to it.
    /// - Parameters:
    ///   - name: the store's name; nil for the single store of `mortise.store`.
    ///   - registry: the schemes whose options may be set.
    /// - Returns: the URL; nil if the configuration has none under that name.
    /// - Throws: `StoreURLError`; `StoreSettingsError` for a value that is not text, a number or a Boolean, and for a
    ///   key of this store that is not an option of any scheme.
    public func url(named name: String? = nil, registry: StoreRegistry) throws -> String? {
        try checkNames(name, registry)
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

    /// The same settings, in which names are looked for that no store has.
    func checking(_ names: [SettingName]) -> StoreSettings {
        var settings = self
        settings.names = names
        return settings
    }

    private func checkNames(_ name: String?, _ registry: StoreRegistry) throws(StoreSettingsError) {
        let allowed = Set(["url"] + registry.knownSchemes.flatMap(\.options).map(\.name)).sorted()
        let known = Set(allowed.map { SettingName.words([$0]) })
        let prefix = SettingName.words(Self.key(name, ""))
        for given in names {
            guard let rest = given.words.dropping(prefix: prefix) else {
                let isStores = given.words.hasPrefix("mortise_store_") || given.words.hasPrefix("mortise_stores_")
                if given.words.hasPrefix("mortise_"), !isStores {
                    throw .unknownKey(
                        given.text, place: given.place, allowed: ["mortise.store", "mortise.stores.NAME"])
                }
                continue
            }
            // What is set of a store whose name begins with this one's is no business of this one.
            let isOthers = name != nil && known.contains { rest.hasSuffix("_\($0)") }
            if !known.contains(rest), !isOthers {
                let keys = allowed.map { Self.key(name, $0).joined(separator: ".") }
                throw .unknownKey(given.text, place: given.place, allowed: keys)
            }
        }
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
    /// A name under a store's that no store has, such as a misspelled option.
    case unknownKey(String, place: String, allowed: [String])
    /// The file of settings cannot be read.
    case unreadableFile(path: String, fault: String)
}

extension StoreSettingsError: CustomStringConvertible, ClassifiedStoreError {
    /// The setting at fault and the way out, in one line.
    public var description: String {
        switch self {
        case .noStore(let key):
            "The store's location is not configured. Give its URL, or set \(key); in the environment it is "
                + key.uppercased().replacingOccurrences(of: ".", with: "_") + "."
        case .wrongType(let key, let provider):
            "The value of \(key) (\(provider)) is not text, a number or a boolean. Write it as text."
        case .unknownKey(let key, let place, let allowed):
            "Unknown setting \(key) (\(place)). Known settings: \(allowed.joined(separator: ", "))."
        case .unreadableFile(let path, let fault): "The settings in \(path) cannot be read: \(fault)."
        }
    }
    /// `usage`: the settings are at fault.
    public var errorClass: StoreErrorClass { .usage }
}

extension String {
    fileprivate func dropping(prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
#endif
