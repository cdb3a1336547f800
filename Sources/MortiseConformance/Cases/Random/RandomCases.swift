import Foundation
import MortiseCore

extension ConformanceCase {
    /// The first seed of every random case; the ones after it follow.
    private static let seed: UInt64 = 20_261_121

    private static func values(_ models: [Entry]) -> [EntryValues] {
        models.map { EntryValues(name: $0.name, group: $0.group, rank: $0.rank, score: $0.score, note: $0.note) }
    }

    /// Asks random queries of random entries; the smallest that is answered wrongly is the failure.
    private static func questions(
        _ c: CaseContext, rounds: Int, each: Int, unsaved: Bool = false, make: (inout RandomNumbers) -> RandomQuery
    ) throws {
        var numbers = RandomNumbers(seed: seed)
        var stored: [EntryValues] = []
        for round in 0..<rounds {
            let session = try c.session()
            let more = (0..<12).map { _ in EntryValues.random(&numbers) }
            session.change("insert \(more.count) random entries, seed \(seed), round \(round)") {
                for values in more { session.context.insert(values.entry) }
            }
            let isLast = round == rounds - 1
            if !(unsaved && isLast) { try session.save() }
            stored += more
            for _ in 0..<each {
                let query = make(&numbers)
                guard let failure = try wrong(query, stored, session) else { continue }
                let smallest = Shrinking.smallest(
                    of: query, failing: failure, tries: c.shrinks ? 400 : 0, smaller: \.smaller
                ) {
                    try? wrong($0, stored, session)
                }
                c.note("ask \(query.text)")
                c.note("smaller, and still wrong: \(smallest.value.text)")
                throw c.failure(expected: smallest.failure.expected, found: smallest.failure.found)
            }
        }
        c.note("\(rounds * each) random queries")
    }

    /// - Returns: what was expected and found where the answer is wrong.
    private static func wrong(
        _ query: RandomQuery, _ stored: [EntryValues], _ session: CaseSession
    ) throws -> (expected: String, found: String)? {
        let expected = query.answer(stored)
        func text(_ values: [EntryValues]) -> String {
            "\(values.count): "
                + values.prefix(8).map { "\"\($0.name)\" \($0.group) \($0.rank.map(String.init) ?? "nil")" }
                .joined(separator: ", ")
        }
        let found: [EntryValues]
        let count: Int
        do {
            found = values(try session.context.fetch(query.descriptor))
            count = try session.context.fetchCount(query.descriptor)
        } catch {
            return ("an answer to the query \(query.text)", "\(type(of: error)): \(error)")
        }
        let wanted = expected.map { stored[$0] }
        let isSame = zip(found, wanted).allSatisfy { $0.isIdentical(to: $1) }
        if found.count != wanted.count || !isSame {
            return ("for the query \(query.text) \(text(wanted))", text(found))
        }
        return count == wanted.count ? nil : ("for the query \(query.text) a count of \(wanted.count)", "\(count)")
    }

    static let randomCases: [ConformanceCase] = [
        ConformanceCase(
            "random.conditions", level: .full,
            requirement: "Random conditions of any nesting find what plain Swift finds.",
            hint: "Read the smallest query below: it shows what the store evaluates differently from Swift."
        ) { c in
            try questions(c, rounds: 2, each: 60) { numbers in
                RandomQuery(condition: .random(&numbers, depth: 3))
            }
        },
        ConformanceCase(
            "random.orders-and-windows", level: .full,
            requirement: "Random orders and windows leave what plain Swift leaves.",
            hint: "Read the smallest query below: which key, which direction, which end."
        ) { c in
            try questions(c, rounds: 2, each: 60) { numbers in
                var query = RandomQuery.random(&numbers, depth: 0)
                query.condition = nil
                return query
            }
        },
        ConformanceCase(
            "random.whole-queries", level: .full,
            requirement: "Random queries with condition, order and window find what plain Swift finds.",
            hint: "Each part is right by itself; the store takes one before it has done the other."
        ) { c in try questions(c, rounds: 2, each: 80) { RandomQuery.random(&$0) } },
        ConformanceCase(
            "random.under-unsaved-changes", level: .full,
            requirement: "Random queries find stored and unsaved models together.",
            hint: "The store takes an order or a window under unsaved changes, or counts only what it has."
        ) { c in try questions(c, rounds: 2, each: 60, unsaved: true) { RandomQuery.random(&$0) } },
        ConformanceCase(
            "random.saves", level: .full,
            requirement: "After random saves of insertions, updates and deletions the store has what was saved.",
            hint: "Read the shortest run below; it starts with an empty store."
        ) { c in try runs(c, reopening: false) },
        ConformanceCase(
            "random.saves-and-reopening", level: .full, capability: .reopening,
            requirement: "After random saves and reopenings the store has what was saved.",
            hint: "Read the shortest run below; the stored values are not those in memory."
        ) { c in try runs(c, reopening: true) },
    ]

    // MARK: Runs

    private enum Step {
        case insert(EntryValues), update(Int, EntryValues), delete(Int), save, rollback, reopen

        var text: String {
            switch self {
            case .insert(let values): "insert \"\(values.name)\" \(values.rank.map(String.init) ?? "nil")"
            case .update(let place, let values):
                "update number \(place) to \"\(values.name)\" \(values.rank.map(String.init) ?? "nil")"
            case .delete(let place): "delete number \(place)"
            case .save: "save"
            case .rollback: "roll back"
            case .reopen: "reopen"
            }
        }
    }

    private static func runs(_ c: CaseContext, reopening: Bool) throws {
        var numbers = RandomNumbers(seed: seed)
        for _ in 0..<4 {
            let steps = (0..<40).map { _ -> Step in
                switch numbers.below(reopening ? 16 : 14) {
                case 0...4: .insert(.random(&numbers))
                case 5...7: .update(numbers.below(20), .random(&numbers))
                case 8...9: .delete(numbers.below(20))
                case 10...12: .save
                case 13: .rollback
                default: .reopen
                }
            }
            guard let failure = try failure(of: steps, c) else { continue }
            let smallest = Shrinking.smallest(of: steps, failing: failure, tries: c.shrinks ? 250 : 0) { steps in
                let halves = [Array(steps.prefix(steps.count / 2)), Array(steps.suffix(steps.count / 2))]
                return halves
                    + steps.indices.map { place in steps.enumerated().filter { $0.offset != place }.map(\.element) }
            } fails: {
                try? self.failure(of: $0, c)
            }
            for step in smallest.value { c.note(step.text) }
            throw c.failure(expected: smallest.failure.expected, found: smallest.failure.found)
        }
        c.note("4 runs of 40 random steps, seed \(seed)")
    }

    /// Carries a run out in the store and in a plain array.
    /// - Returns: where the two differ.
    private static func failure(of steps: [Step], _ c: CaseContext) throws -> (expected: String, found: String)? {
        let quiet = CaseContext(case: c.conformanceCase, subject: c.subject, storage: try c.subject.storage())
        defer { try? quiet.finish() }
        var session = try quiet.session()
        var models: [Entry] = []
        var pending: [EntryValues] = []
        var saved: [EntryValues] = []
        func check() throws -> (String, String)? {
            let found = values(try quiet.session().all(Entry.self))
            if found.count == saved.count, zip(found, saved).allSatisfy({ $0.isIdentical(to: $1) }) { return nil }
            func text(_ values: [EntryValues]) -> String {
                "\(values.count): "
                    + values.map { "\"\($0.name)\" \($0.rank.map(String.init) ?? "nil")" }.joined(separator: ", ")
            }
            return ("after the run \(text(saved))", text(found))
        }
        func restart() throws {
            session = try quiet.session()
            models = try session.all(Entry.self)
            pending = saved
        }
        do {
            for step in steps {
                switch step {
                case .insert(let values):
                    let model = values.entry
                    session.context.insert(model)
                    models.append(model)
                    pending.append(values)
                case .update(let place, let values) where place < models.count:
                    models[place].name = values.name
                    models[place].rank = values.rank
                    models[place].note = values.note
                    pending[place].name = values.name
                    pending[place].rank = values.rank
                    pending[place].note = values.note
                case .delete(let place) where place < models.count:
                    session.context.delete(models.remove(at: place))
                    pending.remove(at: place)
                case .save:
                    try session.context.save()
                    saved = pending
                    if let failure = try check() { return failure }
                case .rollback:
                    session.context.rollback()
                    try restart()
                case .reopen:
                    try quiet.reopen()
                    try restart()
                    if let failure = try check() { return failure }
                default: break
                }
            }
        } catch {
            return ("no error", "\(type(of: error)): \(error)")
        }
        return nil
    }
}
