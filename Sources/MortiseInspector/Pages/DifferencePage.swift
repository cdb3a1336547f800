#if Inspector
import MortiseCommands
import MortiseCore

/// What led from the state after one transaction to the state after another.
struct DifferencePage {
    private let frame: Frame
    private let number: Int
    private var store: InspectedStore { frame.site.stores[number] }

    init(_ frame: Frame, _ number: Int) {
        self.frame = frame
        self.number = number
    }

    /// The form that asks for it; of one record where it is given.
    static func form(_ store: Int, from: String = "", to: String = "", entity: String? = nil, key: String? = nil)
        -> HTML
    {
        let record: HTML? = entity.map { entity in
            "<input type=\"hidden\" name=\"entity\" value=\"\(entity)\"><input type=\"hidden\" name=\"record\" value=\"\(key ?? "")\">"
        }
        return """
            <form class="filter between" method="get" action="\(Link.difference(store))">\(record)\
            <label><span>After transaction</span><input name="from" value="\(from)" inputmode="numeric"></label>\
            <label><span>Up to transaction</span><input name="to" value="\(to)" inputmode="numeric"></label>\
            <div class="actions"><button class="quiet">Show the difference</button></div></form>
            """
    }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        func given(_ name: String) -> String? { request.query[name].flatMap { $0.isEmpty ? nil : $0 } }
        let (from, to) = (given("from") ?? "", given("to") ?? "")
        let entity = given("entity")
        let key = entity == nil ? nil : given("record")
        let subject: HTML? = entity.map { entity in
            key.map {
                "<p class=\"lead\">Of <a href=\"\(Link.record(number, entity, $0))\">\(entity) \($0)</a> alone</p>"
            }
                ?? "<p class=\"lead\">Of records of \(entity) alone</p>"
        }
        let form = Self.form(number, from: from, to: to, entity: entity, key: key)
        func page(_ body: HTML?, status: Int = 200) -> InspectorAnswer {
            frame.page(
                "Difference", store: number, part: "history", status: status,
                "<h1>Difference</h1>\(subject)\(form)\(body)")
        }
        if from.isEmpty, to.isEmpty { return page(nil) }
        guard let first = UInt64(from.isEmpty ? "0" : from), let last = UInt64(to) else {
            return page(
                "<p class=\"error\" role=\"alert\">Expected the numbers of two transactions.</p>", status: 400)
        }
        guard first <= last else {
            return page(
                "<p class=\"error\" role=\"alert\">Transaction \(from) comes after \(to). Exchange them.</p>",
                status: 400)
        }
        guard let found = try store.difference(from: first, to: last, entity: entity, key: key) else {
            return page("<p class=\"lead\">This kind of store keeps no history.</p>")
        }
        let gone: HTML? =
            found.horizon > 0
            ? """
            <p class="note">The store no longer has transactions up to \(Int(clamping: found.horizon)): what these have changed is missing \
            here.</p>
            """ : nil
        return page(
            """
            <p class="meta"><span>\(InspectedText.plural(found.transactions, "transaction"))</span> \
            <span class="counts">\(TransactionHTML.counts(found.changes))</span></p>\(gone)\
            \(TransactionHTML(store: number).records(found.changes))
            """)
    }
}
#endif
