import MortiseCore
import MortiseEngine

/// Bounds the memory that the coded values of one record may take, so that a small text cannot ask for much.
///
/// Writer and reader count alike, and in the same order: a tree that one of them passes, the other passes too. What no engine
/// refuses (`CodedBudget`) is always within it.
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
    private var parts = 0
    private var excess = 0
    private var isAllowed = false
    /// The length of the document that is read, whose strings may come after what they make room for.
    private let documentLength: Int

    package init(documentLength: Int = 0) { self.documentLength = documentLength }

    /// Counts an allocation of `cost` bytes and `parts` parts (as `CodedBudget` counts them, or fewer), made after
    /// `textLength` bytes of the current tree. Returns false if the record's trees become too large.
    mutating func spend(_ cost: Int, parts: Int = 0, textLength: Int) -> Bool {
        spent &+= cost
        self.parts &+= parts
        currentText = textLength
        return isAllowed || spent <= Self.allowance &+ Self.perTextByte &* (earlierText &+ textLength)
            || CodedBudget.admits(parts: self.parts, in: documentLength)
    }

    /// Goes on to another tree of the same record.
    /// - Parameter value: the tree to be written; nil when reading.
    mutating func beginTree(_ value: StoredValue? = nil) {
        earlierText &+= currentText
        currentText = 0
        guard let value else { return }
        let cost = CodedBudget.Cost(value)
        excess += cost.excess
        isAllowed = cost.isAllowed && excess <= CodedBudget.parts
    }
}
