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

    /// A number from 0 to below the limit; 0 where the limit is less than 1.
    public mutating func below(_ limit: Int) -> Int { limit < 1 ? 0 : Int(next() % UInt64(limit)) }

    /// True once in `one` times.
    public mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &self) == 0 }

    /// True in `percent` of a hundred times.
    public mutating func chance(percent: Int) -> Bool { below(100) < percent }

    /// One of the values, of which there is at least one.
    public mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}
