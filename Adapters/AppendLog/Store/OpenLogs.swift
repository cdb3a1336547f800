import Foundation
import MortiseCore
import MortiseEngine
import Synchronization

/// A log that is open in this process.
final class OpenLog: Sendable {
    let path: String
    let engine: Engine
    /// Nil for a reader.
    let sink: AppendLog?
    let recovery: AppendLogRecovery?
    /// For a reader that follows who writes.
    let tail: ReaderTail?

    init(
        path: String, engine: Engine, sink: AppendLog?, recovery: AppendLogRecovery?, tail: ReaderTail? = nil
    ) {
        self.tail = tail
        self.path = path
        self.engine = engine
        self.sink = sink
        self.recovery = recovery
    }
}

/// The logs that are open in this process: a file has one engine, however often it is opened.
final class OpenLogs: Sendable {
    static let shared = OpenLogs()

    private struct Opening {
        weak var log: OpenLog?
        var configuration: AppendLogConfiguration
        var place: StorePlace
        var fileSystem: ObjectIdentifier?
        var uses: Int
    }
    private let openings = Mutex<[Opening]>([])

    func open(_ configuration: AppendLogConfiguration, schema: StoredSchema) throws -> OpenLog {
        let given = configuration.path
        let absolute = given.hasPrefix("/") ? given : FileManager.default.currentDirectoryPath + "/" + given
        let place = try StorePlace(of: absolute, in: configuration.fileSystem)
        // Tells simulated file systems apart; all real ones are one.
        let fileSystem =
            type(of: configuration.givenFileSystem) is AnyClass
            ? ObjectIdentifier(configuration.givenFileSystem as AnyObject) : nil
        return try openings.withLock { openings in
            openings.removeAll { $0.log == nil }
            // A reader that follows and one that does not are two, which disturb nobody.
            let known = openings.firstIndex {
                $0.place == place && $0.fileSystem == fileSystem
                    && ($0.configuration.followsWriter == configuration.followsWriter
                        || $0.configuration.allowsSave || configuration.allowsSave)
            }
            if let index = known, let log = openings[index].log {
                guard openings[index].configuration.hasSameOptions(as: configuration) else {
                    throw EngineError.openWithOtherOptions(path: place.path)
                }
                openings[index].uses += 1
                return log
            }
            let log = try LogOpening(configuration, path: place.path, schema: schema).open()
            openings.append(
                Opening(log: log, configuration: configuration, place: place, fileSystem: fileSystem, uses: 1))
            return log
        }
    }

    /// Closes the engine when its last user does.
    ///
    /// Under the same lock as opening: who opens the log meanwhile must not find it locked by its own process.
    func close(_ log: OpenLog) throws {
        try openings.withLock { openings in
            guard let index = openings.firstIndex(where: { $0.log === log }) else { return try log.engine.close() }
            openings[index].uses -= 1
            guard openings[index].uses <= 0 else { return }
            openings.remove(at: index)
            try log.engine.close()
        }
    }
}
