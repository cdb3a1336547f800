#if Tool
import MortiseCore

/// A whole query as text: `Entity where PREDICATE sort KEYS limit N`.
struct QueryText {
    private let entity: String
    private let condition: String?
    private let order: String?
    private let limit: Int?

    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    init(_ text: String, _ store: OpenStore) throws {
        var lexer = try PredicateLexer(text)
        let tokens = try lexer.tokens()
        guard case .word(let name, _)? = tokens.first?.kind else {
            throw PredicateTextError(
                text, tokens.first?.place ?? TextPlace(start: 0, count: 1), "expected the name of an entity")
        }
        entity = name
        try PredicateText(schema: store.schema, storeIdentifier: store.store.identifier).check(name)
        let clauses = ["where", "sort", "limit"]
        let starts = tokens.indices.filter { index in
            index > 0 && clauses.contains(tokens[index].keyword ?? "") && !Self.isName(tokens, index)
        }
        if let stray = tokens.dropFirst().first, stray.kind != .end, starts.first != 1 {
            throw PredicateTextError(
                text, stray.place, "expected \"where\", \"sort\", \"limit\" or the end, found \(stray.shown)")
        }
        var found: [String: String] = [:]
        var lastClause = -1
        for (number, start) in starts.enumerated() {
            let word = tokens[start].keyword ?? ""
            let place = clauses.firstIndex(of: word) ?? 0
            guard place > lastClause else {
                throw PredicateTextError(
                    text, tokens[start].place, "write where, sort and limit in this order, each once")
            }
            lastClause = place
            let end = number + 1 < starts.count ? tokens[starts[number + 1]].place.start : text.count
            // Spaces in the place of what comes before keep the columns of errors right.
            let from = tokens[start].place.start + tokens[start].place.count
            found[word] =
                String(repeating: " ", count: from)
                + String(text[text.index(text.startIndex, offsetBy: from)..<text.index(text.startIndex, offsetBy: end)])
        }
        condition = found["where"]
        order = found["sort"]
        limit = try found["limit"].map { digits in
            guard let number = Int(digits.filter { !$0.isWhitespace }), number >= 0 else {
                throw PredicateTextError(
                    text, tokens[starts.last ?? 0].place, "expected a number of records after \"limit\"")
            }
            return number
        }
    }

    /// Whether a word is a property's name because of its position: after a dot or an operator, a clause cannot begin.
    private static func isName(_ tokens: [PredicateToken], _ index: Int) -> Bool {
        if case .sign(let sign) = tokens[index - 1].kind { sign != ")" && sign != "]" } else { false }
    }

    /// The query for a store, whose identifiers stand in it.
    /// - Throws: `PredicateTextError`; `UnknownEntity`.
    func query(_ store: OpenStore) throws -> StoreQuery {
        let text = PredicateText(schema: store.schema, storeIdentifier: store.store.identifier)
        return StoreQuery(
            entity, conjuncts: try condition.map { try text.conditions($0, entity: entity) } ?? [],
            order: try order.map { try text.order($0, entity: entity) } ?? [], limit: limit)
    }
}
#endif
