#if Tool
import MortiseCore

/// What a column shows of a record: a value, or the values of all records that to-many relationships lead to.
struct ColumnPath {
    /// Each of them multiplies the values.
    static let mostLists = 4

    /// The to-many relationships on the way, each of a record that the one before leads to.
    var lists: [QueryExpression] = []
    /// What is shown of each record at the end.
    var value: QueryExpression

    /// The value; a list in the order of the relationships where there are any.
    /// - Throws: `QueryEvaluationError`.
    func value(
        of record: RecordReference, _ evaluator: QueryEvaluator, _ reader: RecordReader
    ) throws -> StoredValue {
        if lists.isEmpty { return try evaluator.sortKey(value, record) }
        var records = [record]
        for list in lists {
            records = try records.flatMap { record -> [RecordReference] in
                guard case .array(let members) = try evaluator.sortKey(list, record) else { return [] }
                return members.compactMap {
                    if case .identifier(let member) = $0 { reader.record(member) } else { nil }
                }
            }
        }
        return .array(try records.map { try evaluator.sortKey(value, $0) })
    }
}
#endif
