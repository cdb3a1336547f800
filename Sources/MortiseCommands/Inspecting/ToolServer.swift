#if Tool
/// What `mortise serve` starts. The library `MortiseInspector` has one, `ToolServer.inspector`, with the trait `Inspector`.
public struct ToolServer: Sendable {
    #if Inspector
    private let run: @Sendable (ServedStores, @escaping @Sendable (_ address: String) -> Void) throws -> Void

    package init(_ run: @escaping @Sendable (ServedStores, @escaping @Sendable (String) -> Void) throws -> Void) {
        self.run = run
    }

    /// Serves until the process is told to end.
    func serve(_ stores: ServedStores, _ opened: @escaping @Sendable (_ address: String) -> Void) throws {
        try run(stores, opened)
    }
    #endif
}

#if Inspector
/// What is served, where, and whether it can be changed.
package struct ServedStores: Sendable {
    package let stores: [InspectedStore]
    package let host: String
    package let port: Int
    package let isEditable: Bool
}
#endif
#endif
