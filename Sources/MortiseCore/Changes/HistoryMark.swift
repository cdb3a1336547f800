import Synchronization

/// Makes the marks of transactions: 64 bits that no other transaction is likely to have, in any store.
public enum HistoryMark {
    // A system call for each would cost a save more than it may. What comes from one seed does not repeat in 2^64 calls.
    private static let seed = UInt64.random(in: .min ... .max)
    private static let count = Atomic<UInt64>(0)

    /// A new mark. Not for secrets.
    public static func next() -> UInt64 {
        var bits = seed &+ count.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
