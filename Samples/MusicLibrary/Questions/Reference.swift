import Foundation

/// The right answers: those that come with the data, and eight more that SQLite has found in it.
struct Reference {
    private struct Entry: Decodable {
        let answer: Answer
    }

    private let answers: [String: Answer]

    /// Reads the files `answers.json` and `answers-by-sql.json` beside the data.
    ///
    /// - Throws: ``ChinookError``: `unreadable` or `malformed`.
    init(beside data: URL) throws {
        var answers: [String: Answer] = [:]
        for name in ["answers.json", "answers-by-sql.json"] {
            let file = data.deletingLastPathComponent().appending(path: name)
            guard let text = try? Data(contentsOf: file) else { throw ChinookError.unreadable(file: file.path) }
            do {
                for (key, entry) in try JSONDecoder().decode([String: Entry].self, from: text) {
                    answers[key] = entry.answer
                }
            } catch { throw ChinookError(error) }
        }
        self.answers = answers
    }

    subscript(question: Question) -> Answer? { answers[question.key] }
}
