#if Inspector
import MortiseCommands
import MortiseCore

/// Records as rows.
struct RecordsTable {
    let store: Int
    let page: InspectedPage
    /// The address of the page that is sorted by an order; nil for a table that cannot be sorted.
    var sorted: ((String) -> Link)?
    var order = ""
    /// Where records are shown that a list leads to.
    var schema: StoredSchema

    var html: HTML {
        if page.rows.isEmpty { return "<p class=\"none\">No records.</p>" }
        let heads = page.columns.map(head)
        let rows = page.rows.map { row -> HTML in
            let link = Link.record(store, row.record)
            let cells = zip(page.columns, row.values).map { column, value in cell(column, value, link) }
            return "<tr><th scope=\"row\"><a href=\"\(link)\">\(row.key)</a></th>\(cells)</tr>"
        }
        return """
            <div class="scroll" tabindex="0" role="region" aria-label="Records"><table class="records"><thead><tr><th scope="col" \
            class="key">#</th>\(heads)</tr></thead><tbody>\(rows)</tbody></table></div>
            """
    }

    private func head(_ column: InspectedColumn) -> HTML {
        let side: HTML = column.isNumeric ? " class=\"number\"" : ""
        guard let sorted, column.isSortable else { return "<th scope=\"col\"\(side)>\(column.name)</th>" }
        let plain = order.filter { $0 != "`" }
        let (up, down) = (plain == column.name, plain == "-" + column.name)
        let state: HTML = up ? " aria-sort=\"ascending\"" : down ? " aria-sort=\"descending\"" : ""
        let next = up ? "-" + column.path : down ? "" : column.path
        let arrow = up ? "↑" : down ? "↓" : ""
        return
            "<th scope=\"col\"\(side)\(state)><a href=\"\(sorted(next))\">\(column.name)<span class=\"arrow\">\(arrow)</span></a></th>"
    }

    private func cell(_ column: InspectedColumn, _ value: InspectedValue, _ record: Link) -> HTML {
        if column.slot?.role.isRelationship == true {
            return "<td class=\"rel\">\(RelatedHTML(store: store).brief(value, whole: record))</td>"
        }
        let side: HTML = column.isNumeric ? " class=\"number\"" : ""
        let whole = column.slot.map { record.appending($0.name) }
        return "<td\(side)>\(ValueHTML(limit: ValueHTML.brief)(value.value, whole: whole))</td>"
    }
}

/// Links to related records.
struct RelatedHTML {
    let store: Int

    func link(_ reference: InspectedReference) -> HTML {
        let title: HTML? = reference.title.isEmpty ? nil : " <span>\(reference.title)</span>"
        return """
            <a class="ref" href="\(Link.record(store, reference.record))" \
            title="\(reference.record.entityName) \(reference.key)"><b>\(reference.key)</b>\(title)</a>
            """
    }

    func brief(_ value: InspectedValue, whole: Link) -> HTML {
        switch value.value {
        case .identifier: value.references.map(link).joined()
        case .identifiers:
            value.count == 0
                ? "<span class=\"v nil\">none</span>"
                : "<a href=\"\(whole)\">\(InspectedText.count(value.count))</a>"
        default: "<span class=\"v nil\">nil</span>"
        }
    }
}
#endif
