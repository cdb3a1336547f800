#if Inspector
import MortiseCommands
import MortiseCore

/// What taking back a transaction would come to.
struct UndoPage {
    private let frame: Frame
    private let number: Int
    private let transaction: UInt64
    private var store: InspectedStore { frame.site.stores[number] }

    init(_ frame: Frame, _ number: Int, _ transaction: String) throws {
        guard let wanted = UInt64(transaction) else {
            throw NoSuchPage(what: "The history has no transaction \(transaction), or no longer.")
        }
        self.frame = frame
        self.number = number
        self.transaction = wanted
    }

    func answer() throws -> InspectorAnswer {
        guard let undo = try store.undo(of: transaction) else {
            return page(
                """
                <p class="lead">It cannot be shown: the history does not have what the transaction changed, or that is all records, or more \
                than \(InspectedText.count(InspectedStore.mostUndone)) of them.</p>
                """)
        }
        let html = TransactionHTML(store: number)
        let changes: HTML =
            undo.changes.isEmpty
            ? "<p class=\"none\">No value would change.</p>"
            : "<p class=\"counts\">\(TransactionHTML.counts(undo.changes))</p>\(html.records(undo.changes))"
        return page("\(changes)\(returns(undo))\(obstacles(undo))\(actions(undo))")
    }

    private func returns(_ undo: InspectedUndo) -> HTML? {
        if undo.returns.isEmpty { return nil }
        let items = undo.returns.prefix(20).map { record -> HTML in
            "<li>\(record.entityName) \(InspectedText.key(record))</li>"
        }
        return """
            <section><h2>Deleted records</h2><p>\(InspectedText.plural(undo.returns.count, "record")) would come back. Only a program with \
            the models can insert records: <code>context.revert(token)</code> does.</p><ul>\(items)</ul></section>
            """
    }

    private func obstacles(_ undo: InspectedUndo) -> HTML? {
        if undo.obstacles.isEmpty { return nil }
        let items = undo.obstacles.prefix(200).map { obstacle -> HTML in
            let link = Link.record(number, obstacle.record)
            let name = "\(obstacle.record.entityName) \(InspectedText.key(obstacle.record))"
            let property: HTML? = obstacle.property.map { " <b>\($0)</b>" }
            return "<li><a href=\"\(link)\">\(name)</a>\(property): \(obstacle.reason)</li>"
        }
        return "<section><h2>Stays as it is</h2><ul>\(items)</ul></section>"
    }

    private func actions(_ undo: InspectedUndo) -> HTML? {
        guard frame.site.isEditable, !undo.changes.isEmpty else { return nil }
        return """
            <div class="actions">\(frame.form(.undo(number, transaction), "inline"))<button>Stage these changes</button></form></div>\
            <p class="note">Nothing is saved yet by this: you see all changes first.</p>
            """
    }

    /// Stages what can be taken back.
    func stage() throws -> InspectorAnswer {
        guard let undo = try store.undo(of: transaction), !undo.edits.isEmpty else {
            return .redirect(.undo(number, transaction))
        }
        frame.site.changeStaged(number) { staged in for edit in undo.edits { staged.stage(edit) } }
        return .redirect(.changes(number))
    }

    private func page(_ body: HTML) -> InspectorAnswer {
        let link = Link.transaction(number, transaction)
        return frame.page(
            "Undo of \(transaction)", store: number, part: "history",
            """
            <h1>Undo of <a href="\(link)">transaction \(Int(clamping: transaction))</a> <small>preview</small></h1>\
            <p class="note">What taking it back now would come to. Nothing is changed by looking.</p>\(body)
            """)
    }
}
#endif
