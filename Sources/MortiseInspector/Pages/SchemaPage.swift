#if Inspector
import MortiseCommands
import MortiseCore

/// A store's schema, with what is known of the store.
struct SchemaPage {
    private let frame: Frame
    private let number: Int
    private var store: InspectedStore { frame.site.stores[number] }

    init(_ frame: Frame, _ number: Int) {
        self.frame = frame
        self.number = number
    }

    func answer() throws -> InspectorAnswer {
        let facts = try store.facts()
        let entities = facts.schema.entities.map { entity($0, facts) }
        let capabilities = facts.capabilities.map { name -> HTML in "<li>\(name)</li>" }
        return frame.page(
            "Schema of \(store.name)", store: number, part: "schema", side: frame.entities(number, current: ""),
            """
            <h1>Schema</h1>\(StoresPage.facts(facts, number))\(try drift())\(SchemaGraph(facts.schema, facts.counts, number).html)\
            <div class="schema">\(entities)</div>\
            <details class="more"><summary>What this kind of store can do</summary><ul class="tags">\(capabilities)</ul></details>
            """)
    }

    func verify() throws -> InspectorAnswer {
        guard let found = try store.verify() else {
            return frame.page(
                "Check", store: number, status: 501,
                "<h1>Check</h1><p class=\"lead\">This kind of store cannot be checked byte by byte.</p>")
        }
        let problems = found.problems.map { problem -> HTML in "<li>\(problem)</li>" }
        let notes = found.notes.map { note -> HTML in "<li>\(note)</li>" }
        let list: HTML =
            problems.isEmpty
            ? "<p class=\"state good\">sound: every byte was checked</p>"
            : "<p class=\"state bad\">\(InspectedText.plural(problems.count, "problem"))</p><ul class=\"problems\">\(problems)</ul>"
        let more: HTML? = notes.isEmpty ? nil : "<h2>Notes</h2><ul>\(notes)</ul>"
        return frame.page("Check of \(store.name)", store: number, part: "schema", "<h1>Check</h1>\(list)\(more)")
    }

    private func drift() throws -> HTML? {
        guard let changes = try store.drift() else { return nil }
        if changes.isEmpty { return "<p class=\"state good\">as the models of this tool have it</p>" }
        let rows = changes.map { change -> HTML in
            "<tr><td><b>\(change.subject)</b></td><td>\(change.detail)</td><td>\(change.effect)</td></tr>"
        }
        return """
            <section><h2>Differs from the models</h2><div class="scroll"><table><thead><tr><th>What<th>Difference<th>Comes to\
            </tr></thead><tbody>\(rows)</tbody></table></div></section>
            """
    }

    private func entity(_ entity: StoredEntity, _ facts: InspectedFacts) -> HTML {
        let rows = entity.properties.map { property -> HTML in
            let indexed = entity.indices.contains { $0.properties.first == property.name }
            let unique =
                entity.uniquenessConstraints.contains([property.name])
                || property.attribute?.options.contains(.unique) == true
            let marks: [HTML] = [
                unique ? "<span class=\"tag\">unique</span>" : "", indexed ? "<span class=\"tag\">index</span>" : "",
            ]
            return "<tr><th scope=\"row\">\(property.name)</th><td>\(kind(property))</td><td>\(marks)</td></tr>"
        }
        let several = entity.uniquenessConstraints.filter { $0.count > 1 }.map { names -> HTML in
            "<p class=\"rule\">unique together: \(names.joined(separator: ", "))</p>"
        }
        let indices = entity.indices.filter { $0.properties.count > 1 }.map { index -> HTML in
            "<p class=\"rule\">index: \(index.properties.joined(separator: ", "))</p>"
        }
        let above: HTML? = entity.superentity.map {
            " <small>is a <a href=\"\(Link.store(number).at($0))\">\($0)</a></small>"
        }
        return """
            <section class="entity" id="\(entity.name)"><h2><a href="\(Link.records(number, entity.name))">\(entity.name)</a>\(above)\
            <small class="count">\(InspectedText.plural(facts.counts[entity.name] ?? 0, "record"))</small></h2>\
            <table><tbody>\(rows)</tbody></table>\(several)\(indices)</section>
            """
    }

    private func kind(_ property: StoredProperty) -> HTML {
        guard let relationship = property.relationship else { return "<code>\(InspectedText.words(property))</code>" }
        let link = Link.store(number).at(relationship.destination)
        let inverse: HTML? = relationship.inverse.map { " <small>inverse \($0)</small>" }
        let name =
            relationship.isToMany
            ? "[\(relationship.destination)]" : relationship.destination + (property.isOptional ? "?" : "")
        return "<a href=\"\(link)\"><code>\(name)</code></a>\(inverse)"
    }
}
#endif
