#if Inspector
import Foundation
import MortiseCore
import Testing

/// Changes that are staged, shown and saved.
@Suite struct StagedEditTests {
    private func served() throws -> (store: OddStore, run: InspectorRun) {
        let store = try OddStore()
        try store.insert([
            ("Shelf", ["name": .string("Top")]), OddStore.thing("Anvil", ["note": .string("one\r\ntwo")]),
            OddStore.thing("Bellows", ["note": .string("a\u{0}b")]),
        ])
        return (store, try InspectorRun([store.url, "--edit"], keeping: store))
    }

    /// The form of a record with other values, by property.
    private func form(_ page: InspectorRun.Reply, _ values: [String: String]) -> [String: String] {
        var fields = page.fields
        fields["form"] = page.formToken
        fields["action"] = "stage"
        for (name, value) in fields where name.hasPrefix("p") {
            guard let new = values[value] else { continue }
            fields["v" + name.dropFirst()] = new
            fields["n" + name.dropFirst()] = nil
        }
        return fields
    }

    private func save(_ run: InspectorRun, _ action: String = "save") throws -> InspectorRun.Reply {
        let page = try run.get("/s/0/changes")
        return try save(run, as: page, action)
    }

    /// Sends the form of a page of changes.
    private func save(
        _ run: InspectorRun, as page: InspectorRun.Reply, _ action: String = "save"
    ) throws -> InspectorRun.Reply {
        try run.post(
            "/s/0/changes", ["form": page.formToken, "action": action, "shown": page.fields["shown"] ?? ""])
    }

    @Test(.timeLimit(.minutes(15))) func changesAreShownAndSavedAsOneTransaction() throws {
        let (_, run) = try served()
        let anvil = try run.get("/s/0/e/Thing/2?edit=1")
        #expect(try run.post("/s/0/e/Thing/2", form(anvil, ["name": "Hammer", "shelf": "1"])).status == 303)
        let bellows = try run.get("/s/0/e/Thing/3?edit=1")
        #expect(try run.post("/s/0/e/Thing/3", form(bellows, ["size": "2.5"])).status == 303)
        #expect(try run.get("/s/0/e/Thing/2").body.contains("Anvil"))
        let shown = try run.get("/s/0/changes").body
        #expect(shown.contains("Hammer") && shown.contains("Anvil") && shown.contains("2.5"))
        let saved = try save(run)
        #expect(saved.status == 303 && saved.headers["location"] == "/s/0/history/2", "\(saved.headers)")
        let record = try run.get("/s/0/e/Thing/2").body
        #expect(record.contains("Hammer") && record.contains("/s/0/e/Shelf/1"))
        #expect(try run.get("/s/0/e/Thing/3").body.contains("U+0000"))
        #expect(try run.get("/s/0/history?author=inspector").body.contains("/s/0/history/2\""))
        #expect(try run.get("/s/0/changes").body.contains("Nothing is staged"))
    }

    @Test(.timeLimit(.minutes(15))) func aFormThatChangesNothingStagesNothing() throws {
        let (_, run) = try served()
        for number in 2...3 {
            let page = try run.get("/s/0/e/Thing/\(number)?edit=1")
            #expect(page.fields.count > 10)
            let answer = try run.post("/s/0/e/Thing/\(number)", form(page, [:]))
            #expect(answer.headers["location"] == "/s/0/e/Thing/\(number)")
        }
        #expect(try run.get("/s/0/changes").body.contains("Nothing is staged"))
    }

    @Test(.timeLimit(.minutes(15))) func aStaleFormMeetsAConflict() throws {
        let (_, run) = try served()
        let stale = try run.get("/s/0/e/Thing/2?edit=1")
        let staged = try run.get("/s/0/e/Thing/3?edit=1")
        #expect(try run.post("/s/0/e/Thing/2", form(stale, ["name": "Theirs"])).status == 303)
        #expect(try save(run).status == 303)
        // Typed into a page that is older than what is stored.
        let conflict = try run.post("/s/0/e/Thing/2", form(stale, ["name": "Mine"]))
        #expect(conflict.status == 409)
        for part in ["Anvil", "Mine", "Theirs"] { #expect(conflict.body.contains(part)) }
        #expect(try run.get("/s/0/changes").body.contains("Nothing is staged"))
        // Another property of the same record is in nobody's way.
        #expect(try run.post("/s/0/e/Thing/2", form(stale, ["size": "7"])).status == 303)
        #expect(try save(run).status == 303)
        #expect(try run.get("/s/0/e/Thing/2").body.contains("Theirs"))
        #expect(try run.post("/s/0/e/Thing/3", form(staged, ["size": "8"])).status == 303)
    }

    @Test(.timeLimit(.minutes(15))) func whatWasStagedBeforeAnotherSavedIsNotSavedOverIt() throws {
        let (store, run) = try served()
        let page = try run.get("/s/0/e/Thing/2?edit=1")
        #expect(try run.post("/s/0/e/Thing/2", form(page, ["name": "Mine"])).status == 303)
        let other = try InspectorRun([store.url, "--edit"])
        let theirs = try other.get("/s/0/e/Thing/2?edit=1")
        #expect(try other.post("/s/0/e/Thing/2", form(theirs, ["name": "Theirs"])).status == 303)
        #expect(try save(other).status == 303)
        let token = try run.get("/s/0/e/Thing/2?edit=1").formToken
        let refused = try run.post("/s/0/changes", ["form": token, "action": "save"])
        #expect(refused.status == 409 && refused.body.contains("Theirs") && refused.body.contains("Mine"))
        #expect(try other.get("/s/0/e/Thing/2").body.contains("Theirs"))
    }

    @Test(.timeLimit(.minutes(15))) func changesThatWereNotShownAreNotSaved() throws {
        let (_, run) = try served()
        let anvil = try run.get("/s/0/e/Thing/2?edit=1")
        #expect(try run.post("/s/0/e/Thing/2", form(anvil, ["size": "0.0"])).status == 303)
        let shown = try run.get("/s/0/changes")
        // Staged in another window: another record, and another value that is equal to the one that was shown.
        let bellows = try run.get("/s/0/e/Thing/3?edit=1")
        #expect(try run.post("/s/0/e/Thing/3", form(bellows, ["size": "2.5"])).status == 303)
        let more = try save(run, as: shown)
        #expect(more.status == 409 && more.body.contains("Nothing was saved") && more.body.contains("2.5"))
        #expect(try run.post("/s/0/e/Thing/2", form(anvil, ["size": "-0.0"])).status == 303)
        #expect(try save(run, as: more).status == 409)
        #expect(try run.post("/s/0/changes", ["form": shown.formToken, "action": "save"]).status == 409)
        #expect(try run.get("/s/0/history/2").status == 404)
        let saved = try save(run)
        #expect(saved.status == 303 && saved.headers["location"] == "/s/0/history/2")
    }

    @Test(.timeLimit(.minutes(15))) func aDeletionThatTakesMoreThanWasShownIsShownAgain() throws {
        let store = try OddStore()
        let shelf = try store.insert([("Shelf", ["name": .string("Top")])])[0]
        try store.insert([OddStore.thing("Anvil", ["shelf": .identifier(shelf)])])
        let run = try InspectorRun([store.url, "--edit"], keeping: store)
        let page = try run.get("/s/0/e/Shelf/1")
        let deletion = ["form": page.formToken, "action": "delete", "base": page.fields["base"] ?? ""]
        #expect(try run.post("/s/0/e/Shelf/1", deletion).status == 303)
        let shown = try run.get("/s/0/changes")
        #expect(shown.body.contains("/s/0/e/Thing/2"))
        try store.insert([OddStore.thing("Bellows", ["shelf": .identifier(shelf)])], author: "other")
        let again = try save(run, as: shown)
        #expect(again.status == 409 && again.body.contains("/s/0/e/Thing/3"), "\(again.body)")
        #expect(try run.get("/s/0/e/Shelf/1").status == 200)
        #expect(try save(run, as: again).status == 303)
        #expect(try run.get("/s/0/e/Shelf/1").status == 404)
        #expect(!(try run.get("/s/0/e/Thing/3").body.contains("/s/0/e/Shelf/1\"")))
    }

    @Test(.timeLimit(.minutes(15))) func aRefusedFormKeepsItsLines() throws {
        let (_, run) = try served()
        let page = try run.get("/s/0/e/Shelf/1?edit=1")
        let refused = try run.post("/s/0/e/Shelf/1", form(page, ["name": "Top\r\nand bottom", "things": "99"]))
        #expect(refused.status == 422 && refused.fields.values.contains("Top\nand bottom"))
        // A browser leaves line ends out of an input.
        #expect(refused.body.firstMatch(of: /<input [^>]*value="[^"]*\n/) == nil)
        #expect(try run.post("/s/0/e/Shelf/1", form(refused, ["things": ""])).status == 303)
        #expect(try save(run).status == 303)
        #expect(try run.get("/s/0/e/Shelf/1/name").body == "Top\nand bottom")
    }

    @Test(.timeLimit(.minutes(15))) func rulesOfTheSchemaHold() throws {
        let (_, run) = try served()
        let page = try run.get("/s/0/e/Thing/2?edit=1")
        for (property, value) in [("size", "wide"), ("shelf", "99"), ("tags", "{"), ("picture", "0xZZ")] {
            let answer = try run.post("/s/0/e/Thing/2", form(page, [property: value]))
            #expect(answer.status == 422 && answer.body.contains("aria-invalid"), "\(property)")
        }
        #expect(try run.post("/s/0/e/Thing/2", form(page, ["name": "Bellows"])).status == 303)
        #expect(try save(run).status == 422)
        #expect(try run.get("/s/0/e/Thing/2").body.contains("Anvil"))
        #expect(try save(run, "discard").status == 303)
    }

    @Test(.timeLimit(.minutes(15))) func aDeletionIsStagedAndSaved() throws {
        let (_, run) = try served()
        let page = try run.get("/s/0/e/Thing/2")
        let fields = page.fields
        let answer = try run.post(
            "/s/0/e/Thing/2", ["form": page.formToken, "action": "delete", "base": fields["base"] ?? ""])
        #expect(answer.status == 303)
        #expect(try run.get("/s/0/changes").body.contains("deleted"))
        #expect(try save(run).status == 303)
        #expect(try run.get("/s/0/e/Thing/2").status == 404)
        #expect(try run.get("/s/0/e/Thing/3").status == 200)
    }
}
#endif
