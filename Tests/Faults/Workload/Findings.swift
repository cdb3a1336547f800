import Foundation
import MortiseEngine

/// What a check of faults found. A check can so be run on a store that is deliberately broken for it, too.
public struct Findings: Sendable {
    public init() {}

    /// How many times something was tried: faults that the seam was told to make, damaged files, crash images, other programs
    /// at work. How many faults the seam has made is `SimulatedFileSystem.faultsFired`.
    public private(set) var trials = 0
    public private(set) var violations: [String] = []

    /// Counts a trial.
    public mutating func inject(_ count: Int = 1) { trials += count }

    public mutating func expect(_ holds: Bool, _ violation: @autoclosure () -> String) {
        if !holds { violations.append(violation()) }
    }

    public static func + (one: Findings, other: Findings) -> Findings {
        var sum = one
        sum.trials += other.trials
        sum.violations += other.violations
        return sum
    }
}

/// Counts what a run of the tests tried, in the file that the environment names by `MORTISE_FAULT_COUNTS`: a line
/// `CASES TRIALS VIOLATIONS` for each check.
public enum FaultLedger {
    public static func add(_ cases: [String], trials: Int, violations: Int = 0) {
        guard let path = ProcessInfo.processInfo.environment["MORTISE_FAULT_COUNTS"] else { return }
        let line = "\(cases.joined(separator: ",")) \(trials) \(violations)\n"
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else { return }
        lock.withLock {
            _ = try? file.seekToEnd()
            try? file.write(contentsOf: Data(line.utf8))
        }
    }

    private static let lock = NSLock()
}

/// Whether the environment asks for all there is.
public let isFullSize = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"

/// The seeds of checks that leave something to chance, as arguments of a test, whose first is printed: that of the
/// environment (`MORTISE_TEST_SEED`), or a new one for each run.
public func faultSeeds(small: Int, full: Int, _ file: String = #fileID, _ line: Int = #line) -> [UInt64] {
    let first =
        ProcessInfo.processInfo.environment["MORTISE_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1 ... .max)
    print("\(file):\(line): MORTISE_TEST_SEED=\(first)")
    return (0..<UInt64(isFullSize ? full : small)).map { first &+ $0 }
}

/// What a body throws.
public func thrown(_ body: () throws -> Void) -> (any Error)? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}

/// Whether an error says that the store takes no saves until it is opened again.
public func isLatched(_ error: (any Error)?) -> Bool {
    if case EngineError.latched? = error { true } else { false }
}

/// Runs a body with a folder of its own on the real disk.
public func withTemporaryFolder<Value>(_ body: (String) throws -> Value) throws -> Value {
    let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
        .appendingPathComponent("mortise-faults-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: url) }
    return try body(url.path)
}
