import MortiseEngine
import Synchronization

/// The disk that the processes of a simulation share, with everything that happened to it.
final class SimulatedDisk: Sendable {
    private let state: Mutex<State>

    init(_ volume: SimulatedVolume, seed: UInt64) {
        state = Mutex(State(volume: volume, seed: seed))
    }

    /// Runs `body` alone, without counting an operation.
    func access<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in body(&state) }
    }

    /// Counts an operation and runs it, unless a fault is due. `onFailure` is what the operation does to the disk
    /// although it fails.
    func perform<Value: Sendable>(
        _ operation: FileError.Operation, _ path: String,
        _ body: (inout State) throws(FileError.Code) -> Value,
        onFailure: (inout State) -> Void = { _ in }
    ) throws(FileError) -> Value {
        try path.check(for: operation)
        // Outside the lock, because what is called may use the disk.
        for call in access({ $0.interjections.due(before: operation) }) { call() }
        let result = access { state -> Result<Value, FileError> in
            do throws(FileError.Code) {
                return .success(try state.perform(operation, path, body, onFailure: onFailure))
            } catch {
                return .failure(state.error(error, operation, path))
            }
        }
        return try result.get()
    }

    /// What a process has open.
    struct Handle: Sendable {
        var node: SimulatedVolume.NodeID
        var process: Int32
        var isWritable: Bool
        var lock: LockKind?
    }

    struct State: Sendable {
        var volume: SimulatedVolume
        /// The disk before the first operation; with the journal it gives the disk after any of them.
        let base: SimulatedVolume
        var journal: [(operation: Int, effect: SimulatedVolume.Effect)] = []
        var trace: [SimulatedFileSystem.TracedOperation] = []
        var faults: [Pending<SimulatedFileSystem.Fault>] = []
        /// How many operations a fault has hit.
        var faultsFired = 0
        var interjections: [Pending<@Sendable () -> Void>] = []
        var shortening: Int?
        var limits = SimulatedFileSystem.Limits()
        var handles: [Int: Handle] = [:]
        var nextHandle = 0
        let seed: UInt64
        var generator: SeededGenerator
        /// The kind that stood in the way of the last refused opening.
        var obstacle: FileKind?

        init(volume: SimulatedVolume, seed: UInt64) {
            self.volume = volume
            base = volume
            self.seed = seed
            generator = SeededGenerator(seed: seed)
        }

        mutating func apply(_ effect: SimulatedVolume.Effect) {
            volume.apply(effect)
            journal.append((trace.count, effect))
        }
    }

    /// Something that waits for a certain operation.
    struct Pending<Effect: Sendable>: Sendable {
        var effect: Effect
        var operation: FileError.Operation?
        var wait: Int
        var times: Int

        init(_ effect: Effect, number: Int, operation: FileError.Operation?, times: Int) {
            self.effect = effect
            self.operation = operation
            self.times = times
            wait = max(0, number - 1)
        }
    }
}

extension Array {
    /// Counts an operation, and takes out what was waiting for it.
    mutating func due<Effect>(before operation: FileError.Operation) -> [Effect]
    where Element == SimulatedDisk.Pending<Effect> {
        var due: [Effect] = []
        for index in indices where self[index].operation ?? operation == operation {
            if self[index].wait > 0 {
                self[index].wait -= 1
            } else {
                due.append(self[index].effect)
                self[index].times -= 1
            }
        }
        removeAll { $0.times <= 0 }
        return due
    }
}
