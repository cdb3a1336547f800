#if Inspector
import MortiseCommands
import MortiseCore

/// Runs a query and shows how it was carried out.
struct ExplainPage {
    private let frame: Frame
    private let number: Int
    private var store: InspectedStore { frame.site.stores[number] }
    private static let most = 100

    init(_ frame: Frame, _ number: Int) {
        self.frame = frame
        self.number = number
    }

    /// The page for the records of another one.
    static func link(_ store: Int, _ query: InspectedQuery) -> Link {
        var text = query.entity
        if query.condition.contains(where: { !$0.isWhitespace }) { text += " where \(query.condition)" }
        if query.order.contains(where: { !$0.isWhitespace }) { text += " sort \(query.order)" }
        return Link.explain(store).with("q", text + " limit \(RecordsPage.rows)")
    }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        let text = request.query["q"] ?? ""
        guard text.contains(where: { !$0.isWhitespace }) else { return page(text, nil) }
        do {
            let found = try store.ask(text, most: Self.most)
            let table = RecordsTable(store: number, page: found, schema: try store.schema())
            let cut: HTML? = found.hasMore ? "<p class=\"note\">The first \(Self.most) records are read.</p>" : nil
            return page(text, "\(plan(found))\(Frame.source(found.source))\(cut)\(table.html)")
        } catch let error as PredicateTextError {
            return page(text, frame.problem(error), status: 400)
        }
    }

    private func page(_ text: String, _ body: HTML?, status: Int = 200) -> InspectorAnswer {
        frame.page(
            "Explain", store: number, part: "explain", status: status,
            """
            <h1>Explain</h1><form class="filter console" method="get" action="\(Link.explain(number))" role="search">\
            <label class="wide"><span>Query</span><textarea name="q" rows="3" spellcheck="false" autocapitalize="off" \
            placeholder="Track where milliseconds &gt; 300000 sort -unitPrice limit 20" id="where">\n\(text)</textarea></label>\
            <div class="actions"><button>Run</button></div></form>\(body)
            """)
    }

    private func plan(_ found: InspectedPage) -> HTML? {
        guard let explanation = found.explanation else { return nil }
        let conditions = explanation.conjuncts.map { conjunct -> HTML in
            let who: HTML =
                switch conjunct.status {
                case .pushed: "<span class=\"tag good\">store</span>"
                case .rechecked: "<span class=\"tag warn\">store, checked again</span>"
                case .residual, .onModels: "<span class=\"tag bad\">afterwards</span>"
                }
            return "<tr><td>\(who)</td><td><code>\(conjunct.text)</code></td></tr>"
        }
        let orders = explanation.order.enumerated().map { place, key -> HTML in
            let who: HTML =
                place < explanation.pushedSortKeys
                ? "<span class=\"tag good\">store</span>" : "<span class=\"tag bad\">afterwards</span>"
            return "<tr><td>\(who)</td><td>sorted by <code>\(key)</code></td></tr>"
        }
        let window: HTML? = explanation.limit.map { limit in
            let who: HTML =
                explanation.windowIsPushed
                ? "<span class=\"tag good\">store</span>" : "<span class=\"tag bad\">afterwards</span>"
            return "<tr><td>\(who)</td><td>up to \(InspectedText.count(limit)) records</td></tr>"
        }
        let suggestion: HTML? = found.suggestion.map { text in
            "<p class=\"note\">All rows were read. Declare <code>\(text)</code> to avoid that.</p>"
        }
        return """
            <section class="explanation"><pre class="detail">\(explanation.detail)</pre><table><tbody>\(conditions)\(orders)\(window)\
            </tbody></table><dl class="facts"><div><dt>Rows read</dt><dd><b>\(InspectedText.count(explanation.rowsScanned))</b>\
            \(explanation.isFullScan ? " (all)" : "")</dd></div><div><dt>Records</dt><dd><b>\(InspectedText.count(explanation.rowsReturned))</b></dd></div>\
            <div><dt>Time</dt><dd><b>\(InspectedText.duration(found.seconds))</b></dd></div></dl>\(suggestion)</section>
            """
    }
}
#endif
