/// Numbers from a seed, the same on every platform.
struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { bound > 0 ? Int(next() % UInt64(bound)) : 0 }

    mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
}

/// Makes something that fails smaller, as long as it still fails.
enum Shrinking {
    /// Shrinks a value that fails. `smaller` returns values a little smaller than its argument, the most promising
    /// first; `fails` returns the failure of a value, or nil.
    /// - Returns: the smallest failing value that was found in `tries` attempts, with its failure.
    static func smallest<Value, Failure>(
        of value: Value, failing failure: Failure, tries: Int = 400, smaller: (Value) -> [Value],
        fails: (Value) -> Failure?
    ) -> (value: Value, failure: Failure) {
        var best = (value: value, failure: failure)
        var left = tries
        var isSmaller = true
        while isSmaller, left > 0 {
            isSmaller = false
            for candidate in smaller(best.value) {
                left -= 1
                if let failure = fails(candidate) {
                    best = (candidate, failure)
                    isSmaller = true
                    break
                }
                if left <= 0 { break }
            }
        }
        return best
    }
}
