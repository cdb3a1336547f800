import MortiseEngine

/// Bounds the memory that the coded values of one record may take, so that a small payload cannot ask for much: an array
/// of nulls has a byte for each of them, and a value in memory many.
///
/// A writer counts against the bytes of the record, a reader against those of the whole payload, so that what was
/// written can always be read. What the engine accepts (`CodedBudget`) is always within it.
struct ValueBudget {
    /// What may be spent in any case, in bytes.
    static let allowance = 8 << 20
    /// What may be spent on top for each byte that is written or read.
    static let perByte = 2

    /// What a value takes in an array without spare capacity, in bytes. Part of the format: every implementation must
    /// use the same sizes.
    static let element = 24
    /// What a name and a value take in a dictionary, of whose places up to five in eight are free.
    static let member = 112
    static let container = 64
    static func string(length: Int) -> Int { length > 15 ? length + 32 : 0 }

    private var spent = 0
    private(set) var parts = 0

    /// Counts an allocation of `cost` bytes and `parts` parts, as `CodedBudget` counts them or fewer.
    mutating func spend(_ cost: Int, parts: Int) {
        spent &+= cost
        self.parts &+= parts
    }

    /// Whether the cost so far is allowed for that many bytes.
    func isWithin(_ bytes: Int) -> Bool {
        spent <= Self.allowance &+ Self.perByte &* bytes || CodedBudget.admits(parts: parts, in: bytes)
    }
}
