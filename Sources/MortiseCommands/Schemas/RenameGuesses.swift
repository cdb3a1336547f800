#if Tool
import MortiseCore

/// What is gone and what is new in a schema, where one may be the other under a new name.
struct RenameGuess: Hashable {
    /// The entity, by its new name; nil for a guess about entities.
    let entity: String?
    let old: String
    let new: String
    let score: Int
    /// Whether a rename is the likely answer.
    let isLikely: Bool

    /// What `--rename` takes.
    var rename: String { (entity.map { "\($0)." } ?? "") + "\(new)=\(old)" }
    /// What `--drop` takes.
    var drop: String { (entity.map { "\($0)." } ?? "") + old }

    /// A pair with less than this is not worth a question.
    private static let least = 50
    /// From here on the likely answer is yes, if no other pair comes near.
    private static let likely = 80
    private static let distance = 15
    /// The most names on either side whose pairs are looked at.
    private static let most = 256

    /// The guesses about two versions that nobody has answered; `drops` is what is known to be dropped: `Trip.note`, `Trip`.
    static func all(
        _ comparison: SchemaComparison, from old: SchemaDocument, to new: SchemaDocument, drops: Set<String>
    ) -> [RenameGuess] {
        let taken = Set(comparison.counterparts.values)
        let gone = old.schema.entities.filter { !taken.contains($0.name) && !drops.contains($0.name) }
        let added = new.schema.entities.filter { comparison.counterparts[$0.name] == nil }
        let (leaving, coming) = (RenameScore.shapes(gone, in: old.schema), RenameScore.shapes(added, in: new.schema))
        var guesses = guesses(nil, gone.map(\.name), added.map(\.name)) { RenameScore.of(leaving[$0], coming[$1]) }
        let entities = Dictionary(old.schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in new.schema.entities {
            guard let source = comparison.counterparts[entity.name], let before = entities[source]
            else { continue }
            var (added, dropped) = comparison.strangers(of: entity.name)
            dropped.removeAll { drops.contains("\(entity.name).\($0.name)") || drops.contains("\(source).\($0.name)") }
            guesses += Self.guesses(entity.name, dropped.map(\.name), added.map(\.name)) { a, b in
                RenameScore.of(dropped[a], in: before, added[b], in: entity)
            }
        }
        return guesses
    }

    private static func guesses(
        _ entity: String?, _ old: [String], _ new: [String], score: (Int, Int) -> Int
    ) -> [RenameGuess] {
        guard !old.isEmpty, !new.isEmpty, old.count <= most, new.count <= most else { return [] }
        let scores = old.indices.map { a in new.indices.map { score(a, $0) } }
        return Assignment.best(scores).compactMap { a, b in
            let found = scores[a][b]
            guard found >= least else { return nil }
            let rivals =
                new.indices.filter { $0 != b }.map { scores[a][$0] }
                + old.indices.filter { $0 != a }.map { scores[$0][b] }
            let isLikely = found >= likely && found - (rivals.max() ?? 0) >= distance
            return RenameGuess(entity: entity, old: old[a], new: new[b], score: found, isLikely: isLikely)
        }
    }
}

/// Pairs of rows and columns with the best sum, each row and column once.
enum Assignment {
    /// The exact best where one side has at most this many; pairs in the order of their scores beyond.
    private static let exact = 12

    static func best(_ scores: [[Int]]) -> [(row: Int, column: Int)] {
        guard let width = scores.first?.count, width > 0 else { return [] }
        if width > scores.count {
            let turned = (0..<width).map { column in scores.map { $0[column] } }
            return best(turned).map { ($0.column, $0.row) }.sorted { $0.0 < $1.0 }
        }
        if width > exact {
            let pairs = scores.indices.flatMap { row in (0..<width).map { (row: row, column: $0) } }
                .sorted { scores[$0.row][$0.column] > scores[$1.row][$1.column] }
            var (rows, columns): (Set<Int>, Set<Int>) = ([], [])
            return pairs.filter { pair in
                guard !rows.contains(pair.row), !columns.contains(pair.column) else { return false }
                rows.insert(pair.row)
                columns.insert(pair.column)
                return true
            }.sorted { $0.row < $1.row }
        }
        // By set of columns that are taken, the best sum of the rows so far and the column of the last.
        var sums = [Int?](repeating: nil, count: 1 << width)
        sums[0] = 0
        var choices: [[Int?]] = []
        for row in scores {
            var next = sums
            var choice = [Int?](repeating: nil, count: 1 << width)
            for set in sums.indices {
                guard let sum = sums[set] else { continue }
                for column in 0..<width where set & (1 << column) == 0 {
                    let target = set | (1 << column)
                    if sum + row[column] > next[target] ?? -1 {
                        next[target] = sum + row[column]
                        choice[target] = column
                    }
                }
            }
            sums = next
            choices.append(choice)
        }
        guard var set = sums.indices.max(by: { (sums[$0] ?? -1) < (sums[$1] ?? -1) }) else { return [] }
        var pairs: [(row: Int, column: Int)] = []
        for row in scores.indices.reversed() {
            guard let column = choices[row][set] else { continue }
            pairs.append((row, column))
            set &= ~(1 << column)
        }
        return pairs.reversed()
    }
}
#endif
