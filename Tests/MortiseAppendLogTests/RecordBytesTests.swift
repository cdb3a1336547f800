import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseAppendLog

/// Records are written from columns as they would be value by value.
struct RecordBytesTests {
    @Test func recordsOfEverySizeAreWrittenAsTheirValuesAre() throws {
        let disk = try makeDisk()
        try withLog(logConfiguration(disk)) { context in
            let boxes = (0..<3).map { Box("box \($0)") }
            var random = TestGenerator(seed: testSeed())
            for length in Array(0..<40) + [127, 128, 1_000, 4_000, 4_085, 4_096, 4_097, 5_000, 20_000] {
                for _ in 0..<4 {
                    // Strings that repeat are kept by number, the others as they are.
                    let name =
                        String(repeating: "é", count: length / 2) + (Bool.random(using: &random) ? "" : "\(length)")
                    let tags = (0..<Int.random(in: 0...3, using: &random)).map {
                        String(repeating: "t", count: $0 * 900)
                    }
                    let count = Bool.random(using: &random) ? nil : Int.random(in: -300...300, using: &random)
                    context.insert(Item(name, count: count, tags: tags, box: boxes.randomElement(using: &random)))
                }
            }
            context.insert(Item("alone"))
            try context.save()
        }
        let store = try openStore(logConfiguration(disk))
        defer { try? store.close() }
        let catalog = try #require(store.opened.sink).catalog
        for (entity, name) in catalog.names.enumerated() {
            let table = try #require(store.engine.version.tables[name])
            let rows = (0..<table.endRow).filter(table.contains(row:))
            #expect(rows.count == (name == "Item" ? 197 : 3))
            var plain = ByteWriter()
            var bytes = RecordBytes(ByteWriter(), table, entity, catalog)
            for row in rows {
                plain.varint(table.sequence(ofRow: row))
                for slot in catalog.storedSlots[entity] {
                    try plain.value(table.storedForm(row: row, slot: slot), catalog)
                }
            }
            try bytes.append(0..<table.endRow)
            let written = bytes.finish()
            #expect(written.bytes == plain.bytes)
        }
    }
}
