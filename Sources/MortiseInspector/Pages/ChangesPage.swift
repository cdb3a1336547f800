#if Inspector
import MortiseCommands
import MortiseCore

/// What was asked for and is not saved yet.
struct ChangesPage {
    private let frame: Frame
    private let number: Int
    private var store: InspectedStore { frame.site.stores[number] }

    init(_ frame: Frame, _ number: Int) {
        self.frame = frame
        self.number = number
    }

    /// The page; `isAnother` where other changes were shown when they were to be saved.
    func answer(isAnother: Bool = false) throws -> InspectorAnswer {
        guard frame.site.isEditable else { throw NotEditable() }
        let staged = frame.site.staged(number)
        if staged.isEmpty {
            return page("<h1>Changes</h1><p class=\"lead\">Nothing is staged. Open a record and choose Edit.</p>")
        }
        do {
            let (changes, conflicts, digest) = try store.preview(staged)
            if !conflicts.isEmpty { return conflict(conflicts, back: .changes(number)) }
            let note: HTML? =
                isAnother
                ? """
                <p class="error" role="alert">Nothing was saved: these changes are not the ones that were shown. More was staged or taken \
                out, or others have saved. Look at them, and save again.</p>
                """ : nil
            return page(
                status: isAnother ? 409 : 200,
                """
                <h1>Changes <small>not saved yet</small></h1>\(note)<p class="counts">\(TransactionHTML.counts(changes))</p>\
                \(TransactionHTML(store: number).records(changes))\
                <div class="actions">\(frame.form(.changes(number), "inline"))\
                <input type="hidden" name="shown" value="\(digest)"><button name="action" value="save">Save as one transaction</button>\
                <button name="action" value="discard" class="quiet">Discard all</button></form></div>\(drops(staged))
                """)
        } catch let fault as StagingFault {
            return refused("\(fault.property): \(fault.reason)", staged)
        } catch let error as any ClassifiedStoreError where [.invalid, .conflict, .usage].contains(error.errorClass) {
            return refused("\(error)", staged)
        }
    }

    func carryOut(_ request: InspectorRequest) throws -> InspectorAnswer {
        let staged = frame.site.staged(number)
        if let record = request.form["record"] {
            frame.site.changeStaged(number) { changes in
                if let edit = staged.edits.first(where: { Self.name($0.record) == record }) {
                    changes.drop(edit.record)
                }
            }
            return .redirect(.changes(number))
        }
        guard request.form["action"] == "save" else {
            frame.site.changeStaged(number) { $0.dropAll() }
            return .redirect(.changes(number))
        }
        do {
            switch try store.save(staged, shown: request.form["shown"] ?? "") {
            case .saved:
                frame.site.changeStaged(number) { $0.drop(saved: staged) }
                // All is saved, whether or not the store can be read now.
                guard let last = (try? store.facts())?.lastTransaction?.commit?.number else {
                    return .redirect(staged.edits.first.map { .record(number, $0.record) } ?? .store(number))
                }
                return .redirect(.transaction(number, last))
            case .otherThanShown: return try answer(isAnother: true)
            case .conflicts(let conflicts): return conflict(conflicts, back: .changes(number))
            }
        } catch let fault as StagingFault {
            return refused("\(fault.property): \(fault.reason)", staged)
        } catch let error as any ClassifiedStoreError where [.invalid, .conflict, .usage].contains(error.errorClass) {
            return refused("\(error)", staged)
        }
    }

    /// Others have changed what was shown.
    func conflict(_ conflicts: [StagedConflict], back: Link) -> InspectorAnswer {
        let rows = conflicts.map { conflict -> HTML in
            let record = Link.record(number, conflict.record)
            let name = "\(conflict.record.entityName) \(InspectedText.key(conflict.record))"
            guard let property = conflict.property else {
                let what = conflict.now == nil ? "was deleted" : "was changed, and is to be deleted"
                return "<tr><th scope=\"row\"><a href=\"\(record)\">\(name)</a></th><td colspan=\"3\">\(what)</td></tr>"
            }
            return """
                <tr><th scope="row"><a href="\(record)">\(name)</a> \(property)</th><td><code>\(Self.cut(conflict.base))</code></td>\
                <td><code>\(Self.cut(conflict.wanted))</code></td><td><code>\(Self.cut(conflict.now))</code></td></tr>
                """
        }
        let dropping: HTML =
            frame.site.staged(number).isEmpty
            ? ""
            : "\(frame.form(.changes(number), "inline"))<button name=\"action\" value=\"discard\">Discard all changes</button></form>"
        return page(
            status: 409,
            """
            <h1>Changed meanwhile</h1><p class="lead">Somebody else has saved since these values were shown. Nothing of yours was \
            saved.</p><div class="scroll"><table class="conflict"><thead><tr><th scope="col">What</th><th scope="col">You saw</th>\
            <th scope="col">You want</th><th scope="col">Now</th></tr></thead><tbody>\(rows)</tbody></table></div>\
            <div class="actions"><a class="button" href="\(back)">Look again</a>\(dropping)</div>\(drops(frame.site.staged(number)))
            """)
    }

    private func refused(_ reason: String, _ staged: StagedChanges) -> InspectorAnswer {
        page(
            status: 422,
            """
            <h1>Not saved</h1><p class="error" role="alert">\(reason)</p><p>Nothing was changed. Correct the record, or take it out of \
            the changes.</p>\(drops(staged))
            """)
    }

    /// Records that can be taken out one by one.
    private func drops(_ staged: StagedChanges) -> HTML? {
        let items = staged.edits.map { edit -> HTML in
            """
            <li><a href="\(Link.record(number, edit.record))">\(edit.record.entityName) \(InspectedText.key(edit.record))</a> \
            \(frame.form(.changes(number), "inline"))<button name="record" value="\(Self.name(edit.record))" class="quiet">Take out</button></form></li>
            """
        }
        return items.isEmpty ? nil : "<section><h2>Changed records</h2><ul class=\"drops\">\(items)</ul></section>"
    }

    private static func name(_ record: PersistentIdentifier) -> String {
        Link.record(0, record).text
    }

    private static func cut(_ text: String?) -> String {
        guard let text else { return "nil" }
        return text.count > 300 ? text.prefix(300) + "…" : text
    }

    private func page(status: Int = 200, _ body: HTML) -> InspectorAnswer {
        frame.page("Changes", store: number, part: "changes", status: status, body)
    }
}
#endif
