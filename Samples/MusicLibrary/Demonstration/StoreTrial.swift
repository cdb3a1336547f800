import Foundation
import Mortise

/// What one store has done with the library: how long it took, and what it answered.
struct StoreTrial {
    struct Answered {
        let question: Question
        let answer: Answer
        let isRight: Bool
        let time: Duration
    }

    let store: LibraryStore
    /// A context on the library, as it was opened again after the import.
    let context: ModelContext
    let importTime: Duration
    /// Nil for a store that ends with its container, and is not opened again.
    let openTime: Duration?
    let answers: [Answered]
    let bytes: Int64
    let promise: String

    /// Imports a file into a store that does not exist yet or is emptied first, opens it anew, and asks all questions.
    ///
    /// - Throws: what importing, opening and asking throw.
    init(of store: LibraryStore, importing file: ChinookFile, reference: Reference) throws {
        self.store = store
        var context = try Library.open(store.url)
        if store.isOfLastRun { try context.container.erase() }
        importTime = try ContinuousClock().measure {
            try LibraryImport.run(file, into: context, store: store.url)
        }
        if store.isKept {
            try context.container.close()
            openTime = try ContinuousClock().measure { context = try Library.open(store.url) }
        } else {
            openTime = nil
        }
        self.context = context
        answers = try Self.ask(context, reference)
        let statistics = try context.container.statistics().first
        bytes = statistics?.bytes ?? 0
        promise = LibraryStore.promise(of: statistics?.durability)
    }

    /// Asks all questions and compares the answers.
    ///
    /// - Throws: what the store throws.
    static func ask(_ context: ModelContext, _ reference: Reference) throws -> [Answered] {
        try Question.all.map { question in
            let clock = ContinuousClock()
            let start = clock.now
            let answer = try question.answer(context)
            return Answered(
                question: question, answer: answer, isRight: answer == reference[question], time: clock.now - start)
        }
    }

    var questionTime: Duration { answers.reduce(.zero) { $0 + $1.time } }
    var slowest: Answered? { answers.max { $0.time < $1.time } }
}

extension [StoreTrial.Answered] {
    /// How many are right, of how many: `20/20`.
    var score: String { "\(count { $0.isRight })/\(count)" }
}
