public import MortiseCore
public import MortiseEngine
import MortiseTestSupport

/// A crash, a start that does some work and crashes too, and so on: what the first crash left must not confuse the second.
public struct CrashesInARow<Generator: RandomNumberGenerator> {
    let mistake: BrokenFileSystem.Mistake?
    let open: (any FileSystem) throws -> ModelContainer
    let maintain: (ModelContainer) throws -> Void
    var random: Generator

    /// - Parameters:
    ///   - mistake: what is wrong below the store.
    ///   - random: where the power is cut, and what is lost.
    ///   - open: opens the store of a disk.
    ///   - maintain: is done after every second opening, before the save.
    public init(
        mistake: BrokenFileSystem.Mistake?, random: Generator,
        open: @escaping (any FileSystem) throws -> ModelContainer,
        maintain: @escaping (ModelContainer) throws -> Void = { _ in }
    ) {
        self.mistake = mistake
        self.random = random
        self.open = open
        self.maintain = maintain
    }

    /// - Parameter rounds: how often five crashes come one after the other, each time from the beginning.
    public mutating func run(rounds: Int) throws -> Findings {
        var findings = Findings()
        for round in 0..<rounds {
            var disk = SimulatedFileSystem(seed: random.next())
            var state = 0
            for crash in 0..<5 {
                let place = "crash \(crash) of round \(round)"
                let fileSystem: any FileSystem = mistake.map { BrokenFileSystem(disk, mistake: $0) } ?? disk
                var opened: ModelContainer?
                let error = thrown { opened = try open(fileSystem) }
                guard let container = opened else {
                    findings.expect(false, "\(place): not opened: \(String(describing: error))")
                    break
                }
                let found = Workload.state(of: container)
                findings.expect(
                    found == state || found == state + 1, "\(place): found \(String(describing: found)), not \(state)")
                state = found ?? state
                if crash % 2 == 1 { try maintain(container) }
                let before = disk.operationCount
                try container.advance(to: state + 1)
                let point = Int.random(in: before...disk.operationCount, using: &random)
                if point == disk.operationCount { state += 1 }
                disk = disk.crashed(after: point, losing: .scattered(seed: random.next()))
                findings.inject()
            }
        }
        return findings
    }
}
