import Foundation
import Mortise
import Testing

@testable import InventorySample

/// The service without HTTP, on `memory:` where that is enough.
@Suite struct InventoryTests {
    private func filled(_ store: String = "memory:") throws -> Inventory {
        let inventory = try Inventory(store: store)
        for (code, name, quantity, place, tags) in [
            ("S-1", "Wood screws", 200, "Workshop", ["metal", "small"]),
            ("S-2", "Hammer", 1, "Workshop", ["metal", "tool"]),
            ("K-1", "Flour", 3, "Kitchen", ["food"]), ("K-2", "Größe 3 Töpfe", 2, "Kitchen", []),
        ] {
            _ = try inventory.add(
                ItemEntry(code: code, name: name, quantity: quantity, place: place, tags: tags), by: "ada")
        }
        _ = try inventory.add(ItemEntry(code: "X", name: "Lost thing"))
        return inventory
    }

    private func errorClass(_ body: () throws -> Void) -> StoreErrorClass? {
        do {
            try body()
            return nil
        } catch {
            return (error as? any ClassifiedStoreError)?.errorClass
        }
    }

    @Test func itemsAreFound() throws {
        let inventory = try filled()
        func codes(_ search: ItemSearch) throws -> [String] { try inventory.search(search).items.map(\.code) }
        #expect(try codes(ItemSearch()) == ["K-1", "K-2", "S-2", "X", "S-1"])
        #expect(try codes(ItemSearch(text: "HAMM")) == ["S-2"])
        #expect(try codes(ItemSearch(text: "topfe")) == ["K-2"])
        #expect(try codes(ItemSearch(text: "S-1")) == ["S-1"])
        #expect(try codes(ItemSearch(tag: "metal")) == ["S-2", "S-1"])
        #expect(try codes(ItemSearch(tag: "metal", place: "Kitchen")).isEmpty)
        #expect(try codes(ItemSearch(text: "o", place: "Kitchen")) == ["K-1", "K-2"])
        #expect(try inventory.totals() == ["Workshop": 201, "Kitchen": 5, "": 0])
    }

    @Test func aSearchIsReadInPages() throws {
        let inventory = try Inventory(store: "memory:")
        let entries = (0..<1_003).map { ItemEntry(code: "\($0)", name: "name \($0 % 7)") }
        for entry in entries { _ = try inventory.add(entry) }
        var (codes, cursor): ([String], String?) = ([], nil)
        repeat {
            let page = try inventory.search(ItemSearch(text: "name"), after: cursor, size: 100)
            codes += page.items.map(\.code)
            cursor = page.next
        } while cursor != nil
        #expect(codes.count == 1_003 && Set(codes).count == 1_003)
        for wrong in ["", "x", String(repeating: "A", count: 9_000)] {
            #expect(errorClass { _ = try inventory.search(ItemSearch(text: "name"), after: wrong) } == .usage)
        }
    }

    @Test func anItemIsNamedByText() throws {
        let inventory = try filled()
        let found = try #require(try inventory.search(ItemSearch(text: "Hammer")).items.first)
        #expect(try inventory.item(found.id) == found)
        try inventory.delete(found.id)
        #expect(errorClass { _ = try inventory.item(found.id) } == .missing)
        #expect(errorClass { _ = try inventory.item("../../etc/passwd") } == .usage)
        #expect(errorClass { _ = try inventory.add(ItemEntry(code: "K-1", name: "Sugar")) } == .conflict)
        #expect(errorClass { _ = try inventory.add(ItemEntry(code: " ", name: "Sugar")) } == .invalid)
        #expect(try inventory.search(ItemSearch()).items.count == 4)
    }

    /// `memory:`, `json:` and `log:` alike: whoever is faster, all of them count.
    @Test(arguments: ["memory:", "json:", "log:"]) func clientsWhoMoveAtOnceAllCount(_ scheme: String) async throws {
        let sandbox = try Sandbox()
        let inventory = try Inventory(store: scheme == "memory:" ? scheme : scheme + sandbox.path("inventory"))
        let item = try inventory.add(ItemEntry(code: "S", name: "Screws", quantity: 1_000))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<4 {
                group.addTask {
                    for step in 0..<25 {
                        _ = try inventory.move(
                            item.id, by: step % 2 == 0 ? 3 : -1, reason: "client \(client)", by: "client \(client)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try inventory.item(item.id).quantity == 1_000 + 4 * (13 * 3 - 12))
        #expect {
            try inventory.move(item.id, by: -100_000, reason: "too much")
        } throws: {
            if case InventoryError.notEnough("S", 1_108, 100_000) = $0 { true } else { false }
        }
        #expect(errorClass { _ = try inventory.move(item.id, by: .max, reason: "overflow") } == .conflict)
        try inventory.container.close()
    }

    @Test func ofTwoClientsWhoEditTheSecondIsTold() throws {
        let inventory = try filled()
        let seen = try #require(try inventory.search(ItemSearch(text: "Hammer")).items.first)
        let entry = ItemEntry(code: "S-2", name: "Sledgehammer", place: "Shed", tags: ["tool", "tool"])
        let edited = try inventory.edit(seen.id, seen: seen.revision, as: entry)
        #expect(
            edited.name == "Sledgehammer" && edited.place == "Shed" && edited.tags == ["tool"] && edited.quantity == 1)
        #expect(throws: InventoryError.editedMeanwhile(code: "S-2", seen: 1, now: 2)) {
            try inventory.edit(seen.id, seen: seen.revision, as: entry)
        }
        #expect(
            errorClass { _ = try inventory.edit(seen.id, seen: 2, as: ItemEntry(code: "K-1", name: "x")) } == .conflict)
        #expect(try inventory.item(seen.id) == edited)
    }

    @Test func aListIsTakenInBesideOthers() async throws {
        let inventory = try filled()
        let entries =
            (0..<1_200).map {
                ItemEntry(code: "B-\($0)", name: "Box \($0)", quantity: $0, place: "Attic", tags: ["box"])
            }
            + [
                ItemEntry(code: "S-1", name: "", quantity: 150), ItemEntry(code: "", name: "nothing"),
                ItemEntry(code: "M", name: "", quantity: -1),
            ]
        async let taken = Stocktaking(modelContainer: inventory.container).take(entries, by: "bob")
        for _ in 0..<20 { _ = try inventory.search(ItemSearch(tag: "box"), size: 10) }
        let outcome = try await taken
        #expect(outcome.added == 1_200 && outcome.counted == 1 && outcome.refused.count == 2, "\(outcome)")
        let screws = try #require(try inventory.search(ItemSearch(text: "S-1")).items.first)
        #expect(screws.quantity == 150 && screws.place == "Workshop")
        #expect(try inventory.totals()["Attic"] == 1_199 * 600)
    }

    @Test(arguments: ["memory:", "log:"]) func attachmentsComeBack(_ scheme: String) throws {
        let sandbox = try Sandbox()
        let inventory = try filled(scheme == "memory:" ? scheme : scheme + sandbox.path("inventory.log"))
        let item = try #require(try inventory.search(ItemSearch(text: "Hammer")).items.first)
        let photo = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 * 7) })
        _ = try inventory.attach(Data([1]), named: "photo", type: "image/png", to: item.id)
        let changed = try inventory.attach(photo, named: "photo", type: "image/jpeg", to: item.id)
        #expect(changed.attachments.count == 1)
        let id = try #require(changed.attachments["photo"])
        #expect(try inventory.attachment(id) == (photo, "image/jpeg"))
        let tooLarge = Data(count: Inventory.largestAttachment + 1)
        #expect(errorClass { _ = try inventory.attach(tooLarge, named: "x", type: "x", to: item.id) } == .invalid)
        // An identifier of an item names no attachment.
        #expect(errorClass { _ = try inventory.attachment(item.id) } == .missing)
        try inventory.delete(item.id)
        #expect(errorClass { _ = try inventory.attachment(id) } == .missing)
        try inventory.container.close()
    }

    @Test(arguments: ["log:", "json:", "memory:"]) func theAuditSaysWhoHasDoneWhat(_ scheme: String) throws {
        let sandbox = try Sandbox()
        let inventory = try filled(scheme == "memory:" ? scheme : scheme + sandbox.path("inventory"))
        let item = try #require(try inventory.search(ItemSearch(text: "Hammer")).items.first)
        _ = try inventory.edit(
            item.id, seen: 1, as: ItemEntry(code: "S-2", name: "<b>Hammer</b>", place: "Workshop"), by: "eve & co")
        try inventory.delete(item.id, by: "bob")
        let lines = try inventory.audit(limit: 2)
        let deletion = try #require(lines.first { $0.entity == "Item" })
        #expect(deletion.action == "deleted" && deletion.author == "bob" && deletion.details == ["code S-2"])
        #expect(deletion.id == item.id)
        let edit = try #require(lines.first { $0.entity == "Item" && $0.action == "changed" })
        #expect(edit.author == "eve & co" && edit.details == ["name", "revision", "tags"], "\(edit)")
        #expect(try inventory.audit(limit: 1_000).count > lines.count)
        let page = AuditPage(
            lines + [AuditLine(time: Date(), author: "<script>", action: "x", entity: "y", details: ["\"&"])]
        ).html
        #expect(page.contains("eve &amp; co") && page.contains("code S-2"))
        #expect(!page.contains("<script>") && page.contains("&lt;script&gt;") && page.contains("&quot;&amp;"))
        try inventory.container.close()
    }

    @Test(arguments: ["log:", "json:"]) func theFirstVersionBecomesTheSecond(_ scheme: String) throws {
        let sandbox = try Sandbox()
        let store = scheme + sandbox.path("inventory")
        let old = try ModelContainer(for: Schema(versionedSchema: InventoryV1.self), store: store)
        let photo = Data(repeating: 9, count: 50_000)
        let context = ModelContext(old)
        for (code, place, photo) in [("A", "Cellar", photo), ("B", "Cellar", nil), ("C", "", nil)]
            as [(String, String, Data?)]
        {
            context.insert(
                InventoryV1.Item(code: code, name: "name \(code)", quantity: 4, location: place, photo: photo))
        }
        try context.save()
        try old.close()
        for _ in 0..<2 {
            let inventory = try Inventory(store: store)
            let items = try inventory.search(ItemSearch()).items
            #expect(items.map(\.code) == ["A", "B", "C"] && items.map(\.place) == ["Cellar", "Cellar", nil])
            #expect(items.allSatisfy { $0.revision == 1 && $0.quantity == 4 })
            #expect(try inventory.totals() == ["Cellar": 8, "": 4])
            #expect(items.map(\.attachments.count) == [1, 0, 0])
            let kept = try #require(items[0].attachments["photo"])
            #expect(try inventory.attachment(kept).content == photo)
            try inventory.container.close()
        }
    }

    @Test func aBackupBringsItBack() throws {
        let sandbox = try Sandbox()
        let store = "log:" + sandbox.path("inventory.log")
        let inventory = try filled(store)
        try inventory.container.backUp(to: sandbox.path("backup"))
        for item in try inventory.search(ItemSearch()).items { try inventory.delete(item.id) }
        try inventory.container.close()
        try inventory.container.restore(from: sandbox.path("backup"), replacing: true)
        let again = try Inventory(store: store)
        #expect(try again.search(ItemSearch()).items.count == 5)
        #expect(again.container.health().map(\.answers) == [true])
        try again.container.close()
    }
}
