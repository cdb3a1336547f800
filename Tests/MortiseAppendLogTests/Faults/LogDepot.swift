import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine

@testable import MortiseAppendLog
import MortiseTestSupport

/// A log of the workload on a simulated disk, on request with a mistake.
struct LogDepot {
    static let path = "/depot.log"
    let disk: SimulatedFileSystem
    let fileSystem: any FileSystem
    private let pieceSize: Int

    /// - Parameters:
    ///   - state: The state of the workload that the log holds at the beginning; 0 is no file.
    ///   - isCompacted: Whether it is held by a checkpoint, and the log begins behind it.
    ///   - pieceSize: How many bytes of a long transaction are gathered before they are written.
    init(
        seed: UInt64 = 1, state: Int = 0, isCompacted: Bool = false, breaking mistake: BrokenFileSystem.Mistake? = nil,
        pieceSize: Int = FrameStream.pieceSize
    ) throws {
        self.pieceSize = pieceSize
        let disk = SimulatedFileSystem(seed: seed)
        self.disk = disk
        fileSystem = mistake.map { BrokenFileSystem(disk, mistake: $0) } ?? disk
        guard state > 0 else { return }
        for (path, bytes) in try Self.files(of: state, isCompacted: isCompacted) { try disk.install(bytes, at: path) }
    }

    static func configuration(
        _ fileSystem: any FileSystem, path: String = path, allowsSave: Bool = true,
        pieceSize: Int = FrameStream.pieceSize
    ) -> AppendLogConfiguration {
        var configuration = AppendLogConfiguration(
            path: path, allowsSave: allowsSave, history: .keep(days: 0), in: fileSystem)
        configuration.allocationStep = 4_096
        configuration.pieceSize = pieceSize
        return configuration
    }

    func configuration(allowsSave: Bool = true) -> AppendLogConfiguration {
        Self.configuration(fileSystem, allowsSave: allowsSave, pieceSize: pieceSize)
    }

    func open() throws -> ModelContainer { try Workload.open(configuration()) }
    func openStore() throws -> AppendLogStore { try Workload.openStore(configuration()) }

    /// The state that another process would read now; nil if none, or if it is refused.
    func state() -> Int? { Self.state(in: disk) }

    static func state(in disk: SimulatedFileSystem, at path: String = path) -> Int? {
        guard disk.contents(at: path) != nil else { return 0 }
        let reader = configuration(disk.process(7_777), path: path, allowsSave: false)
        guard let store = try? Workload.openStore(reader) else { return nil }
        return store.engine.version.damage == nil ? Workload.state(of: store) : nil
    }

    var temporaries: [String] { disk.paths.filter { $0.hasSuffix(".mortise-tmp") } }

    /// The files that saves up to a state leave.
    static func files(of state: Int, isCompacted: Bool) throws -> [String: [UInt8]] {
        let disk = SimulatedFileSystem(seed: 99)
        let container = try Workload.open(configuration(disk))
        for number in 1...state { try container.advance(to: number) }
        if isCompacted { try container.store(AppendLogStore.self)?.compact() }
        try container.close()
        let paths = [path, path + ".checkpoint"]
        return Dictionary(
            paths.compactMap { path in disk.contents(at: path).map { (path, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}

extension ModelContainer {
    var logStore: AppendLogStore? { store(AppendLogStore.self) }
    /// The state that the container shows.
    var workloadState: Int? { Workload.state(of: self) }
}

/// What is done to a log beside saving.
enum Maintenance: String, CaseIterable {
    case checkpoint, compaction, backup

    func run(on store: AppendLogStore) throws {
        switch self {
        case .checkpoint: try store.checkpoint()
        case .compaction: try store.compact()
        case .backup: try store.backup(to: "/copy.log")
        }
    }
}
