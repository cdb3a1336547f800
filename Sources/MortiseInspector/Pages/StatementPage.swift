#if Inspector
import MortiseCommands
import MortiseCore

/// Statements in the storage's own language, and what they give.
struct StatementPage {
    private let frame: Frame
    private let number: Int
    private var store: InspectedStore { frame.site.stores[number] }

    init(_ frame: Frame, _ number: Int) {
        self.frame = frame
        self.number = number
    }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        guard let language = store.statementLanguage else { throw StatementError.noLanguage }
        let text = request.query["q"] ?? ""
        guard text.contains(where: { !$0.isWhitespace }) else { return page(language, text, nil) }
        do {
            let (answer, seconds) = try store.answer(toStatement: text, showsPlan: request.query["plan"] != nil)
            return page(language, text, html(answer, seconds))
        } catch let error as StatementError {
            return page(language, text, "<p class=\"error\" role=\"alert\">\("\(error)")</p>", status: 400)
        }
    }

    private func page(_ language: String, _ text: String, _ body: HTML?, status: Int = 200) -> InspectorAnswer {
        frame.page(
            "\(language) on \(store.name)", store: number, part: "sql", status: status,
            """
            <h1>\(language) <small>reads only</small></h1><form class="filter console" method="get" \
            action="\(Link.statement(number))" role="search">\
            <label class="wide"><span>Statement</span><textarea name="q" rows="5" spellcheck="false" autocapitalize="off" \
            placeholder="SELECT …" id="where">\n\(text)</textarea></label>\
            <div class="actions"><button>Run</button><button name="plan" value="1" class="quiet">Plan</button></div></form>\
            <p class="note">One statement, in a transaction of its own that can only read. It is ended after 5 seconds, and the first 500 \
            rows are shown.</p>\(body)
            """)
    }

    private func html(_ answer: StatementAnswer, _ seconds: Double) -> HTML {
        let heads = answer.columns.map { name -> HTML in "<th scope=\"col\">\(name)</th>" }
        let rows = answer.rows.map { row -> HTML in "<tr>\(row.map(cell))</tr>" }
        let count =
            answer.hasMore
            ? "the first \(InspectedText.plural(answer.rows.count, "row"))"
            : InspectedText.plural(answer.rows.count, "row")
        return """
            <p class="plan">\(count) in \(InspectedText.duration(seconds))</p><div class="scroll" tabindex="0" role="region" \
            aria-label="Rows"><table class="records"><thead><tr>\(heads)</tr></thead><tbody>\(rows)</tbody></table></div>
            """
    }

    private func cell(_ value: StatementAnswer.Value) -> HTML {
        let size: HTML? =
            value.byteCount > ValueHTML.brief
            ? " <small class=\"cut\">\(InspectedText.bytes(Int64(value.byteCount)))</small>" : nil
        let side: HTML =
            switch value.value {
            case .integer, .double: " class=\"number\""
            default: ""
            }
        return "<td\(side)>\(ValueHTML(limit: ValueHTML.brief, isCutBefore: true)(value.value))\(size)</td>"
    }
}
#endif
