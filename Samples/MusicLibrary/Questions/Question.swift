import Mortise

/// A question about the library: how a context answers it, and how it shows the store's plan.
struct Question {
    /// The name of the question in the file of reference answers.
    let key: String
    /// The question in a few words.
    let text: String
    /// Asks the library that a context holds.
    let answer: (ModelContext) throws -> Answer
    /// Asks again, and tells how the store found the answer.
    let plan: (ModelContext) throws -> FetchExplanation

    init(
        _ key: String, _ text: String, plan: @escaping (ModelContext) throws -> FetchExplanation,
        answer: @escaping (ModelContext) throws -> Answer
    ) {
        self.key = key
        self.text = text
        self.plan = plan
        self.answer = answer
    }

    /// A question that is one fetch.
    init<T: PersistentModel>(
        _ key: String, _ text: String, _ fetch: FetchDescriptor<T>, answer: @escaping (ModelContext) throws -> Answer
    ) {
        self.init(key, text, plan: { try $0.explain(fetch) }, answer: answer)
    }

    /// All twenty.
    static var all: [Question] { tracks + relationships + sales + searches }
}
