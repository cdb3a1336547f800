#if Inspector
import Foundation
import MortiseCommands
import MortiseCore

/// All stores, and how they are.
struct StoresPage {
    private let frame: Frame

    init(_ frame: Frame) { self.frame = frame }

    func answer() -> InspectorAnswer {
        let cards = frame.site.stores.indices.map(card)
        let compare: HTML? =
            cards.count > 1 ? "<p><a href=\"\(Link.compare)\">Compare two stores…</a></p>" : nil
        return frame.page(
            "Stores",
            "<h1>\(InspectedText.plural(cards.count, "store"))</h1><div class=\"cards\">\(cards)</div>\(compare)")
    }

    private func card(_ number: Int) -> HTML {
        let store = frame.site.stores[number]
        do {
            let facts = try store.facts()
            return """
                <article class="card"><h2><a href="\(Link.store(number))">\(store.name)</a></h2>\
                <p class="state good">opened without a fault</p>\(Self.facts(facts, number))</article>
                """
        } catch {
            let isDamaged = (error as? any ClassifiedStoreError)?.errorClass == .damaged
            let kind = isDamaged ? "damaged" : "cannot be opened"
            return """
                <article class="card broken"><h2><a href="\(Link.store(number))">\(store.name)</a></h2>\
                <p class="state bad">\(kind)</p><p class="error">\("\(error)")</p>\
                <p><a href="\(Link.verify(number))">Look for every fault</a></p></article>
                """
        }
    }

    static func facts(_ facts: InspectedFacts, _ number: Int) -> HTML {
        let files = facts.files.map { "\($0.role) \(InspectedText.bytes($0.bytes))" }.joined(separator: ", ")
        let last: HTML =
            facts.lastTransaction.map { transaction in
                """
                <a href="\(Link.transaction(number, transaction.commit?.number ?? 0))">\
                \(Int(clamping: transaction.commit?.number ?? 0))</a> · \(Frame.time(transaction.commit))
                """
            } ?? (facts.hasHistory ? "none yet" : "no history is kept")
        let notes = facts.notes.map { note -> HTML in "<div><dt>Note</dt><dd>\(note)</dd></div>" }
        let check: HTML = facts.isVerifiable ? " · <a href=\"\(Link.verify(number))\">check every byte</a>" : ""
        return """
            <dl class="facts">\
            <div><dt>Records</dt><dd><b>\(InspectedText.count(facts.records))</b> of \
            \(InspectedText.plural(facts.schema.entities.count, "entity", "entities"))</dd></div>\
            <div><dt>Size</dt><dd><span title="\(files)">\(InspectedText.bytes(facts.bytes))</span>\(check)</dd></div>\
            <div><dt>Schema</dt><dd>version \("\(facts.schema.version)")</dd></div>\
            <div><dt>Durability</dt><dd>\(facts.durability)</dd></div>\
            <div><dt>Last transaction</dt><dd>\(last)</dd></div>\
            <div><dt>Others’ saves</dt><dd>\(facts.follows ? "shown as they come" : "shown when the file is replaced")</dd></div>\
            \(notes)</dl>
            """
    }
}
#endif
