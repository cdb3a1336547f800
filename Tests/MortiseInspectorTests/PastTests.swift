#if Inspector
import Foundation
import MortiseCore
import Testing

/// What happened between two transactions, and what taking one back would come to.
@Suite struct PastTests {
    /// Two things and a shelf; then one gets another name and size; then another thing comes; then a thing goes.
    private func served(_ options: String...) throws -> InspectorRun {
        let store = try OddStore()
        try store.insert([
            ("Shelf", ["name": .string("Top")]), OddStore.thing("Anvil"), OddStore.thing("Bellows"),
        ])
        let set = ["set", store.url, "Thing", "--yes", "--where"]
        for arguments in [
            set + ["$id == 2", "name=Hammer", "size=2"], set + ["$id == 2", "size=3"],
            ["delete", store.url, "Thing", "--yes", "--where", "$id == 3"],
        ] { #expect(try InspectorRun.tool(arguments) == 0, "\(arguments)") }
        return try InspectorRun([store.url] + options, keeping: store)
    }

    private func name(_ property: String, _ old: String, _ new: String) -> String {
        "<dt>\(property)</dt><dd><del><span class=\"v text\">\(old)</span></del> <span aria-label=\"becomes\">→</span> "
            + "<ins><span class=\"v text\">\(new)</span></ins>"
    }

    @Test(.timeLimit(.minutes(15))) func theDifferenceIsWhatIsNotAsBefore() throws {
        let run = try served()
        let page = try run.get("/s/0/difference?from=1&to=3").body
        #expect(page.contains("2 transactions") && page.contains(name("name", "Anvil", "Hammer")), "\(page)")
        #expect(
            page.contains(">1.0</span></del>") && page.contains(">3.0</span></ins>") && !page.contains(">2.0</span>"))
        let all = try run.get("/s/0/difference?from=0&to=4").body
        #expect(all.contains("+2") && all.contains("Hammer") && !all.contains("Anvil") && !all.contains("Bellows"))
        let one = try run.get("/s/0/difference?from=0&to=4&entity=Shelf&record=1").body
        #expect(one.contains("+1") && one.contains("Top") && !one.contains("Hammer"))
        #expect(try run.get("/s/0/difference?from=2&to=2").body.contains("0 transactions"))
        for query in ["from=3&to=1", "from=x&to=2", "from=1&to=", "from=-1&to=2", "from=1&to=18446744073709551616"] {
            #expect(try run.get("/s/0/difference?\(query)").status == 400, "\(query)")
        }
        #expect(try run.get("/s/0/difference?from=1&to=18446744073709551615").status == 200)
        #expect(try run.get("/s/0/difference?from=0&to=1&entity=Nothing").status == 404)
    }

    @Test(.timeLimit(.minutes(15))) func anUndoIsShownWithWhatIsInItsWay() throws {
        let run = try served()
        let second = try run.get("/s/0/history/2/undo").body
        // The size was changed once more.
        #expect(
            second.contains(name("name", "Hammer", "Anvil")) && second.contains("<b>size</b>: it was changed since"))
        #expect(!second.contains("Stage these changes"))
        let first = try run.get("/s/0/history/1/undo").body
        #expect(first.contains("<b>name</b>: it was changed since") && first.contains("class=\"verb\">deleted"))
        #expect(first.contains(">Shelf 1</a>"), "\(first)")
        #expect(try run.get("/s/0/history/4/undo").body.contains("1 record would come back"))
        #expect(try run.get("/s/0/history/99/undo").body.contains("cannot be shown"))
        #expect(try run.get("/s/0/history/x/undo").status == 404)
        #expect(try run.post("/s/0/history/2/undo", [:]).status == 403)
    }

    @Test(.timeLimit(.minutes(15))) func anUndoIsStagedAndSavedAsAnyChange() throws {
        let run = try served("--edit")
        let preview = try run.get("/s/0/history/3/undo")
        #expect(preview.body.contains("Stage these changes"))
        #expect(try run.post("/s/0/history/3/undo", ["form": "0"]).status == 403)
        #expect(try run.post("/s/0/history/3/undo", ["form": preview.formToken]).status == 303)
        #expect(try run.get("/s/0/e/Thing/2").body.contains(">3.0</span>"))
        let shown = try run.get("/s/0/changes")
        let saved = try run.post(
            "/s/0/changes",
            ["form": shown.formToken, "action": "save", "shown": shown.fields["shown"] ?? ""])
        #expect(saved.headers["location"] == "/s/0/history/5", "\(saved.headers)")
        #expect(try run.get("/s/0/e/Thing/2").body.contains("<span class=\"v number\">2.0</span>"))
        // There is nothing left to take back.
        #expect(try run.get("/s/0/history/3/undo").body.contains("No value would change"))
    }

    @Test(.timeLimit(.minutes(15))) func aQueryIsShownInSwift() throws {
        let run = try served()
        let page = try run.get("/s/0/e/Thing?where=size%20%3E%202%20and%20name%20%21%3D%20%22%3Cb%3E%22&sort=-size")
            .body
        #expect(
            page.contains("thing.size &gt; 2.0") && page.contains("thing.name != &quot;&lt;b&gt;&quot;")
                && page.contains("SortDescriptor(\\Thing.size, order: .reverse)"), "\(page)")
        #expect(
            try run.get("/s/0/e/Thing?where=tags.x%20%3D%3D%201").body.contains("Not possible: a part of a coded value")
        )
    }
}
#endif
