import Foundation

#if !canImport(Darwin)
/// The name under which a value transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name under which the transformer is registered.
    public let rawValue: String
    /// Makes a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes a name.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The name of Foundation's transformer for archives without a key.
    public static let unarchiveFromDataTransformerName = NSValueTransformerName("NSUnarchiveFromData")
    /// The name of Foundation's transformer for keyed archives.
    public static let keyedUnarchiveFromDataTransformerName = NSValueTransformerName("NSKeyedUnarchiveFromData")
    /// The name of Foundation's transformer for archives of secure types.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Converts a property's value to another form and back, like Foundation's class of this name on Apple platforms.
///
/// For `@Attribute(.transformable(by:))`, `transformedValue(_:)` converts the value to `Data` and
/// `reverseTransformedValue(_:)` converts it back. Subclasses must be safe to call from any thread.
open class ValueTransformer {
    /// Makes a transformer. Subclasses that are registered by type need this initializer.
    public required init() {}

    /// The class of transformed values; `NSObject` by default.
    open class func transformedValueClass() -> AnyClass { NSObject.self }
    /// Whether values can be converted back; true by default.
    open class func allowsReverseTransformation() -> Bool { true }
    /// Converts a value to its stored form, `Data`; nil if that is not possible. The default returns the value.
    open func transformedValue(_ value: Any?) -> Any? { value }
    /// Converts a stored form back to a value; nil if that is not possible. The default returns the value.
    open func reverseTransformedValue(_ value: Any?) -> Any? { value }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var registry: [NSValueTransformerName: ValueTransformer] = [:]

    /// Registers a transformer, replacing one of that name; nil removes it.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        lock.withLock { registry[name] = transformer }
    }

    /// The names of all registered transformers, in no particular order.
    public class func valueTransformerNames() -> [NSValueTransformerName] { lock.withLock { Array(registry.keys) } }

    static func registered(_ name: NSValueTransformerName) -> ValueTransformer? { lock.withLock { registry[name] } }
}
#else
extension ValueTransformer {
    static func registered(_ name: NSValueTransformerName) -> ValueTransformer? { ValueTransformer(forName: name) }
}
#endif

extension NSValueTransformerName {
    /// Whether the name is one of the archiving transformers that Apple's Foundation has without registration.
    var archives: Bool {
        ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", "NSUnarchiveFromData"].contains(rawValue)
    }
}

/// Replaces Foundation's archiving transformers on platforms without them: a binary property list of the value's
/// `Codable` form, in an array, because a property list cannot be a mere number or string.
enum CodableArchive {
    static func data(of value: Any) -> Data? {
        guard let value = value as? any Encodable else { return nil }
        return encoded(value)
    }

    static func value<T>(in data: Data) -> T? {
        guard let type = T.self as? any Decodable.Type else { return nil }
        return decoded(type, data) as? T
    }

    private static func encoded(_ value: some Encodable) -> Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode([value])
    }

    private static func decoded<D: Decodable>(_ type: D.Type, _ data: Data) -> Any? {
        try? PropertyListDecoder().decode([D].self, from: data).first
    }
}
