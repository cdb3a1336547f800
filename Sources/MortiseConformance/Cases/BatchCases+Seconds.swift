import Foundation
import MortiseCore

/// Second looks at batches: what they leave behind, what they find nothing for, and what a store refuses of them.
extension ConformanceCase {
    private static func setting(
        _ name: String, of entity: String, to value: StoredValue, in selection: StoreBatch.Selection, _ c: CaseContext
    ) throws -> StoreBatch {
        let slot = try c.require(
            ConformanceModels.schema.stored.recordLayouts()[entity]?.slot(named: name), "\(entity).\(name)")
        let property = QueryProperty(entity: entity, name: name, slot: slot)
        return StoreBatch(selection, .update([.init(property: property, value: .constant(value))]))
    }

    static let batchSecondCases: [ConformanceCase] = [
        ConformanceCase(
            "batch.leaves-no-members", level: .core,
            requirement:
                "What a batch has deleted is in no list and in no reference, and no condition reaches it there.",
            hint: "A batch deletes records, and leaves the references and pairs that lead to them."
        ) { c in
            let a = try c.session()
            let (one, two, gone) = (Node("one"), Node("two"), Node("gone"))
            let (writer, book, lost) = (Writer("writer"), Book("book"), Book("lost"))
            a.insert(one, two, gone, writer, book, lost)
            a.change("links, next, parents and friends of nodes; read and written of a writer") {
                one.links = [two, gone]
                (one.next, two.next, two.parent) = (two, gone, gone)
                two.friends = [one, gone]
                writer.read = [book, lost]
                (book.author, lost.author) = (writer, writer)
            }
            try a.save()
            c.note("delete a node and a book in batches")
            try a.context.delete(model: Node.self, where: #Predicate { $0.name == "gone" })
            try a.context.delete(model: Book.self, where: #Predicate { $0.title == "lost" })
            try checkAlsoReopened(c) { b in
                let nodes = try b.all(Node.self)
                try c.expect(nodes.map { $0.links.map(\.name) }, is: [["two"], []], "links:")
                try c.expect(nodes.map { $0.next?.name ?? "-" }, is: ["two", "-"], "next:")
                try c.expect(nodes.map { $0.parent?.name ?? "-" }, is: ["-", "-"], "parents:")
                try c.expect(nodes.map { $0.friends.map(\.name) }, is: [[], ["one"]], "friends:")
                try c.expect(try b.only(Writer.self).read.map(\.title), is: ["book"], "books read:")
                try c.expect(try b.only(Writer.self).written.map(\.title), is: ["book"], "books written:")
                let ending = FetchDescriptor<Node>(predicate: #Predicate { $0.next == nil })
                try c.expect(try b.count(ending), is: 1, "nodes without a next one:")
                let linked = FetchDescriptor<Node>(predicate: #Predicate { $0.links.count > 1 })
                try c.expect(try b.count(linked), is: 0, "nodes with more than one link:")
            }
        },
        ConformanceCase(
            "batch.that-meets-no-record", level: .core,
            requirement:
                "A batch whose condition no record meets comes back, changes nothing, and keeps nobody from the next one.",
            hint: "A batch without records ends in a statement, a loop or a lock that waits for the first of them."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            let before = try a.all(Entry.self).map(\.rank)
            for round in 1...2 {
                c.note("delete and update, in batches, entries of a name that no entry has")
                try a.context.delete(model: Entry.self, where: #Predicate { $0.name == "nobody" })
                try c.expect(
                    try a.context.update(Entry.self, where: #Predicate { $0.name == "nobody" }) {
                        $0.set(\.rank, to: 1)
                    }, is: 0, "records that the update counts:")
                try a.context.delete(model: Badge.self)
                try c.expect(try c.session().all(Entry.self).map(\.rank), is: before, "ranks in round \(round):")
            }
            try a.context.delete(model: Entry.self)
            try c.expect(
                try c.session().count(FetchDescriptor<Entry>()), is: 0, "entries after a batch that finds all:")
        },
        ConformanceCase(
            "batch.store-checks-the-version-of-deletions", level: .full, capability: .batchUpdate, and: [.versions],
            requirement:
                "A batch that deletes on top of an earlier version throws VersionSuperseded and deletes nothing; on top of the "
                + "latest it is carried out.",
            hint: "The base of a batch is checked for updates alone, or not within the transaction."
        ) { c in
            let versioned = try c.require(try c.store.store as? any VersionedDataStore, "a store with versions")
            try storeEntries(c)
            let old = versioned.currentVersion.number
            let entries = try c.session().all(Entry.self)
            try c.session().store(Entry("since"))
            var batch = StoreBatch(.records(Array(entries.map(\.persistentModelID).prefix(2))), .delete)
            batch.baseVersion = old
            try c.expectError("VersionSuperseded", matching: { $0 is VersionSuperseded }) {
                _ = try c.store.execute(batch)
            }
            try c.expect(try c.session().count(FetchDescriptor<Entry>()), is: entries.count + 1, "entries:")
            batch.baseVersion = versioned.currentVersion.number
            _ = try c.store.execute(batch)
            try c.expect(
                try c.session().count(FetchDescriptor<Entry>()), is: entries.count - 1,
                "entries after the batch on the latest version:")
        },
        ConformanceCase(
            "batch.store-refuses-deleting-the-missing", level: .full, capability: .batchUpdate,
            requirement:
                "A batch that deletes records one of which is gone is refused by the store, and the others stay.",
            hint: "What is not there is taken for deleted. The context has to hear of it: it asked for another number."
        ) { c in
            let a = try c.session()
            let (first, gone, last) = (Entry("first"), Entry("gone"), Entry("last"))
            try a.store(first, gone, last)
            let named = [first, gone, last].map(\.persistentModelID)
            a.delete(gone)
            try a.save()
            for _ in 0..<2 {
                try c.expectError("an error from the store") {
                    _ = try c.store.execute(StoreBatch(.records(named), .delete))
                }
            }
            try c.expect(try c.session().all(Entry.self).map(\.name), is: ["first", "last"], "names:")
        },
        ConformanceCase(
            "batch.update-of-compound-unique-values", level: .core,
            requirement:
                "An update that makes the values of a compound constraint equal throws and changes nothing; where one is nil, it "
                + "goes through.",
            hint: "Batches bypass the check of unique values, or check single properties only."
        ) { c in
            let a = try c.session()
            try a.store(
                Account("a", country: "NO", number: 1), Account("b", country: "SE", number: 1),
                Account("c", country: "FI", number: nil), Account("d", country: "DK", number: nil))
            func accounts() throws -> [String] {
                try c.session().all(Account.self).map { "\($0.email) \($0.country) \($0.number ?? 0) \($0.owner)" }
            }
            let before = try accounts()
            c.note("update Account where email == b: owner = new, country = NO")
            try c.expectError("an error, since an account of that country has the number") {
                try a.context.update(Account.self, where: #Predicate { $0.email == "b" }) {
                    $0.set(\.owner, to: "new")
                    $0.set(\.country, to: "NO")
                }
            }
            try c.expect(try accounts(), is: before, "accounts after the update failed:")
            c.note("update Account where number == nil: country = NO")
            try a.context.update(Account.self, where: #Predicate { $0.number == nil }) { $0.set(\.country, to: "NO") }
            try c.expect(
                try accounts(), is: ["a NO 1 ", "b SE 1 ", "c NO 0 ", "d NO 0 "],
                "accounts, two of which have no number in one country:")
        },
    ]
}
