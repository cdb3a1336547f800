/// Bounds the memory that the coded values of one record may take, so that a small payload cannot ask for much: an array
/// of nulls has a byte for each of them, and a value in memory many.
///
/// Who writes counts against the bytes of the record, who reads against those of the whole payload: what was written can
/// always be read.
struct ValueBudget {
    /// What may be spent in any case, in bytes.
    static let allowance = 8 << 20
    /// What may be spent on top for each byte that is written or read.
    static let perByte = 2

    /// What a value takes in an array that has room for no more than its elements, in bytes. A part of the format: who has
    /// other sizes must read the same.
    static let element = 24
    /// What a name and a value take in a dictionary, of whose places up to five in eight are free.
    static let member = 112
    static let container = 64
    static func string(length: Int) -> Int { length > 15 ? length + 32 : 0 }

    private(set) var spent = 0

    mutating func spend(_ cost: Int) { spent &+= cost }

    /// Whether what was spent goes with so many bytes.
    func isWithin(_ bytes: Int) -> Bool { spent <= Self.allowance &+ Self.perByte &* bytes }
}
