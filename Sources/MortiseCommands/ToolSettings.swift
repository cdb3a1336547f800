#if Tool
import MortiseCore

/// Where stores are that the command line calls by a name.
public struct ToolSettings: Sendable {
    private let resolve: (@Sendable (_ name: String) throws -> String?)?

    /// Knows no names.
    public init() { resolve = nil }

    /// - Parameter resolve: the store URL of a name; nil for a name that is not known.
    public init(_ resolve: @escaping @Sendable (_ name: String) throws -> String?) { self.resolve = resolve }

    /// The store URL of an argument: the argument itself, or the URL configured under the name after `@`.
    /// - Throws: `ToolError.usage`; what the settings throw.
    func url(named argument: String) throws -> String {
        guard argument.hasPrefix("@") else { return argument }
        let name = String(argument.dropFirst())
        if let url = try resolve?(name) { return url }
        throw ToolError.usage(
            "no store named \"\(name.shown())\" is configured; set stores.\(name.shown()).url, or pass a URL")
    }
}
#endif
