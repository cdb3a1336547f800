import Foundation
import Testing

/// What a check of faults found. A check can so be run on a store that is deliberately broken for it, too.
struct Findings {
    /// How many faults were injected, or damaged files and crash images tried.
    private(set) var injected = 0
    private(set) var violations: [String] = []

    /// Counts a fault that was injected.
    mutating func inject(_ count: Int = 1) { injected += count }

    mutating func expect(_ holds: Bool, _ violation: @autoclosure () -> String) {
        if !holds { violations.append(violation()) }
    }

    static func + (one: Findings, other: Findings) -> Findings {
        var sum = one
        sum.injected += other.injected
        sum.violations += other.violations
        return sum
    }

    /// Fails the test for every violation, and for a check that injected nothing; counts the faults of the cases.
    func verify(_ cases: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(injected > 0, sourceLocation: sourceLocation)
        for violation in violations.prefix(10) { Issue.record("\(violation)", sourceLocation: sourceLocation) }
        if violations.count > 10 { Issue.record("and \(violations.count - 10) more", sourceLocation: sourceLocation) }
        FaultLedger.add(cases, injected: injected, violations: violations.count)
    }
}

/// Counts what a run of the tests injected, in the file that the environment names by `MORTISE_FAULT_COUNTS`: a line
/// `CASES INJECTED VIOLATIONS` for each check.
enum FaultLedger {
    static func add(_ cases: [String], injected: Int, violations: Int = 0) {
        guard let path = ProcessInfo.processInfo.environment["MORTISE_FAULT_COUNTS"] else { return }
        let line = "\(cases.joined(separator: ",")) \(injected) \(violations)\n"
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
let isFullSize = ProcessInfo.processInfo.environment["MORTISE_TEST_SIZE"] == "full"

/// The seed of checks that leave something to chance; printed where it is used.
func faultSeeds(small: Int, full: Int) -> [UInt64] {
    let first = ProcessInfo.processInfo.environment["MORTISE_TEST_SEED"].flatMap { UInt64($0) } ?? 1
    return (0..<UInt64(isFullSize ? full : small)).map { first &+ $0 }
}
