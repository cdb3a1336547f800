import Foundation
import MortiseCore

/// How a store has to behave towards a capability that it does not claim.
enum Refusals {
    static func check(_ capability: StoreCapability, in context: CaseContext) throws {
        context.note("\(capability) is not claimed: test its refusal")
        switch capability {
        case .reopening: try reopening(context)
        case .durability: try durability(context)
        case .faultInjection:
            try context.expect(
                !context.hasFaults, "a subject that cannot make its storage fail, since it does not claim that",
                found: "one that can", hint: "Claim faultInjection, so that failing storage is tested.")
        case .erase: try erase(context)
        case .batchDelete: try batchDelete(context)
        case .batchUpdate: try batchUpdate(context)
        case .uniqueness: try uniqueness(context)
        case .referentialIntegrity: try referentialIntegrity(context)
        case .history: try history(context)
        case .queries:
            try absent(context, capability, try context.store.store is any QueryableDataStore)
        case .concurrency, .deferredRelationships, .readConsistency: try unclaimed(context, capability)
        case .announcements:
            try context.expect(
                try context.store.store.changeFeed == nil, "no feed, since announcements are not claimed",
                found: "a feed", hint: claimIt)
        case .versions: try absent(context, capability, try context.store.store is any VersionedDataStore)
        case .recordVersions: try recordVersions(context)
        case .closing: try closing(context)
        case .aggregates: try aggregates(context)
        // What becomes of a plan then is tested by the cases of schemas.
        case .migration:
            let configuration = try context.configuration() as? any MigratableConfiguration
            try absent(context, capability, configuration?.allowsMigration == true)
        default: throw context.failure(expected: "a capability of this kit", found: capability.rawValue)
        }
    }

    private static let claimIt = "The store can do what its subject does not claim. Claim it to have it tested."

    private static func absent(_ context: CaseContext, _ capability: StoreCapability, _ isThere: Bool) throws {
        try context.expect(
            !isThere, "a store without \(capability), since it is not claimed", found: "conformance to its protocol",
            hint: claimIt)
    }

    /// What the framework goes by is what the store says.
    private static func unclaimed(_ context: CaseContext, _ capability: StoreCapability) throws {
        try context.expect(
            !context.store.store.capabilities.contains(capability),
            "a store that does not claim \(capability), since its subject does not", found: "one that claims it",
            hint: claimIt)
    }

    /// What does nothing when it is closed is usable afterwards.
    private static func closing(_ context: CaseContext) throws {
        try context.session().store(Entry("kept"))
        context.note("store.close")
        try context.store.store.close()
        let found = Result { try context.store.records(Entry.self).count }
        try context.expect(
            (try? found.get()) == 1, "one record, from a store whose close() does nothing", found: "\(found)",
            hint: claimIt)
    }

    private static func aggregates(_ context: CaseContext) throws {
        try context.session().store(Entry("kept"))
        let answer = try context.store.aggregate(AggregateQuery(StoreQuery("Entry"), by: [], [.count]))
        try context.expect(
            answer == nil, "no answer to an aggregation, since aggregates are not claimed",
            found: "\(answer?.groups.count ?? 0) groups", hint: claimIt)
    }

    private static func recordVersions(_ context: CaseContext) throws {
        try context.session().store(Entry("kept"))
        let told = try context.store.recordVersions(Entry.self).filter { $0.version != 0 }
        try context.expect(
            told.isEmpty, "no versions of records, since the subject does not claim recordVersions",
            found: "\(told.map(\.version))", hint: claimIt)
    }

    private static func reopening(_ context: CaseContext) throws {
        try context.session().store(Entry("kept"))
        do {
            try context.reopen()
        } catch {
            context.note("→ \(type(of: error))")
            return
        }
        let names = try context.session().all(Entry.self).map(\.name)
        try context.expect(names, is: [], "an error or an empty store", hint: claimIt)
        let session = try context.session()
        try session.store(Entry("new"))
        try context.expect(
            try context.session().all(Entry.self).map(\.name), is: ["new"], "a store that can be used:")
    }

    /// There is nothing that a store has to refuse: it must not say that it is durable where its subject does not.
    private static func durability(_ context: CaseContext) throws {
        try context.session().store(Entry("kept"))
        try context.expect(
            !context.store.store.capabilities.contains(.durability),
            "a store that does not claim durability, since its subject does not", found: "one that claims it",
            hint: claimIt)
    }

    private static func erase(_ context: CaseContext) throws {
        try context.session().store(Entry("kept"))
        context.note("erase")
        try context.expectError(
            "DataStoreError.unsupportedFeature",
            hint: "A store that cannot erase leaves erase() to the protocol's default. \(claimIt)",
            matching: { $0 as? DataStoreError == .unsupportedFeature }
        ) { try context.container.erase() }
        try context.expect(
            try context.session().all(Entry.self).map(\.name), is: ["kept"], "the records as before:",
            hint: "The refused call did some of its work.")
    }

    private static func batchDelete(_ context: CaseContext) throws {
        try absent(context, .batchDelete, try context.store.store is any DataStoreBatching)
        let session = try context.session()
        try session.store(Entry("a", group: "x"), Entry("b", group: "y"))
        try session.context.delete(model: Entry.self, where: #Predicate { $0.group == "x" })
        try context.expect(
            try context.session().all(Entry.self).map(\.name), is: ["b"],
            "that the framework deletes what matches, and nothing else:")
    }

    private static func batchUpdate(_ context: CaseContext) throws {
        let all = StoreBatch(.query(StoreQuery("Entry", purpose: .delete)), .delete)
        try context.expectError(
            "DataStoreError.unsupportedFeature",
            hint: "A store that executes no batches leaves execute(_:) to the protocol's default. \(claimIt)",
            matching: { $0 as? DataStoreError == .unsupportedFeature }
        ) { _ = try context.store.execute(all) }
        let session = try context.session()
        try session.store(Entry("a", group: "x"), Entry("b", group: "y"))
        let count = try session.context.update(Entry.self, where: #Predicate { $0.group == "x" }) {
            $0.set(\.rank, to: 1)
        }
        try context.expect(count, is: 1, "records that the framework updates:")
        try context.expect(
            try context.session().all(Entry.self).map(\.rank), is: [1, nil],
            "that the framework updates what matches, and nothing else:")
    }

    private static func uniqueness(_ context: CaseContext) throws {
        let one = Account("same@example.com", country: "NO", number: 1)
        let other = Account("same@example.com", country: "SE", number: 2)
        do {
            try context.store.save(inserted: [one, other])
        } catch {
            throw context.failure(
                expected: "a store that accepts equal values, since it does not claim uniqueness",
                found: "\(error)", hint: claimIt)
        }
    }

    private static func referentialIntegrity(_ context: CaseContext) throws {
        let session = try context.session()
        let team = Team("gone")
        try session.store(team)
        let person = Person("Ada", team: team)
        try context.store.save(deleted: [team])
        do {
            try context.store.save(inserted: [person])
        } catch {
            throw context.failure(
                expected: "a store that accepts dangling references, since it does not claim referential integrity",
                found: "\(error)", hint: claimIt)
        }
    }

    private static func history(_ context: CaseContext) throws {
        try absent(context, .history, try context.store.store is any HistoryProviding)
        let session = try context.session()
        try session.store(Entry("a"))
        let recorded = try session.context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
        try context.expect(
            recorded.map(\.changes.count), is: [1], "that the container records one transaction with one change:")
    }
}
