#if Inspector
import NIOPosix

/// Threads on which pages are made, which may wait for the disk. Each store has its own, so that a slow one keeps no other waiting.
final class RequestThreads: Sendable {
    /// By store; the last one is for pages of all of them.
    private let pools: [NIOThreadPool]
    /// Most requests have a store to themselves. The others are for those that open it once more.
    private static let threadsOfAPool = 4

    init(stores: Int) {
        pools = (0...stores).map { _ in NIOThreadPool(numberOfThreads: Self.threadsOfAPool) }
        for pool in pools { pool.start() }
    }

    /// Runs a body on a thread for the path of a request.
    /// - Throws: `CancellationError`.
    func run<R: Sendable>(for path: [String], _ body: @escaping @Sendable () -> R) async throws -> R {
        // What pages consist of does not wait for any store.
        if path.first == "-" { return body() }
        let store = path.count > 1 && path[0] == "s" ? Int(path[1]) : nil
        let last = pools.count - 1
        return try await pools[store.map { (0..<last).contains($0) ? $0 : last } ?? last].runIfActive(body)
    }

    /// Takes no more requests. A thread whose query cannot be interrupted does not keep the process from ending.
    func end() { for pool in pools { pool.shutdownGracefully { _ in } } }
}
#endif
