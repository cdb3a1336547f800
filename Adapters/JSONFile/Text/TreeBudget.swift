/// Bounds the memory that the coded values of one record may take, so that a small text cannot ask for much.
///
/// Writer and reader count alike, and in the same order: a tree that one of them passes, the other passes too.
package struct TreeBudget {
    /// What may be spent in any case, in bytes.
    package static let allowance = 10 << 20
    /// What may be spent on top for each byte of text.
    package static let perTextByte = 2

    /// Upper estimates, in bytes, growth of the containers included.
    static let container = 96
    static let element = 72
    static let member = 120
    static func string(length: Int) -> Int { length > 15 ? length + 32 : 0 }

    private var spent = 0
    private var earlierText = 0
    private var currentText = 0

    package init() {}

    /// Counts an allocation made when `textLength` bytes of the current tree have been passed; false, where the
    /// record's trees become too large.
    mutating func spend(_ cost: Int, textLength: Int) -> Bool {
        spent &+= cost
        currentText = textLength
        return spent <= Self.allowance &+ Self.perTextByte &* (earlierText &+ textLength)
    }

    /// Goes on to another tree of the same record.
    mutating func beginTree() {
        earlierText &+= currentText
        currentText = 0
    }
}
