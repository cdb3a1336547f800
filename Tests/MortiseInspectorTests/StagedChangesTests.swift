#if Inspector
import MortiseCommands
import MortiseCore
import Testing

/// What stays staged after a save.
@Suite struct StagedChangesTests {
    private func edit(_ number: UInt64, _ values: [String: String]) -> StagedChanges.Edit {
        var edit = StagedChanges.Edit(
            record: .numbered(number, storeIdentifier: "store", entityName: "Thing"))
        edit.assignments = values.sorted { $0.key < $1.key }.map { .init(property: $0.key, text: $0.value, base: "1") }
        return edit
    }

    @Test func whatWasStagedWhileOthersWereSavedStays() {
        var staged = StagedChanges()
        for number in 1...4 { staged.stage(edit(UInt64(number), ["name": "a", "size": "1"])) }
        let saved = staged
        staged.stage(edit(2, ["size": "2"]))
        var deletion = edit(3, [:])
        deletion.isDeletion = true
        staged.stage(deletion)
        staged.stage(edit(4, ["note": "new"]))
        staged.stage(edit(5, ["name": "e"]))
        staged.drop(saved: saved)
        #expect(staged.edits == [edit(2, ["size": "2"]), deletion, edit(4, ["note": "new"]), edit(5, ["name": "e"])])
        staged.drop(saved: staged)
        #expect(staged.isEmpty)
    }
}
#endif
