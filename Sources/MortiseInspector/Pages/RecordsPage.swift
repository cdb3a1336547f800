#if Inspector
import MortiseCommands
import MortiseCore

/// The records of an entity: all, or those for which a predicate holds.
struct RecordsPage {
    private let frame: Frame
    private let number: Int
    private let entity: String
    private var store: InspectedStore { frame.site.stores[number] }
    /// How many records a page has, and how many at most.
    static let rows = 50
    private static let mostRows = 1_000
    /// How many values of a property are counted.
    private static let facets = 15

    init(_ frame: Frame, _ number: Int, _ entity: String) {
        self.frame = frame
        self.number = number
        self.entity = entity
    }

    static func query(_ request: InspectorRequest, _ entity: String) -> InspectedQuery {
        var query = InspectedQuery(entity: entity)
        query.condition = request.query["where"] ?? ""
        query.order = request.query["sort"] ?? ""
        query.columns = request.query["columns"] ?? ""
        return query
    }

    static func link(_ link: Link, _ query: InspectedQuery) -> Link {
        link.with("where", query.condition).with("sort", query.order).with("columns", query.columns)
    }

    static func limit(_ request: InspectorRequest) -> Int { min(max(request.number("rows") ?? rows, 1), mostRows) }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        let query = Self.query(request, entity)
        let limit = Self.limit(request)
        let base = Self.link(.records(number, entity), query).with("rows", request.query["rows"])
        do {
            let page = try store.page(
                query, limit: limit, offset: request.number("offset") ?? 0, after: request.query["after"])
            let table = RecordsTable(
                store: number, page: page,
                sorted: { order in
                    var other = query
                    other.order = order
                    return Self.link(.records(number, entity), other).with("rows", request.query["rows"])
                }, order: query.order, schema: try store.schema())
            let facet = try request.query["facet"].map { try facets($0, query) }
            let lost: HTML? =
                page.lostItsPlace
                ? "<p class=\"note\">The record after which this page began is gone; it begins where that was.</p>"
                : nil
            return frame.page(
                "\(entity) in \(store.name)", store: number, part: "records",
                side: frame.entities(number, current: entity),
                """
                \(heading(page, query))\(filter(query, nil))\(lost)\(facet)\(facetMenu(page, base, request.query["facet"]))\
                \(table.html)\(pager(page, base, limit))\(plan(page, query))\(Frame.source(page.source))\(exports(page, query, limit))
                """)
        } catch let error as PredicateTextError {
            return frame.page(
                "\(entity) in \(store.name)", store: number, part: "records", status: 400,
                side: frame.entities(number, current: entity), "<h1>\(entity)</h1>\(filter(query, error))")
        }
    }

    private func heading(_ page: InspectedPage, _ query: InspectedQuery) -> HTML {
        let first = page.rows.isEmpty ? 0 : page.offset + 1
        let window =
            "\(InspectedText.count(first))–\(InspectedText.count(page.offset + page.rows.count)) of \(InspectedText.count(page.total))"
        return "<h1>\(entity) <small>\(window)</small></h1>"
    }

    private func filter(_ query: InspectedQuery, _ error: PredicateTextError?) -> HTML {
        let invalid: HTML = error == nil ? "" : " aria-invalid=\"true\" autofocus"
        let clear: HTML? =
            query == InspectedQuery(entity: entity)
            ? nil : "<a class=\"button quiet\" href=\"\(Link.records(number, entity))\">Clear</a>"
        return """
            <form class="filter" method="get" action="\(Link.records(number, entity))" role="search">\
            <label class="wide"><span>Where</span><input name="where" value="\(query.condition)" spellcheck="false" \
            autocapitalize="off" placeholder="price &gt; 100 and name beginsWith &quot;A&quot;" id="where"\(invalid)></label>\
            <label><span>Sort</span><input name="sort" value="\(query.order)" spellcheck="false" autocapitalize="off" \
            placeholder="-price, name"></label>\
            <label><span>Columns</span><input name="columns" value="\(query.columns)" spellcheck="false" autocapitalize="off" \
            placeholder="name, artist.name"></label>\
            <div class="actions"><button>Show</button>\(clear)</div></form>\(error.map(frame.problem))
            """
    }

    private func pager(_ page: InspectedPage, _ base: Link, _ limit: Int) -> HTML? {
        guard page.offset > 0 || page.hasMore else { return nil }
        let start = max(0, page.offset - limit)
        let back: HTML =
            page.offset > 0
            ? """
            <a href="\(base)">First</a><a rel="prev" href="\(base.with("offset", start > 0 ? "\(start)" : nil))">Previous</a>
            """ : "<span></span>"
        let next: HTML =
            page.hasMore
            ? """
            <a rel="next" class="button" href="\(base.with("after", page.rows.last?.key).with("offset", "\(page.offset + page.rows.count)"))">Next \(limit)</a>
            """ : ""
        return "<nav class=\"pager\" aria-label=\"Pages\">\(back)\(next)</nav>"
    }

    // MARK: Facets

    private func facetMenu(_ page: InspectedPage, _ base: Link, _ current: String?) -> HTML {
        let columns = page.columns.filter { $0.isSortable || $0.slot?.role == .toOne }
        if columns.isEmpty { return "" }
        let items = columns.map { column -> HTML in
            let mark: HTML = column.path == current ? " aria-current=\"true\"" : ""
            let link = column.path == current ? base : base.with("facet", column.path)
            return "<a href=\"\(link)\"\(mark)>\(column.name)</a>"
        }
        return "<p class=\"facet-menu\"><span>Count by</span>\(items)</p>"
    }

    private func facets(_ path: String, _ query: InspectedQuery) throws -> HTML {
        let found = try store.facet(query, by: path, limit: Self.facets)
        let most = found.values.first?.count ?? 1
        let rows = found.values.map { value, count -> HTML in
            let shown = ValueHTML(limit: 60)(value)
            let text: HTML =
                condition(path, value).map { condition in
                    var other = query
                    other.condition =
                        query.condition.contains { !$0.isWhitespace }
                        ? "(\(query.condition)) and \(condition)" : condition
                    return "<a href=\"\(Self.link(.records(number, entity), other))\">\(shown)</a>"
                } ?? shown
            return """
                <tr><th scope="row">\(text)</th><td class="number">\(InspectedText.count(count))</td><td class="bar">\
                <meter min="0" max="\(most)" value="\(count)"></meter></td></tr>
                """
        }
        let others: HTML? =
            found.others > 0 ? "<p class=\"note\">and \(InspectedText.count(found.others)) more values</p>" : nil
        return """
            <section class="facets" aria-label="Counts"><h2>By \(path.filter { $0 != "`" })</h2><table><tbody>\(rows)</tbody></table>\(others)</section>
            """
    }

    private func condition(_ path: String, _ value: StoredValue) -> String? {
        switch value {
        case .null: "\(path) is nil"
        case .identifier: InspectedText.literal(value).map { "\(path).$id == \($0)" }
        default: InspectedText.literal(value).map { "\(path) == \($0)" }
        }
    }

    // MARK: What else can be done with them

    private func plan(_ page: InspectedPage, _ query: InspectedQuery) -> HTML? {
        guard let explanation = page.explanation else { return nil }
        let scan: HTML? =
            explanation.isFullScan && page.total > Self.rows ? "<span class=\"tag warn\">full scan</span>" : nil
        return """
            <p class="plan">\(scan)read \(InspectedText.plural(explanation.rowsScanned, "row")) in \
            \(InspectedText.duration(page.seconds)) · <code>\(String(explanation.detail.prefix(160)))</code> · \
            <a href="\(ExplainPage.link(number, query))">explain</a></p>
            """
    }

    private func exports(_ page: InspectedPage, _ query: InspectedQuery, _ limit: Int) -> HTML {
        let formats = ["csv", "json", "jsonl"]
        let here = formats.map { format -> HTML in
            let link = Self.link(.export(number, entity, format), query).with("rows", "\(limit)")
                .with("offset", page.offset > 0 ? "\(page.offset)" : nil)
            return "<a href=\"\(link)\" download>\(format.uppercased())</a>"
        }
        let all = formats.map { format -> HTML in
            "<a href=\"\(Self.link(.export(number, entity, format), query))\" download>\(format.uppercased())</a>"
        }
        return """
            <p class="exports"><span>This page</span>\(here)<span>All \(InspectedText.count(page.total))</span>\(all)</p>
            """
    }
}
#endif
