import MortiseEngine

extension SimulatedFileSystem {
    /// A disk that a crash may have left, at one point of a run.
    public struct CrashImage: Sendable {
        /// The last operation that was done before the crash, counted from 1; 0 is before the first.
        public let operation: Int
        /// What the crash took.
        public let loss: CrashLoss
        /// The disk as the next start finds it: nothing open, no lock, no faults, no limits, no operations counted yet.
        public let fileSystem: SimulatedFileSystem
    }

    /// Returns the disk as a crash right after `operation` leaves it if the crash takes `loss`.
    ///
    /// - Parameters:
    ///   - operation: The number of the operation, counted from 1 as in ``operationCount``; numbers beyond the last one
    ///     mean "now".
    ///   - loss: Which unsynced changes the crash takes.
    /// - Returns: A new file system; this one is not changed.
    public func crashed(after operation: Int, losing loss: CrashLoss) -> SimulatedFileSystem {
        var replay = self.replay
        replay.advance(to: operation)
        return restarted(replay.volume, losing: loss)
    }

    /// Calls `body` with the disks that a crash after each operation may leave.
    ///
    /// Of several operations in a row that do not change the disk, only the last is visited, because promises made by
    /// then must be kept. The run itself is not disturbed, and the images are the same each time.
    ///
    /// - Parameters:
    ///   - operations: Which crash points to visit; `nil` means all from 0 to ``operationCount``.
    ///   - limit: How many of the newest unsynced changes to cut one by one, and how many scattered losses to try, at
    ///     each point. About `5 + 3 * limit` images at most.
    ///   - body: Gets each image. Do not keep them: the next is cheaper when the last is gone.
    public func forEachCrash(
        in operations: ClosedRange<Int>? = nil, limit: Int = 4, _ body: (CrashImage) throws -> Void
    ) rethrows {
        let (seed, last) = disk.access { ($0.seed, $0.trace.count) }
        var replay = self.replay
        for operation in 0...last {
            replay.advance(to: operation)
            if let operations, !operations.contains(operation) { continue }
            if operation < min(last, operations?.upperBound ?? last), !replay.changes(at: operation + 1) { continue }
            let pointSeed = seed &+ UInt64(operation) &* 0xD134_2543_DE82_EF95
            for loss in replay.volume.losses(seed: pointSeed, limit: max(0, limit)) {
                let image = restarted(replay.volume, losing: loss)
                try body(CrashImage(operation: operation, loss: loss, fileSystem: image))
            }
        }
    }

    private func restarted(_ volume: SimulatedVolume, losing loss: CrashLoss) -> SimulatedFileSystem {
        let seed = disk.access { $0.seed }
        let image = SimulatedDisk(volume.afterCrash(losing: loss), seed: ~seed)
        // Another process starts after a crash; its temporaries must not take the names of the old ones.
        return SimulatedFileSystem(disk: image, processID: processID &+ 1)
    }

    private var replay: SimulatedReplay {
        disk.access { SimulatedReplay(volume: $0.base, journal: $0.journal) }
    }
}

/// The disk after any number of operations, rebuilt from the first on.
struct SimulatedReplay {
    private(set) var volume: SimulatedVolume
    private let journal: [(operation: Int, effect: SimulatedVolume.Effect)]
    private var position = 0

    init(volume: SimulatedVolume, journal: [(operation: Int, effect: SimulatedVolume.Effect)]) {
        self.volume = volume
        self.journal = journal
    }

    mutating func advance(to operation: Int) {
        while position < journal.count, journal[position].operation <= operation {
            volume.apply(journal[position].effect)
            position += 1
        }
    }

    /// Whether this operation, the next after those replayed, leaves its mark on the disk.
    func changes(at operation: Int) -> Bool {
        position < journal.count && journal[position].operation <= operation
    }
}
