import Foundation
import Mortise

/// The main job: one library in every store of this build, asked the same questions, changed, and changed back.
struct Demonstration {
    /// Where the stores go; those of the last run are replaced.
    static let folder = ".build/music-library"
    static let data = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Chinook/ChinookData.json")

    private let page = Page()

    /// - Throws: ``ChinookError``; ``LibraryError/wrongAnswers(count:)`` if a store has answered anything else than the
    ///   reference, after everything is printed; what the stores throw.
    func run() throws {
        let start = ContinuousClock.now
        let file = try ChinookFile(contentsOf: Self.data)
        let reference = try Reference(beside: Self.data)
        try makeFolder()
        page.print(
            "A music shop, \(file.rowCount.formatted(.number.locale(Page.locale))) rows, in every store of this build")
        let trials = try importAndAsk(file, reference)
        showLeftOut()
        showAnswers(trials)
        try showPlans(trials)
        let wrongLater = try changeAndUndo(trials, reference)
        showWhereTheyAre(trials)
        page.note("All of this took \(page.time(ContinuousClock.now - start)).")
        let wrong = trials.flatMap(\.answers).count { !$0.isRight } + wrongLater
        if wrong > 0 { throw LibraryError.wrongAnswers(count: wrong) }
    }

    private func makeFolder() throws {
        let files = FileManager.default
        if files.fileExists(atPath: Self.folder) { try files.removeItem(atPath: Self.folder) }
        try files.createDirectory(atPath: Self.folder, withIntermediateDirectories: true)
    }

    // MARK: - Import and questions

    private func importAndAsk(_ file: ChinookFile, _ reference: Reference) throws -> [StoreTrial] {
        let columns = [-8, 7, 7, 9, 7, 5, -24]
        page.row(["store", "import", "reopen", "questions", "size", "right", "a save that returned"], columns)
        return try LibraryStore.all(in: Self.folder).map { store in
            let trial = try StoreTrial(of: store, importing: file, reference: reference)
            page.row(
                [
                    store.kind, page.time(trial.importTime), trial.openTime.map(page.time) ?? "-",
                    page.time(trial.questionTime), store.isKept ? page.bytes(trial.bytes) : "-", trial.answers.score,
                    trial.promise,
                ], columns)
            return trial
        }
    }

    private func showLeftOut() { for line in LibraryStore.leftOut { page.note(line) } }

    private func showAnswers(_ trials: [StoreTrial]) {
        guard let first = trials.first else { return }
        page.print("Twenty questions, and what the stores answered")
        for (place, answered) in first.answers.enumerated() {
            let answers = trials.map { $0.answers[place] }
            page.row(["\(place + 1)", answered.question.text, answered.answer.line], [2, -34, -40])
            for (trial, answer) in zip(trials, answers) where !answer.isRight {
                page.row(["", "", "WRONG in \(trial.store.kind): \(answer.answer.line)"], [2, -34, -40])
            }
        }
        let all = trials.flatMap(\.answers)
        page.note(
            "\(all.count { $0.isRight }) of \(all.count) answers are right: 12 questions have reference answers with the "
                + "data, and SQLite answered the other 8.")
    }

    private func showPlans(_ trials: [StoreTrial]) throws {
        page.print("The slowest question of each store, and how it found the answer")
        for trial in trials {
            guard let slowest = trial.slowest else { continue }
            page.row([trial.store.kind, page.time(slowest.time), slowest.question.text], [-8, 7, -59])
            for line in "\(try slowest.question.plan(trial.context))".split(separator: "\n") {
                page.row(["", String(line)], [8, -70])
            }
        }
    }

    // MARK: - Changes

    /// - Returns: how many answers are wrong after the undo.
    private func changeAndUndo(_ trials: [StoreTrial], _ reference: Reference) throws -> Int {
        page.print("A day in the shop: a price, a playlist, a customer who leaves. Then undo")
        let columns = [-8, 7, 9, -30, 7, 9]
        page.row(["store", "save", "as before", "history", "undo", "as before"], columns)
        var wrong = 0
        var told: (kind: String, history: [DefaultHistoryTransaction])?
        for trial in trials {
            let day = DayInTheShop(trial.context)
            let saved = try ContinuousClock().measure { try day.change() }
            let changed = try StoreTrial.ask(trial.context, reference)
            let undone = try ContinuousClock().measure { try day.undo() }
            let after = try StoreTrial.ask(trial.context, reference)
            wrong += after.count { !$0.isRight }
            let history = try day.history()
            page.row(
                [
                    trial.store.kind, page.time(saved), changed.score,
                    history.map { "\($0.count) transactions" } ?? "not kept by this store", page.time(undone),
                    after.score,
                ], columns)
            if told == nil, let history { told = (trial.store.kind, history) }
        }
        if let told {
            page.note("What the history of \(told.kind) tells:")
            for transaction in told.history { for line in HistoryText.lines(of: transaction) { page.note(line) } }
        }
        return wrong
    }

    private func showWhereTheyAre(_ trials: [StoreTrial]) {
        page.print("The stores are yours to look into")
        for trial in trials where trial.store.isKept { page.line("  " + Library.shown(trial.store.url)) }
        guard let store = trials.first(where: { $0.store.kind == "log" })?.store.url else { return }
        page.line("")
        page.line("  swift run --traits Tool mortise info \(store)")
        page.line("  swift run --traits Tool mortise history \(store)")
        page.line("  swift run --traits Tool mortise fetch \\")
        page.line("      \(store) Track \\")
        page.line("      --where 'album.artist.name == \"AC/DC\"' --select name,milliseconds")
        page.line("")
    }
}
