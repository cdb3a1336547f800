#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// One record: its values, what it leads to and what leads to it, and its history.
struct RecordPage {
    private let frame: Frame
    private let number: Int
    private let entity: String
    private let key: String
    private var store: InspectedStore { frame.site.stores[number] }
    private static let transactions = 10

    init(_ frame: Frame, _ number: Int, _ entity: String, _ key: String) {
        self.frame = frame
        self.number = number
        self.entity = entity
        self.key = key
    }

    private var link: Link { .record(number, entity, key) }

    private func record() throws -> InspectedRecord {
        guard let record = try store.record(entity, key) else {
            throw NoSuchPage(
                what: "There is no \(entity) with the number \(key). It may have been deleted; the history tells.")
        }
        return record
    }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        let record = try record()
        if request.query["edit"] != nil {
            guard frame.site.isEditable else { throw NotEditable() }
            return form(record, [:], nil, 200)
        }
        let staged = frame.site.staged(number).edit(of: record.record)
        let note: HTML? = staged.map { edit in
            """
            <p class="note">\(edit.isDeletion ? "To be deleted" : "Has changes") that are not saved yet: \
            <a href="\(Link.changes(number))">look at all changes</a>.</p>
            """
        }
        let properties = record.layout.slots.indices.map { property(record, $0) }
        return page(
            record,
            """
            \(heading(record))\(note)<dl class="record">\(properties)</dl>\(referrers(record))\(actions(record))\
            \(try history(record))<p class="note"><a href="\(Link.storage(number, entity, key))">What the storage has of it</a></p>
            """)
    }

    private func page(_ record: InspectedRecord, status: Int = 200, _ body: HTML) -> InspectorAnswer {
        frame.page(
            "\(record.record.entityName) \(key)", store: number, part: "records", status: status,
            side: frame.entities(number, current: record.record.entityName), body)
    }

    private func heading(_ record: InspectedRecord) -> HTML {
        let name = record.record.entityName
        let title: HTML? = record.title.isEmpty ? nil : "<span class=\"title\">\(record.title)</span>"
        return """
            <h1><a class="kind" href="\(Link.records(number, name))">\(name)</a> <span class="key">\(key)</span> \(title)</h1>
            """
    }

    // MARK: Values

    private func property(_ record: InspectedRecord, _ place: Int) -> HTML {
        let slot = record.layout.slots[place]
        let value = record.values[place]
        let content =
            slot.role.isRelationship
            ? related(slot, value) : ValueHTML(limit: ValueHTML.long)(value.value, whole: link.appending(slot.name))
        let exact: HTML? = ValueHTML.exact(value.value).map { "<small class=\"exact\">\($0)</small>" }
        let kind =
            slot.property.relationship.map { $0.isToMany ? "[\($0.destination)]" : $0.destination }
            ?? InspectedText.words(slot.property)
        return "<div><dt>\(slot.name)<small>\(kind)</small></dt><dd>\(content)\(exact)</dd></div>"
    }

    private func related(_ slot: RecordLayout.Slot, _ value: InspectedValue) -> HTML {
        let links = RelatedHTML(store: number)
        guard case .identifiers = value.value else { return links.brief(value, whole: link) }
        if value.count == 0 { return "<span class=\"v nil\">none</span>" }
        let items = value.references.map { reference -> HTML in "<li>\(links.link(reference))</li>" }
        let all: HTML? = slot.property.relationship.flatMap { relationship in
            guard let inverse = relationship.inverse, let condition = condition(relationship, inverse) else {
                return nil
            }
            let target = Link.records(number, relationship.destination).with("where", condition)
            return "<a class=\"all\" href=\"\(target)\">\(InspectedText.plural(value.count, "record")) as a table</a>"
        }
        let more: HTML? =
            all == nil && value.count > value.references.count
            ? "<small>and \(InspectedText.count(value.count - value.references.count)) more</small>" : nil
        return "<ul class=\"refs\">\(items)</ul>\(all)\(more)"
    }

    /// The predicate for the members of a relationship of this record.
    private func condition(_ relationship: StoredRelationship, _ inverse: String) -> String? {
        guard let schema = try? store.schema() else { return nil }
        let literal = UInt64(key).map { "\($0)" } ?? InspectedText.quoted(key)
        var next: String? = relationship.destination
        for _ in schema.entities {
            guard let entity = next.flatMap(schema.entity(named:)) else { return nil }
            if let other = entity.properties.first(where: { $0.name == inverse })?.relationship {
                return other.isToMany ? "any `\(inverse)` ($id == \(literal))" : "`\(inverse)`.$id == \(literal)"
            }
            next = entity.superentity
        }
        return nil
    }

    private func referrers(_ record: InspectedRecord) -> HTML? {
        let literal = UInt64(key).map { "\($0)" } ?? InspectedText.quoted(key)
        let items = record.referrers.filter { $0.count > 0 }.map { found -> HTML in
            let condition =
                found.isToMany ? "any `\(found.property)` ($id == \(literal))" : "`\(found.property)`.$id == \(literal)"
            let target = Link.records(number, found.entity).with("where", condition)
            return
                "<li><a href=\"\(target)\">\(InspectedText.plural(found.count, "record")) of \(found.entity)</a> by \(found.property)</li>"
        }
        return items.isEmpty ? nil : "<section><h2>Leads here</h2><ul>\(items)</ul></section>"
    }

    /// A value as a file: text as text, everything else as it is.
    func value(_ property: String) throws -> InspectorAnswer {
        guard let value = try store.value(entity, key, property) else {
            throw NoSuchPage(what: "\(entity) \(key) has no value \(property).")
        }
        // Never shown within this origin: what is stored may be a page with a script.
        switch value {
        case .data(let bytes):
            return .bytes(bytes, type: "application/octet-stream", name: "\(entity)-\(key)-\(property).bin")
        case .string(let text):
            return .bytes(Data(text.utf8), type: "text/plain; charset=utf-8", name: "\(entity)-\(key)-\(property).txt")
        default:
            return .bytes(
                Data(InspectedText.json(value).utf8), type: "application/json",
                name: "\(entity)-\(key)-\(property).json")
        }
    }

    // MARK: History

    private func history(_ record: InspectedRecord) throws -> HTML {
        var query = InspectedHistoryQuery()
        (query.entity, query.key) = (record.record.entityName, key)
        guard let found = try store.history(query, limit: Self.transactions, withValues: true, isRecent: true) else {
            return "<section><h2>History</h2><p class=\"none\">This store keeps no history.</p></section>"
        }
        let entries = found.transactions.map { transaction in
            TransactionHTML(store: number).entry(transaction, showsRecords: true)
        }
        let all = Link.history(number).with("entity", record.record.entityName).with("record", key)
        let numbers = found.transactions.compactMap { $0.commit?.number }
        let between: HTML? =
            numbers.count < 2
            ? nil
            : numbers.last.map { first in
                DifferencePage.form(
                    number, from: "\(first)", to: "\(numbers[0])", entity: record.record.entityName, key: key)
            }
        let list: HTML =
            entries.isEmpty ? "<p class=\"none\">Nothing lately.</p>" : "<ol class=\"timeline\">\(entries)</ol>"
        return
            "<section><h2>History</h2>\(list)<p><a href=\"\(all)\">Everything that happened to it</a></p>\(between)</section>"
    }

    // MARK: Changes

    private func actions(_ record: InspectedRecord) -> HTML? {
        guard frame.site.isEditable else { return nil }
        return """
            <div class="actions"><a class="button" href="\(link.with("edit", "1"))">Edit</a>\
            \(frame.form(link, "inline"))<input type="hidden" name="base" value="\(Self.digest(record))">\
            <button name="action" value="delete" class="danger">Delete…</button></form></div>
            """
    }

    private func form(
        _ record: InspectedRecord, _ given: [String: String], _ fault: FieldFault?, _ status: Int
    ) -> InspectorAnswer {
        let fields = record.layout.slots.indices.map { EditField(record, $0).html(given, fault) }
        let alert: HTML? = fault.map { "<p class=\"error\" role=\"alert\"><b>\($0.property)</b>: \($0.reason)</p>" }
        return page(
            record, status: status,
            """
            \(heading(record))\(alert)\(frame.form(link, "edit"))\(fields)\
            <div class="actions"><button name="action" value="stage">Stage changes</button>\
            <a class="button quiet" href="\(link)">Cancel</a></div>\
            <p class="note">Nothing is saved yet by this: you see all changes first.</p></form>
            """)
    }

    /// Tells the record from what it was: its values may be too long for a form.
    private static func digest(_ record: InspectedRecord) -> String {
        Stylesheet.digest(InspectedText.text(of: record))
    }

    func stage(_ request: InspectorRequest) throws -> InspectorAnswer {
        let record = try record()
        var edit = StagedChanges.Edit(record: record.record)
        if request.form["action"] == "delete" {
            edit.isDeletion = true
            // No record is nothing, so that one which is another by now is in conflict.
            edit.base = request.form["base"] == Self.digest(record) ? InspectedText.text(of: record) : ""
        } else {
            do {
                edit.assignments = try record.layout.slots.indices.compactMap {
                    try EditField(record, $0).assignment(request.form)
                }
            } catch let fault as FieldFault { return form(record, request.form, fault, 422) }
        }
        if !edit.isDeletion, edit.assignments.isEmpty { return .redirect(link) }
        do {
            let conflicts = try store.check(edit)
            if !conflicts.isEmpty {
                return ChangesPage(frame, number).conflict(conflicts, back: link)
            }
        } catch let fault as StagingFault {
            return form(record, request.form, FieldFault(property: fault.property, reason: fault.reason), 422)
        }
        frame.site.changeStaged(number) { $0.stage(edit) }
        return .redirect(.changes(number))
    }
}
#endif
