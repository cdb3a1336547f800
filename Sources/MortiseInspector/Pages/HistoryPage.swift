#if Inspector
import MortiseCommands
import MortiseCore

/// What was saved, when and by whom.
struct HistoryPage {
    private let frame: Frame
    private let number: Int
    private var store: InspectedStore { frame.site.stores[number] }
    private static let transactions = 50

    init(_ frame: Frame, _ number: Int) {
        self.frame = frame
        self.number = number
    }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        var query = InspectedHistoryQuery()
        func given(_ name: String) -> String? { request.query[name].flatMap { $0.isEmpty ? nil : $0 } }
        (query.author, query.entity, query.key) = (given("author"), given("entity"), given("record"))
        query.before = given("before").flatMap { UInt64($0) }
        if query.entity == nil { query.key = nil }
        let showsRecords = query.key != nil
        let base = Link.history(number).with("author", query.author).with("entity", query.entity).with(
            "record", query.key)
        // Before what is shown, so that nothing that is saved meanwhile is passed over.
        let version = try store.lastChange()
        guard let found = try store.history(query, limit: Self.transactions, withValues: showsRecords) else {
            return frame.page(
                "History of \(store.name)", store: number, part: "history",
                "<h1>History</h1><p class=\"lead\">This kind of store keeps no history.</p>")
        }
        let entries = found.transactions.map {
            TransactionHTML(store: number).entry($0, showsRecords: showsRecords)
        }
        let list: HTML =
            entries.isEmpty
            ? "<p class=\"none\">No transactions.</p>" : "<ol class=\"timeline\" reversed>\(entries)</ol>"
        let older: HTML? = found.next.map { next in
            "<nav class=\"pager\"><span></span><a class=\"button\" rel=\"next\" href=\"\(base.with("before", "\(next)"))\">Older</a></nav>"
        }
        let gone: HTML? =
            found.horizon > 0 && found.next == nil
            ? "<p class=\"note\">The store no longer has transactions up to \(Int(clamping: found.horizon)).</p>" : nil
        return frame.page(
            "History of \(store.name)", store: number, part: "history",
            """
            <h1>History</h1>\(try filter(query))\(list)\(older)\(gone)\
            \(between(found))\
            <p class="live" role="status" data-version="\(version)" data-href="\(Link.part(number, "version"))" \
            data-follows="\(query.before == nil ? "yes" : "no")" hidden>Something was saved since. <a href="\(base)">Show it</a></p>
            """)
    }

    private func between(_ found: InspectedHistory) -> HTML? {
        guard let last = found.transactions.first?.commit?.number, let first = found.transactions.last?.commit?.number
        else { return nil }
        return DifferencePage.form(number, from: "\(first)", to: "\(last)")
    }

    private func filter(_ query: InspectedHistoryQuery) throws -> HTML {
        let options = try store.schema().entities.map { entity -> HTML in
            let selected: HTML = entity.name == query.entity ? " selected" : ""
            return "<option\(selected)>\(entity.name)</option>"
        }
        return """
            <form class="filter" method="get" action="\(Link.history(number))" role="search">\
            <label><span>Author</span><input name="author" value="\(query.author ?? "")" spellcheck="false"></label>\
            <label><span>Entity</span><select name="entity"><option value="">all</option>\(options)</select></label>\
            <label><span>Record</span><input name="record" value="\(query.key ?? "")" inputmode="numeric" placeholder="number"></label>\
            <div class="actions"><button>Show</button><a class="button quiet" href="\(Link.history(number))">Clear</a></div></form>
            """
    }

    func transaction(_ text: String) throws -> InspectorAnswer {
        guard let wanted = UInt64(text), let found = try store.transaction(wanted) else {
            throw NoSuchPage(what: "The history has no transaction \(text), or no longer.")
        }
        let html = TransactionHTML(store: number)
        return frame.page(
            "Transaction \(text)", store: number, part: "history",
            """
            <h1>Transaction \(text)</h1><p class="meta">\(Frame.time(found.commit)) \(html.author(found)) \
            <span class="counts">\(TransactionHTML.counts(found))</span></p>\(html.records(found))\
            <p class="note">Values are shown as far as the store keeps them.</p>\
            <p><a href="\(Link.undo(number, wanted))">What undoing it would come to</a></p>\
            <nav class="pager"><a href="\(Link.transaction(number, wanted - 1))">Before</a>\
            <a href="\(Link.transaction(number, wanted &+ 1))">After</a></nav>
            """)
    }
}
#endif
