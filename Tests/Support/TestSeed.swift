import Foundation

/// The seed of a random test: that of the environment (`MORTISE_TEST_SEED`), or a new one for each run. It is printed, so
/// that a failing run can be repeated.
public func testSeed(_ test: String = #function) -> UInt64 {
    let seed =
        ProcessInfo.processInfo.environment["MORTISE_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 1 ... .max)
    print("\(test): MORTISE_TEST_SEED=\(seed)")
    return seed
}

/// SplitMix64: the same numbers from a seed on every platform.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// True once in so many times.
    public mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }
}
