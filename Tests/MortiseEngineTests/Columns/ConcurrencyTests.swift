import Foundation
import Testing

@testable import MortiseCore
@testable import MortiseEngine

@Suite struct ConcurrencyTests {
    /// Run under the thread sanitizer this also shows that a writer appends to no memory that readers look at.
    @Test func readersSeeWholeVersionsWhileAWriterSaves() async throws {
        let engine = Engine(.empty(Catalog(schema: EngineWorld.schema, storeIdentifier: "world")))
        let layout = try #require(engine.catalog.layouts["Thing"])
        let code = try #require(layout.slot(named: "code"))
        let text = try #require(layout.slot(named: "may_string"))
        let number = try #require(layout.slot(named: "may_int64"))
        let next = try #require(layout.slot(named: "next"))
        var world = EngineWorld(seed: 1)
        let template = world.values(of: layout, alive: [])
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var last: PersistentIdentifier?
                for save in 0..<150 {
                    var inserted: [DefaultSnapshot] = []
                    for offset in 0..<(save % 30 == 0 ? 200 : 3) {
                        var values = template
                        values[code] = .string("\(save)-\(offset)")
                        values[text] = offset % 2 == 0 ? .null : .string("text of save \(save), longer than inline")
                        values[number] = .integer(Int64(save))
                        values[next] = last.map { .identifier($0) } ?? .null
                        inserted.append(
                            DefaultSnapshot(
                                persistentIdentifier: .temporary(entityName: "Thing"), layout: layout, values: values))
                    }
                    var updated: [DefaultSnapshot] = []
                    if let last {
                        var values = template
                        values[number] = .integer(Int64(save))
                        updated.append(DefaultSnapshot(persistentIdentifier: last, layout: layout, values: values))
                    }
                    let remapped = try? engine.save(
                        DataStoreSaveChangesRequest(
                            inserted: inserted, updated: updated, editingState: EditingState(),
                            changedSlots: updated.map { _ in SlotSet([number]) }))
                    last = remapped?.values.sorted().last
                    if save % 20 == 19, let gone = last {
                        last = nil
                        _ = try? engine.save(
                            DataStoreSaveChangesRequest(
                                deleted: [DefaultSnapshot(persistentIdentifier: gone, layout: layout, values: [])],
                                editingState: EditingState()))
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<60 {
                        guard let table = engine.version.tables["Thing"] else { continue }
                        var live = 0
                        for row in 0..<table.endRow where table.contains(row: row) {
                            live += 1
                            let string = table.string(row: row, slot: text)
                            if let string, !string.hasPrefix("text of save ") { Issue.record("\(string)") }
                            if table.int64(row: row, slot: number) == nil { Issue.record("row \(row) is not whole") }
                            _ = table.string(row: row, slot: code)
                            if let identifier = table.identifier(row: row, slot: next) { _ = table.row(of: identifier) }
                        }
                        if live != table.count { Issue.record("\(live) rows, \(table.count) counted") }
                        for index in table.allIndexes where index.count(in: .all) != live {
                            Issue.record("an index is apart")
                        }
                    }
                }
            }
        }
        #expect(engine.version.number > 150)
    }
}
