import Foundation

#if !canImport(Darwin)
/// The name under which a value transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// Turns a property's value into another and back, as Foundation's class of this name does on Apple platforms.
///
/// For `@Attribute(.transformable(by:))`, `transformedValue(_:)` makes `Data` of the value and
/// `reverseTransformedValue(_:)` the value of the data. Subclasses are used from any thread.
open class ValueTransformer {
    public required init() {}

    open class func transformedValueClass() -> AnyClass { NSObject.self }
    open class func allowsReverseTransformation() -> Bool { true }
    open func transformedValue(_ value: Any?) -> Any? { value }
    open func reverseTransformedValue(_ value: Any?) -> Any? { value }

    private static let lock = NSLock()
    nonisolated(unsafe) private static var registry: [NSValueTransformerName: ValueTransformer] = [:]

    /// Registers a transformer; one registered before under the name is replaced.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        lock.withLock { registry[name] = transformer }
    }

    public class func valueTransformerNames() -> [NSValueTransformerName] { lock.withLock { Array(registry.keys) } }

    static func registered(_ name: NSValueTransformerName) -> ValueTransformer? { lock.withLock { registry[name] } }
}
#else
extension ValueTransformer {
    static func registered(_ name: NSValueTransformerName) -> ValueTransformer? { ValueTransformer(forName: name) }
}
#endif
