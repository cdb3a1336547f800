import Synchronization

/// The layouts of a container's models, as long as the container is there. Other types of the process may have the same
/// names: earlier versions of the models, which a migration plan names.
final class LayoutsInUse: Sendable {
    private static let counts = Mutex<[ObjectIdentifier: Int]>([:])
    private let layouts: [ObjectIdentifier]

    init(_ layouts: some Sequence<ModelLayout>) {
        self.layouts = layouts.map(ObjectIdentifier.init)
        Self.counts.withLock { counts in
            for layout in self.layouts { counts[layout, default: 0] += 1 }
        }
    }

    deinit {
        Self.counts.withLock { counts in
            for layout in layouts {
                guard let count = counts[layout], count > 1 else {
                    counts[layout] = nil
                    continue
                }
                counts[layout] = count - 1
            }
        }
    }

    static func contains(_ layout: ModelLayout) -> Bool { counts.withLock { $0[ObjectIdentifier(layout)] != nil } }
}
