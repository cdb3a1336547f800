import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport

/// A JSON store of the workload on a simulated disk, on request with a mistake.
struct Depot {
    static let path = "/depot.json"
    let disk: SimulatedFileSystem
    let fileSystem: any FileSystem
    /// Without a history, what looks at its file does not get in the way of a mistake.
    var history = HistoryRetention.unlimited

    /// - Parameter state: The state of the workload that the file holds at the beginning; 0 is no file.
    init(seed: UInt64 = 1, state: Int = 0, breaking mistake: BrokenFileSystem.Mistake? = nil) throws {
        let disk = SimulatedFileSystem(seed: seed)
        self.disk = disk
        fileSystem = mistake.map { BrokenFileSystem(disk, mistake: $0) } ?? disk
        guard state > 0 else { return }
        try disk.install(Self.document(of: state), at: Self.path)
    }

    func configuration(allowsSave: Bool = true, in fileSystem: (any FileSystem)? = nil) -> JSONFileConfiguration {
        JSONFileConfiguration(
            path: Self.path, allowsSave: allowsSave, history: history, in: fileSystem ?? self.fileSystem)
    }

    func open() throws -> ModelContainer { try Workload.open(configuration()) }

    /// The state that another process would read now; nil if none, or if it is refused.
    func state() -> Int? { Self.state(in: disk) }

    static func state(in disk: SimulatedFileSystem, at path: String = path) -> Int? {
        guard disk.contents(at: path) != nil else { return 0 }
        let configuration = JSONFileConfiguration(path: path, allowsSave: false, in: disk.process(7_777))
        guard let store = try? Workload.openStore(configuration) else { return nil }
        return Workload.state(of: store)
    }

    var temporaries: [String] { disk.paths.filter { $0.hasSuffix(".mortise-tmp") } }

    /// The file that saves up to a state leave.
    static func document(of state: Int) throws -> [UInt8] {
        let disk = SimulatedFileSystem(seed: 99)
        let container = try Workload.open(JSONFileConfiguration(path: path, in: disk))
        for number in 1...state { try container.advance(to: number) }
        try container.close()
        return disk.contents(at: path) ?? []
    }
}

extension ModelContainer {
    var jsonStore: JSONFileStore? { store(JSONFileStore.self) }
    /// The state that the container shows.
    var workloadState: Int? { Workload.state(of: self) }
}
