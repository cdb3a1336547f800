#if Inspector
import MortiseCommands
import MortiseCore

/// Transactions of a history.
struct TransactionHTML {
    let store: Int
    /// How many records of a transaction are shown.
    private static let most = 500

    /// An entry of a timeline.
    func entry(_ transaction: ChangeSet, showsRecords: Bool) -> HTML {
        let number = transaction.commit?.number ?? 0
        let list: HTML? = showsRecords ? records(transaction) : nil
        return """
            <li><a class="no" href="\(Link.transaction(store, number))">\(Int(clamping: number))</a>\(Frame.time(transaction.commit))\
            \(author(transaction))<span class="counts">\(Self.counts(transaction))</span><span class="what">\(Self.entities(transaction))</span>\(list)</li>
            """
    }

    func author(_ transaction: ChangeSet) -> HTML {
        let process: HTML? = transaction.commit.flatMap { $0.process.isEmpty ? nil : " <small>\($0.process)</small>" }
        guard let author = transaction.author, !author.isEmpty else { return "<span class=\"by\">\(process)</span>" }
        let link = Link.history(store).with("author", author)
        return "<span class=\"by\"><a class=\"tag\" href=\"\(link)\">\(author)</a>\(process)</span>"
    }

    static func counts(_ transaction: ChangeSet) -> HTML {
        var parts: [HTML] = []
        if transaction.isErasure { parts.append("<b class=\"minus\">all erased</b>") }
        if transaction.inserted.count > 0 {
            parts.append("<b class=\"plus\" title=\"inserted\">+\(transaction.inserted.count)</b>")
        }
        if transaction.updated.count > 0 {
            parts.append("<b class=\"tilde\" title=\"updated\">~\(transaction.updated.count)</b>")
        }
        if transaction.deleted.count > 0 {
            parts.append("<b class=\"minus\" title=\"deleted\">−\(transaction.deleted.count)</b>")
        }
        if transaction.isIncomplete { parts.append("<span>more may have changed</span>") }
        return parts.isEmpty ? "nothing" : parts.joined(" ")
    }

    private static func entities(_ transaction: ChangeSet) -> String {
        var names: [String] = []
        let records =
            Array(transaction.inserted.records.prefix(1_000)) + transaction.updated.prefix(1_000).map(\.record)
            + transaction.deleted.prefix(1_000).map(\.record)
        for record in records where !names.contains(record.entityName) { names.append(record.entityName) }
        return names.prefix(4).joined(separator: ", ") + (names.count > 4 ? ", …" : "")
    }

    /// The changed records with their values, as far as they are known.
    func records(_ changes: ChangeSet) -> HTML {
        var left = Self.most
        func take<C: Collection>(_ elements: C) -> C.SubSequence {
            defer { left -= min(left, elements.count) }
            return elements.prefix(left)
        }
        var rows = take(changes.deleted).map { deletion -> HTML in
            let values = deletion.preserved.slots.compactMap { slot -> HTML? in
                deletion.values.indices.contains(slot)
                    ? change(deletion.layout.slots[slot].name, nil, deletion.values[slot], isOld: true) : nil
            }
            return row("minus", "deleted", deletion.record, values)
        }
        rows += take(changes.updated).map { update -> HTML in
            let values = update.slots.slots.compactMap { slot -> HTML? in
                guard update.layout.slots.indices.contains(slot) else { return nil }
                return change(update.layout.slots[slot].name, update.oldValue(at: slot), update.value(at: slot))
            }
            return row("tilde", "updated", update.record, values)
        }
        if changes.inserted.hasValues {
            rows += take(changes.inserted.values).map { snapshot -> HTML in
                let values = snapshot.layout.slots.indices.compactMap { slot -> HTML? in
                    let value = snapshot.values[slot]
                    if snapshot.layout.slots[slot].role == .toManyDerived || value.isNull { return nil }
                    return change(snapshot.layout.slots[slot].name, nil, value)
                }
                return row("plus", "inserted", snapshot.persistentIdentifier, values)
            }
        } else {
            rows += take(changes.inserted.records).map { row("plus", "inserted", $0, []) }
        }
        let more: HTML? =
            changes.count > rows.count
            ? "<p class=\"note\">and \(InspectedText.count(changes.count - rows.count)) more</p>" : nil
        return "<ul class=\"changes\">\(rows)</ul>\(more)"
    }

    private func row(_ kind: HTML, _ word: String, _ record: PersistentIdentifier, _ values: [HTML]) -> HTML {
        """
        <li class="\(kind)"><span class="verb">\(word)</span> <a href="\(Link.record(store, record))">\(record.entityName) \
        \(InspectedText.key(record))</a><dl>\(values)</dl></li>
        """
    }

    private func change(_ name: String, _ old: StoredValue?, _ new: StoredValue?, isOld: Bool = false) -> HTML {
        let values = ValueHTML(limit: ValueHTML.brief)
        let before: HTML? = old.map { "<del>\(values($0))</del> <span aria-label=\"becomes\">→</span> " }
        let after: HTML =
            new.map { isOld ? "<del>\(values($0))</del>" : "<ins>\(values($0))</ins>" } ?? "<small>changed</small>"
        return "<div><dt>\(name)</dt><dd>\(before)\(after)</dd></div>"
    }
}
#endif
