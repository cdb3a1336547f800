/// A position in the history of one or more stores: for each store the number of the last transaction seen.
///
/// Beside the number, a token has the mark of that transaction, where its maker knew it. A store whose history has another
/// mark under that number is not the one that the token was made by: it was restored from a backup, copied or salvaged, and
/// a fetch after the token throws `SwiftDataError.historyTokenExpired`.
public struct DefaultHistoryToken: HistoryToken, Comparable, Hashable, Identifiable, Sendable, Codable {
    /// The number of the last known transaction by store identifier.
    public typealias TokenType = [String: Int64]
    /// The token's hash value.
    public typealias ID = Int

    /// The number of the last known transaction by store identifier.
    public var tokenValue: [String: Int64]?
    /// The marks of those transactions by store identifier, as far as they are known. Not part of the token's value: tokens
    /// are compared and hashed by their numbers.
    public var marks: [String: UInt64] = [:]
    /// The token's hash value. It differs from process to process.
    public var id: Int { hashValue }
    /// The store to whose history the token belongs; nil for a token over several stores.
    public var storeIdentifier: String? { tokenValue?.count == 1 ? tokenValue?.keys.first : nil }

    /// Makes a token from transaction numbers by store identifier, and the marks of those transactions where they are known.
    public init(_ tokenValue: [String: Int64], marks: [String: UInt64] = [:]) {
        self.tokenValue = tokenValue
        self.marks = marks
    }

    /// Makes the token of one transaction.
    public init(_ number: Int64, mark: UInt64?, store: String) {
        tokenValue = [store: number]
        if let mark { marks = [store: mark] }
    }

    /// The later of two positions in each store's history, with its mark. A store that only one of them names is as there.
    public func advanced(by other: DefaultHistoryToken) -> DefaultHistoryToken {
        var result = DefaultHistoryToken(tokenValue ?? [:], marks: marks)
        for (store, number) in other.tokenValue ?? [:] {
            if let mine = result.tokenValue?[store], mine >= number { continue }
            result.tokenValue?[store] = number
            result.marks[store] = other.marks[store]
        }
        return result
    }

    /// The position in one store's history: 0, the beginning, if the token does not name the store.
    public func narrowed(to store: String) -> DefaultHistoryToken {
        DefaultHistoryToken(max(tokenValue?[store] ?? 0, 0), mark: marks[store], store: store)
    }

    /// Two tokens are equal if their numbers are.
    public static func == (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
        lhs.tokenValue == rhs.tokenValue
    }
    /// Hashes the numbers.
    public func hash(into hasher: inout Hasher) { hasher.combine(tokenValue) }

    private enum CodingKeys: String, CodingKey { case tokenValue, marks }

    /// Decodes a token, also one without marks.
    /// - Throws: `DecodingError` for anything that `encode(to:)` did not write.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tokenValue = try container.decodeIfPresent([String: Int64].self, forKey: .tokenValue)
        marks = try container.decodeIfPresent([String: UInt64].self, forKey: .marks) ?? [:]
    }

    /// Encodes the numbers, and the marks where there are any.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(tokenValue, forKey: .tokenValue)
        if !marks.isEmpty { try container.encode(marks, forKey: .marks) }
    }

    /// Whether the first token is earlier in the history of a store that both name, and later in none.
    ///
    /// Tokens are compared store by store, so none of the comparisons holds between tokens that name no common store. A
    /// token that names no store stands for the beginning of every history.
    public static func < (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
        let found = lhs.comparison(with: rhs)
        return found.isEarlier && !found.isLater
    }
    /// Whether both tokens name a common store, and the first is later in the history of none.
    public static func <= (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool {
        let found = lhs.comparison(with: rhs)
        return found.isPossible && !found.isLater
    }
    /// Whether the second token is earlier than the first.
    public static func > (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool { rhs < lhs }
    /// Whether both tokens name a common store, and the first is earlier in the history of none.
    public static func >= (lhs: DefaultHistoryToken, rhs: DefaultHistoryToken) -> Bool { rhs <= lhs }

    private func comparison(
        with other: DefaultHistoryToken
    ) -> (isPossible: Bool, isEarlier: Bool, isLater: Bool) {
        let (mine, others) = (tokenValue ?? [:], other.tokenValue ?? [:])
        if mine.isEmpty || others.isEmpty { return (true, !others.isEmpty, !mine.isEmpty) }
        var found = (isPossible: false, isEarlier: false, isLater: false)
        for (store, number) in mine {
            guard let theirs = others[store] else { continue }
            found.isPossible = true
            if number < theirs { found.isEarlier = true }
            if number > theirs { found.isLater = true }
        }
        return found
    }
}
