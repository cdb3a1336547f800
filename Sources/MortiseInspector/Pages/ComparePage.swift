#if Inspector
import MortiseCommands
import MortiseCore

/// Two stores, record by record.
struct ComparePage {
    private let frame: Frame

    init(_ frame: Frame) { self.frame = frame }

    func answer(_ request: InspectorRequest) throws -> InspectorAnswer {
        let (a, b) = (request.number("a"), request.number("b"))
        guard let a, let b, frame.site.stores.indices.contains(a), frame.site.stores.indices.contains(b) else {
            return page(0, min(1, frame.site.stores.count - 1), nil)
        }
        do {
            let found = try frame.site.stores[a].compare(to: frame.site.stores[b])
            let items = found.differences.map { difference -> HTML in "<li>\(difference)</li>" }
            let more: HTML? =
                found.count > items.count
                ? "<p class=\"note\">and \(InspectedText.count(found.count - items.count)) more</p>" : nil
            return page(
                a, b,
                found.count == 0
                    ? "<p class=\"state good\">equal: \(InspectedText.plural(found.compared, "record")) and their order are the same</p>"
                    : "<p class=\"state bad\">\(InspectedText.plural(found.count, "difference"))</p><ul class=\"problems\">\(items)</ul>\(more)"
            )
        } catch let error as ToolError {
            return page(a, b, "<p class=\"error\" role=\"alert\">\("\(error)")</p>")
        }
    }

    private func page(_ a: Int, _ b: Int, _ body: HTML?) -> InspectorAnswer {
        func choice(_ name: HTML, _ label: HTML, _ current: Int) -> HTML {
            let options = frame.site.stores.indices.map { number -> HTML in
                let selected: HTML = number == current ? " selected" : ""
                return "<option value=\"\(number)\"\(selected)>\(frame.site.stores[number].name)</option>"
            }
            return "<label><span>\(label)</span><select name=\"\(name)\">\(options)</select></label>"
        }
        return frame.page(
            "Compare",
            """
            <h1>Compare</h1><form class="filter" method="get" action="\(Link.compare)">\(choice("a", "One", a))\
            \(choice("b", "Other", b))<div class="actions"><button>Compare</button></div></form>\(body)
            """)
    }
}
#endif
