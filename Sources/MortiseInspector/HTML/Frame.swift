#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// What all pages have around them.
struct Frame {
    let site: Site
    /// Has to come back with every form that changes something.
    let formToken: String

    func page(
        _ title: String, store: Int? = nil, part: String = "", status: Int = 200, side: HTML? = nil, _ body: HTML
    ) -> InspectorAnswer {
        let tabs: HTML? = store.map { self.tabs($0, part) }
        let sideColumn: HTML? = side.map { "<aside class=\"side\">\($0)</aside>" }
        let layout = side == nil ? "plain" : "split"
        return .page(
            status: status,
            """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · Mortise</title>
            <link rel="stylesheet" href="\(Link.style(Stylesheet.version))">
            <script src="\(Link.script(Script.version))" defer></script>
            </head>
            <body>
            <a class="skip" href="#main">Skip to content</a>
            <header class="top">
            <a class="brand" href="\(Link.stores)">\(Self.mark)<span>Mortise</span></a>
            \(switcher(store))
            \(mode)
            </header>
            \(tabs)
            <div class="\(layout)">\(sideColumn)<main id="main" tabindex="-1">\(body)</main></div>
            </body>
            </html>

            """)
    }

    /// A mortise and its tenon.
    private static let mark: HTML = """
        <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path class="wood" \
        d="M2 3h9v6H8v6h3v6H2z"/><path class="steel" d="M22 3h-9v6h-3v6h3v6h9z"/></svg>
        """

    private var mode: HTML {
        site.isEditable
            ? "<span class=\"mode edit\" title=\"Started with --edit\">editable</span>"
            : "<span class=\"mode\" title=\"Start with --edit to allow changes\">read-only</span>"
    }

    private func switcher(_ store: Int?) -> HTML {
        guard let store else { return "<span class=\"where\">Inspector</span>" }
        if site.stores.count == 1 { return "<span class=\"where\">\(site.stores[store].name)</span>" }
        let items = site.stores.indices.map { number -> HTML in
            let current: HTML = number == store ? " aria-current=\"true\"" : ""
            return "<li><a href=\"\(Link.store(number))\"\(current)>\(site.stores[number].name)</a></li>"
        }
        return """
            <details class="where menu"><summary>\(site.stores[store].name)</summary><ul>\(items)\
            <li><a href="\(Link.compare)">Compare two stores…</a></li></ul></details>
            """
    }

    private func tabs(_ store: Int, _ part: String) -> HTML {
        let staged = site.staged(store).edits.count
        var tabs: [(name: String, link: Link, part: String, count: Int)] = [
            ("Schema", .store(store), "schema", 0), ("Records", firstRecords(store), "records", 0),
            ("History", .history(store), "history", 0), ("Explain", .explain(store), "explain", 0),
        ]
        if let language = site.stores[store].statementLanguage { tabs.append((language, .statement(store), "sql", 0)) }
        if site.isEditable { tabs.append(("Changes", .changes(store), "changes", staged)) }
        let items = tabs.map { tab -> HTML in
            let current: HTML = tab.part == part ? " aria-current=\"page\"" : ""
            let badge: HTML? = tab.count > 0 ? " <span class=\"badge\">\(tab.count)</span>" : nil
            return "<a href=\"\(tab.link)\"\(current)>\(tab.name)\(badge)</a>"
        }
        return "<nav class=\"tabs\" aria-label=\"Store\">\(items)</nav>"
    }

    private func firstRecords(_ store: Int) -> Link {
        let first = (try? site.stores[store].schema())?.entities.first { $0.superentity == nil }
        return first.map { .records(store, $0.name) } ?? .store(store)
    }

    /// The entities of a store, beside its records.
    func entities(_ store: Int, current: String) -> HTML {
        guard let (schema, counts) = try? site.stores[store].schemaAndCounts() else { return "" }
        let items = schema.entities.map { entity -> HTML in
            let mark: HTML = entity.name == current ? " aria-current=\"page\"" : ""
            let depth: HTML = entity.superentity == nil ? "" : " class=\"sub\""
            let count = schema.subtree(of: entity.name).reduce(0) { $0 + (counts[$1] ?? 0) }
            return """
                <li\(depth)><a href="\(Link.records(store, entity.name))"\(mark)><span>\(entity.name)</span>\
                <small>\(InspectedText.count(count))</small></a></li>
                """
        }
        return
            "<nav aria-label=\"Entities\"><details class=\"entities\" open><summary>Entities</summary><ul>\(items)</ul></details></nav>"
    }

    /// Where a predicate or an order is not understood.
    func problem(_ error: PredicateTextError) -> HTML {
        "<div class=\"error\" role=\"alert\"><p>\("\(error)")</p><pre>\(error.excerpt)</pre></div>"
    }

    /// The beginning of a form that changes something.
    func form(_ link: Link, _ name: String) -> HTML {
        """
        <form method="post" action="\(link)" class="\(name)" autocomplete="off">\
        <input type="hidden" name="form" value="\(formToken)">
        """
    }

    /// A query as the code of a program.
    static func source(_ source: InspectedSource) -> HTML? {
        switch source {
        case .none: nil
        case .code(let text):
            """
            <details class="source"><summary>As Swift</summary><pre>\(text)</pre>\
            <button type="button" class="quiet copy" hidden>Copy</button></details>
            """
        case .unwritable(let reason):
            "<details class=\"source\"><summary>As Swift</summary><p class=\"note\">Not possible: \(reason).</p></details>"
        }
    }

    /// The time of a transaction.
    static func time(_ commit: ChangeSet.Commit?) -> HTML {
        guard let commit else { return "" }
        let text = InspectedText.date(commit.timestamp)
        let parts = text.split(separator: "T", maxSplits: 1)
        guard parts.count == 2 else { return "<time>\(text)</time>" }
        let clock = parts[1].split(separator: ".").first.map { $0.hasSuffix("Z") ? String($0) : $0 + "Z" } ?? ""
        return
            "<time datetime=\"\(text)\" title=\"\(text)\">\(String(parts[0])) <b>\(clock.replacingOccurrences(of: "Z", with: ""))</b></time>"
    }
}

/// Pages for those who may not see any.
enum Plain {
    static func refused(_ text: String) -> HTML {
        """
        <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">\
        <title>Mortise</title><h1>Mortise</h1><p>\(text)</p></html>
        """
    }
}
#endif
