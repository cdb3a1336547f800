public import MortiseEngine

extension SimulatedFileSystem {
    /// What an operation does instead of succeeding.
    public enum Fault: Sendable, Hashable {
        /// It does nothing and fails with this code.
        ///
        /// A failed sync of a file, and a failed beginning to write it, also loses track of what was unsynced, as kernels do:
        /// programs still read it, later syncs succeed, and each 512-byte sector of it is on the disk or is not, as the seed
        /// decides. So does a failed sync of a directory with each creation, renaming and removal in it.
        case fail(FileError.Code)
        /// It does its work and nevertheless fails with this code, as network file systems can.
        case failAfterwards(FileError.Code)
        /// A read or write moves at most this many bytes (at least one); anything else is unaffected.
        case shorten(to: Int)
    }

    /// Resource limits; `nil` means unlimited.
    public struct Limits: Sendable, Hashable {
        /// All bytes of all files together.
        ///
        /// A write that would pass it is cut short, then fails with ENOSPC.
        public var capacity: Int?
        /// Files, directories and links together; creating one more fails with ENOSPC.
        public var nodes: Int?
        /// The length of one file in bytes; at most 4 GiB.
        ///
        /// A write that would pass it is cut short, then fails with EFBIG.
        public var fileSize: Int?
        /// Open files of all processes together; opening one more fails with EMFILE.
        public var openFiles: Int?
        /// By path, bytes that cannot be read: a read that begins there fails with EIO, one that gets there is cut short.
        public var unreadable: [String: [Range<Int>]] = [:]
        /// Whether everything that changes the disk fails with EROFS.
        public var isReadOnly = false

        /// Creates limits that limit nothing.
        public init() {}

        /// How far a change up to `end` can go in a file of `size` bytes, and what stops it there; nil if nothing does.
        ///
        /// A limit stops what makes the file longer, and the nearer one tells.
        func reach(to end: Int, size: Int, used: Int) -> (end: Int, stop: FileError.Code?) {
            if end <= size { return (end, nil) }
            var reach: (end: Int, stop: FileError.Code?) = (end, nil)
            if let capacity {
                let room = size.addingReportingOverflow(max(0, capacity - used))
                if !room.overflow, room.partialValue < end { reach = (room.partialValue, .noSpace) }
            }
            let longest = min(fileSize ?? Self.longestFile, Self.longestFile)
            // As kernels do, which look at the length first.
            if longest < end, longest <= reach.end { reach = (longest, .fileTooLarge) }
            return reach
        }

        /// No file gets longer, whatever the limits: a hole takes memory like anything else.
        static let longestFile = 1 << 32
    }

    /// An operation that was asked for, whether or not it succeeded.
    public struct TracedOperation: Sendable, Hashable {
        /// The kind of operation.
        public var operation: FileError.Operation
        /// The path that it was called with.
        public var path: String
    }

    /// The limits in force, which may change at any time: to give space back, for instance.
    public var limits: Limits {
        get { disk.access { $0.limits } }
        set { disk.access { $0.limits = newValue } }
    }

    /// Makes a coming operation fail or fall short.
    ///
    /// - Parameters:
    ///   - fault: What the operation does instead.
    ///   - number: The first operation to hit, counted from now; 1 is the next.
    ///   - operation: The kind of operations to count and hit; `nil` means all.
    ///   - times: The number of operations in a row to hit.
    public func inject(_ fault: Fault, at number: Int = 1, of operation: FileError.Operation? = nil, times: Int = 1) {
        let pending = SimulatedDisk.Pending(fault, number: number, operation: operation, times: times)
        disk.access { $0.faults.append(pending) }
    }

    /// Calls `body` right before a coming operation: to let another process act there, or to make syncs slow.
    ///
    /// It runs on the thread of the operation and may use the disk; what it does is counted like everything else.
    ///
    /// - Parameters:
    ///   - number: The first operation to precede, counted from now; 1 is the next.
    ///   - operation: The kind of operations to count; `nil` means all.
    ///   - times: The number of operations in a row to precede.
    ///   - body: What to do. Advance a clock instead of sleeping, so that the run stays deterministic and fast.
    public func interject(
        at number: Int = 1, of operation: FileError.Operation? = nil, times: Int = 1,
        _ body: @escaping @Sendable () -> Void
    ) {
        let pending = SimulatedDisk.Pending(body, number: number, operation: operation, times: times)
        disk.access { $0.interjections.append(pending) }
    }

    /// Forgets the faults and interjections that have not happened yet.
    public func removeFaults() {
        disk.access { state in
            state.faults = []
            state.interjections = []
        }
    }

    /// How many operations an injected fault has hit so far, of all processes.
    public var faultsFired: Int {
        disk.access { $0.faultsFired }
    }

    /// How many operations were asked for so far, by all processes.
    public var operationCount: Int {
        disk.access { $0.trace.count }
    }

    /// The operations asked for so far, by all processes, in order.
    public var trace: [TracedOperation] {
        disk.access { $0.trace }
    }
}
