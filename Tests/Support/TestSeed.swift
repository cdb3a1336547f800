import Foundation

/// The seed of a random test: that of the environment (`MORTISE_TEST_SEED`), or a new one for each run. It is printed, so
/// that a failing run can be repeated.
public func testSeed(_ test: String = #function) -> UInt64 {
    let seed =
        ProcessInfo.processInfo.environment["MORTISE_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1 ... .max)
    print("\(test): MORTISE_TEST_SEED=\(seed)")
    return seed
}
