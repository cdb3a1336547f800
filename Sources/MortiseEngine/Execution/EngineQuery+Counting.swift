import MortiseCore

extension EngineQuery {
    /// How many rows match, from the two ends of each range of an index that has exactly these: no row is looked at.
    struct RangeCount {
        let count: Int
        /// How they were counted, in words.
        let detail: String
    }

    /// Counts without going through rows, where the conditions are those of an index and nothing else.
    /// - Parameters:
    ///   - conjuncts: what has to hold, of the query's conjuncts.
    ///   - version: the version whose rows are counted.
    /// - Returns: nil where rows have to be looked at.
    func countInRanges(_ conjuncts: [QueryExpression], _ version: any StoreVersion) -> RangeCount? {
        guard !conjuncts.isEmpty, conjuncts.count == query.conjuncts.count, identifiers == nil, hasPath,
            // What a condition is to an index has to be all that it says, and none may have to be evaluated for its error.
            conjuncts.allSatisfy({ Self.isSaid($0) && !$0.mayThrow })
        else { return nil }
        var sum = 0
        var texts: [String] = []
        for (place, name) in entities.enumerated() {
            guard let plan = catalog.plan(name),
                let path = paths[place].firstIndex(where: { $0.isExact(plan, for: conditions) })
            else { return nil }
            let text = text(path, place)
            if !texts.contains(text) { texts.append(text) }
            // A table that nothing was ever written to is in no version.
            guard let table = version.rows(ofEntity: name) as? TableVersion else { continue }
            let index = TableIndex(table, paths[place][path].index)
            for range in paths[place][path].ranges(in: index) { sum += index.count(in: range) }
        }
        return RangeCount(count: sum, detail: texts.joined(separator: "; "))
    }

    /// Whether the conditions that follow from a conjunct say all that it does.
    private static func isSaid(_ conjunct: QueryExpression) -> Bool {
        switch conjunct {
        case .compare(let comparison, .property(.variable(0), _), .constant(let value)),
            .compare(let comparison, .constant(let value), .property(.variable(0), _)):
            // An index is not asked for a date that is not a number.
            comparison != .notEqual && !value.isNotANumber
        case .contains(.range(.constant(let lower), .constant(let upper), _), .property(.variable(0), _)):
            !lower.isNotANumber && !upper.isNotANumber
        default: false
        }
    }
}
