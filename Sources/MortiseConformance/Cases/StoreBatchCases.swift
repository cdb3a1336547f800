import Foundation
import MortiseCore

/// What a store that claims batches has to do when it is asked for one itself.
extension ConformanceCase {
    private static func property(_ entity: String, _ name: String, _ c: CaseContext) throws -> QueryProperty {
        let slot = try c.require(
            ConformanceModels.schema.stored.recordLayouts()[entity]?.slot(named: name), "\(entity).\(name)")
        return QueryProperty(entity: entity, name: name, slot: slot)
    }

    private static func query(
        _ entity: String, _ purpose: StoreQuery.Purpose, where name: String, is value: StoredValue, _ c: CaseContext
    ) throws -> StoreQuery {
        let compared = QueryExpression.property(.variable(0), try property(entity, name, c))
        return StoreQuery(entity, purpose: purpose, conjuncts: [.compare(.equal, compared, .constant(value))])
    }

    private static func update(
        _ selection: StoreBatch.Selection, rank: Int64, _ c: CaseContext
    ) throws -> StoreBatch {
        StoreBatch(
            selection,
            .update([.init(property: try property("Entry", "rank", c), value: .constant(.integer(rank)))]))
    }

    static let storeBatchCases: [ConformanceCase] = [
        ConformanceCase(
            "batch.store-tells-what-it-changed", level: .core, capability: .batchUpdate,
            requirement: "The store counts the records of a batch, and names those that differ afterwards.",
            hint: "The result is that of the last write, or empty."
        ) { c in
            try storeEntries(c)
            let query = try query("Entry", .update, where: "group", is: .string("x"), c)
            let result = try c.store.execute(try update(.query(query), rank: 4, c))
            let entries = try c.session().all(Entry.self)
            try c.expect(entries.map(\.rank), is: [4, nil, 4, 4, 4, -7], "ranks:")
            try c.expect(result.count, is: 3, "count:")
            // The first had the rank already.
            try c.expect(
                result.changes.updated.map(\.record).sorted(), is: [entries[2], entries[4]].map(\.persistentModelID),
                "records reported:")
            try c.expect(result.changes.deleted.count, is: 0, "records reported as deleted:")
        },
        ConformanceCase(
            "batch.store-changes-the-named", level: .core, capability: .batchUpdate,
            requirement: "The store changes the records that a batch names, and no others.",
            hint: "Only batches with a query are handled."
        ) { c in
            try storeEntries(c)
            let entries = try c.session().all(Entry.self)
            let named = [entries[1], entries[5]].map(\.persistentModelID)
            let result = try c.store.execute(try update(.records(named), rank: 9, c))
            try c.expect(result.count, is: 2, "count:")
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: [4, 9, 2, 4, nil, 9], "ranks:")
        },
        ConformanceCase(
            "batch.store-refuses-missing-records", level: .core, capability: .batchUpdate,
            requirement: "The store refuses a batch that names a record which is not there, and changes nothing.",
            hint: "The missing record is ignored."
        ) { c in
            let a = try c.session()
            let gone = Entry("gone", rank: 1)
            let kept = Entry("kept", rank: 2)
            try a.store(gone, kept)
            let named = [kept, gone].map(\.persistentModelID)
            a.delete(gone)
            try a.save()
            try c.expectError("an error from the store") {
                _ = try c.store.execute(try update(.records(named), rank: 9, c))
            }
            try c.expect(try c.session().all(Entry.self).map(\.rank), is: [2], "ranks:")
        },
        ConformanceCase(
            "batch.store-checks-the-version", level: .full, capability: .batchUpdate, and: [.versions],
            requirement: "A batch not based on the latest version throws VersionSuperseded and changes nothing.",
            hint: "The base of a batch is not checked, so later saves are overwritten."
        ) { c in
            let versioned = try c.require(try c.store.store as? any VersionedDataStore, "a store with versions")
            try storeEntries(c)
            let entries = try c.session().all(Entry.self)
            var batch = try update(.records(entries.map(\.persistentModelID)), rank: 9, c)
            batch.baseVersion = versioned.currentVersion.number
            try c.session().store(Entry("since"))
            try c.expectError("VersionSuperseded", matching: { $0 is VersionSuperseded }) {
                _ = try c.store.execute(batch)
            }
            try c.expect(
                try c.session().all(Entry.self).map(\.rank), is: [4, nil, 2, 4, nil, -7, nil], "ranks:")
        },
        ConformanceCase(
            "batch.store-clears-references", level: .core, capability: .batchUpdate,
            requirement: "A batch that deletes clears the references to deleted records, and reports both.",
            hint: "References are cleared by saves only, or the records that held them are not reported."
        ) { c in
            let a = try c.session()
            let badge = Badge(1)
            let ada = Person("Ada")
            ada.badge = badge
            try a.store(badge, Badge(2), ada, Person("Bob"))
            let query = try query("Badge", .delete, where: "number", is: .integer(1), c)
            let result = try c.store.execute(StoreBatch(.query(query), .delete))
            let b = try c.session()
            try c.expect(try b.all(Badge.self).map(\.number), is: [2], "numbers left:")
            try c.expect(try b.all(Person.self).map { $0.badge == nil }, is: [true, true], "whether badges are gone:")
            try c.expect(result.count, is: 1, "count:")
            try c.expect(
                result.changes.deleted.map(\.record), is: [badge.persistentModelID], "records reported as deleted:")
            try c.expect(
                result.changes.updated.map(\.record), is: [ada.persistentModelID], "records reported as updated:")
        },
    ]

    // MARK: History

    private static func batchHistory(
        _ id: String, _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext, ModelContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "history.\(id)", level: .core, capability: .history, requirement: requirement, hint: hint
        ) { c in
            let context = try c.session().context
            context.author = "Ada"
            try storeEntries(c)
            try body(c, context)
        }
    }

    /// The only transaction since the first.
    private static func latest(_ c: CaseContext, _ context: ModelContext) throws -> DefaultHistoryTransaction {
        let found = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        try c.expect(found.count, is: 2, "transactions after a save and a batch:")
        return try c.require(found.last, "a transaction")
    }

    static let batchHistoryCases: [ConformanceCase] = [
        batchHistory(
            "batch-update", "A batch update is one transaction, with its author, the records and the properties.",
            hint: "Batches bypass the history."
        ) { c, context in
            let expected = try context.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.group == "x" }))
                .map(\.persistentModelID)
            c.note("update Entry where group == \"x\": score = 7")
            try context.update(Entry.self, where: #Predicate { $0.group == "x" }) { $0.set(\.score, to: 7) }
            let transaction = try latest(c, context)
            try c.expect(transaction.author, is: "Ada", "author:")
            let updates = transaction.changes.compactMap { change -> DefaultHistoryUpdate<Entry>? in
                if case .update(let update) = change { update as? DefaultHistoryUpdate<Entry> } else { nil }
            }
            try c.expect(transaction.changes.count, is: updates.count, "changes, all of them updates of entries:")
            try c.expect(updates.map(\.changedPersistentIdentifier).sorted(), is: expected, "records:")
            try c.expect(
                updates.allSatisfy { $0.updatedAttributes == [\Entry.score] }, "updates of the score alone",
                found: "\(updates.map(\.updatedAttributes))")
        },
        batchHistory(
            "batch-insert", "A batch of new records is one transaction that names each of them.",
            hint: "Large saves are split into several transactions."
        ) { c, context in
            c.note("insert 40 badges in a batch")
            let identifiers = try context.insert(Badge.self, from: 0..<40) { record, number in
                try record.set(\.number, to: number)
            }
            let transaction = try latest(c, context)
            try c.expect(
                transaction.changes.map(\.changedPersistentIdentifier), is: identifiers, "records of the transaction:")
        },
        batchHistory(
            "batch-delete", "A batch that deletes is one transaction that names each record that is gone.",
            hint: "Batches bypass the history."
        ) { c, context in
            let expected = try context.fetch(FetchDescriptor<Entry>()).map(\.persistentModelID)
            c.note("delete(model: Entry)")
            try context.delete(model: Entry.self)
            let deleted = try latest(c, context).changes.compactMap { change -> PersistentIdentifier? in
                if case .delete(let deletion) = change { deletion.changedPersistentIdentifier } else { nil }
            }
            try c.expect(deleted.sorted(), is: expected, "records of the transaction:")
        },
    ]
}
