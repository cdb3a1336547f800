import Foundation
import MortiseCore

extension ConformanceCase {
    private static func promise(
        _ id: String, level: Level = .core, _ requirement: String, hint: String,
        body: @escaping @Sendable (CaseContext) throws -> Void
    ) -> ConformanceCase {
        ConformanceCase(
            "planning.\(id)", level: level, capability: .queries, requirement: requirement, hint: hint, body: body)
    }

    private static func grouped(_ probe: PlanProbe, _ group: String) throws -> StoreQuery {
        StoreQuery("Entry", conjuncts: [.compare(.equal, try probe.property("group"), .constant(.string(group)))])
    }

    static let promiseCases: [ConformanceCase] = [
        promise(
            "same-plan-twice", "A query is planned alike whenever it is asked.",
            hint: "The plan depends on something that asking changes."
        ) { c in
            try storeEntries(c)
            let probe = try PlanProbe(c)
            let query = try grouped(probe, "x")
            let plan = try probe.plan(query)
            c.note("plan \(PlanProbe.text(query)), twice")
            try c.expect(try probe.plan(query) == plan, "the same plan", found: "another one")
        },
        promise(
            "planning-changes-nothing", "A plan that is never carried out leaves everything as it was.",
            hint: "plan(_:) does what only rows(for:) may do."
        ) { c in
            try storeEntries(c)
            let probe = try PlanProbe(c)
            for purpose in [StoreQuery.Purpose.delete, .rows, .count] {
                c.note("plan a query for \(purpose), and leave it")
                _ = try probe.plan(StoreQuery("Entry", purpose: purpose))
            }
            try c.expect(try c.session().all(Entry.self).count, is: 6, "entries:")
        },
        promise(
            "subentities", "Rows of a superentity include those of its subentities, in identity order.",
            hint: "Only one entity's records are looked at, or one entity after the other."
        ) { c in
            try c.session().store(Truck("T", load: 1), Vehicle("V", wheels: 2), Truck("U", load: 2))
            let probe = try PlanProbe(c)
            try probe.check(StoreQuery("Vehicle"))
            try probe.check(
                StoreQuery(
                    "Vehicle",
                    conjuncts: [.compare(.greater, try probe.property("wheels", of: "Vehicle"), .constant(.integer(1)))]
                ))
        },
        promise(
            "without-subentities", "Rows of an entity without its subentities are its own only.",
            hint: "includesSubentities is not looked at."
        ) { c in
            try c.session().store(Truck("T", load: 1), Vehicle("V", wheels: 2))
            try PlanProbe(c).check(StoreQuery("Vehicle", includesSubentities: false))
        },
        promise(
            "rows-of-the-entity", "No row is of another entity.", hint: "The wrong table is read."
        ) { c in
            try c.session().store(Team("t"), Project("p"), Person("Ada"))
            let found = try PlanProbe(c).rows(PlanProbe(c).plan(StoreQuery("Project")))
            try c.expect(found.records.map(\.entityName), is: ["Project"], "entities of the rows:")
        },
        promise(
            "empty-store", "An empty store has no rows for any query, and throws no error.",
            hint: "The first read fails before anything was written."
        ) { c in
            let probe = try PlanProbe(c)
            try probe.check(try grouped(probe, "x"))
            try probe.check(StoreQuery("Entry", order: [.init(try probe.property("name"))], limit: 1))
            try probe.check(StoreQuery("Vehicle", purpose: .count))
        },
        promise(
            "whole-records", level: .full,
            "A query that names the properties it reads gets whole records all the same.",
            hint: "Properties outside of the projection are handed out as nil."
        ) { c in
            try storeEntries(c)
            var descriptor = FetchDescriptor<Entry>(sortBy: [SortDescriptor(\.name)])
            descriptor.propertiesToFetch = [\.name]
            let found = try c.session().fetch(descriptor)
            try c.expect(
                found.map(\.group), is: ["x", "y", "y", "x", "x", "z"], "groups, which were not among the properties:")
        },
        promise(
            "scanned-rows", level: .full, "A store reports at least as many scanned rows as it returns.",
            hint: "The number is that of the last query, or 0."
        ) { c in
            try storeEntries(c)
            let probe = try PlanProbe(c)
            let found = try probe.rows(try probe.plan(try grouped(probe, "x")))
            try c.expect(
                found.scanned >= found.records.count, "\(found.records.count) rows looked at, or more",
                found: "\(found.scanned)")
        },
        promise(
            "full-scan-is-told", "A plan that looks at every record says so.",
            hint: "isFullScan is false though no index is used; callers that refuse full scans rely on it."
        ) { c in
            let a = try c.session()
            a.change("insert 100 entries") {
                for number in 0..<100 { a.context.insert(Entry("e\(number)", group: number == 50 ? "x" : "y")) }
            }
            try a.save()
            let probe = try PlanProbe(c)
            let plan = try probe.plan(try grouped(probe, "x"))
            let scanned = try probe.rows(plan).scanned
            try c.expect(
                plan.isFullScan || scanned < 100, "a plan that says to be a full scan, or looks at fewer rows",
                found: "\(scanned) of 100 rows looked at by \"\(plan.detail)\"")
        },
        promise(
            "refused-scan", level: .full,
            "If full scans are refused, the fetches that need one throw, and no others.",
            hint: "The plan has to report isFullScan before its rows are read."
        ) { c in
            try storeEntries(c)
            let probe = try PlanProbe(c)
            let isFullScan = try probe.plan(try grouped(probe, "x")).isFullScan
            let session = try c.session()
            session.context.fullScanPolicy = .refuse
            c.note("refuse full scans")
            let descriptor = FetchDescriptor<Entry>(predicate: #Predicate { $0.group == "x" })
            do {
                let found = try session.fetch(descriptor)
                try c.expect(!isFullScan, "QueryPlanError.fullScanRefused", found: "\(found.count) entries")
            } catch QueryPlanError.fullScanRefused {
                try c.expect(isFullScan, "an answer, since the plan is not a full scan", found: "fullScanRefused")
            }
        },
        promise(
            "checked-against-a-scan", "Every way of asking gives what a full scan finds.",
            hint: claimHint
        ) { c in
            try storeEntries(c)
            try c.container.verifiesPushDown = true
            c.note("compare every answer with a full scan")
            let session = try c.session()
            var descriptor = FetchDescriptor<Entry>(
                predicate: #Predicate { $0.group != "z" && $0.score < 10 },
                sortBy: [SortDescriptor(\.rank, order: .reverse), SortDescriptor(\.name)])
            for (offset, limit) in [(nil, nil), (1, 2), (nil, 3), (4, nil)] as [(Int?, Int?)] {
                descriptor.fetchOffset = offset
                descriptor.fetchLimit = limit
                _ = try session.fetch(descriptor)
                _ = try session.count(descriptor)
                _ = try session.identifiers(descriptor)
            }
        },
        promise(
            "under-unsaved-changes", "A query with unsaved changes is answered from stored records and these changes.",
            hint: "The store applied the window or the order, although changes were still to be merged in."
        ) { c in
            try storeEntries(c)
            try c.container.verifiesPushDown = true
            let session = try c.session()
            session.insert(Entry("beta", group: "x", rank: 3))
            let delta = try session.first(Entry.self, #Predicate { $0.name == "delta" })
            session.change("group of delta") { delta.group = "y" }
            var descriptor = FetchDescriptor<Entry>(
                predicate: #Predicate { $0.group == "x" }, sortBy: [SortDescriptor(\.name, order: .reverse)])
            try c.expect(
                try session.fetch(descriptor).map(\.name), is: ["charlie", "beta", "Echo"], "names:")
            descriptor.fetchLimit = 2
            try c.expect(try session.fetch(descriptor).map(\.name), is: ["charlie", "beta"], "the first two:")
        },
        promise(
            "after-an-update", "A changed record is found by its new values, and not by its old ones.",
            hint: "The update did not reach an index."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            let delta = try a.first(Entry.self, #Predicate { $0.name == "delta" })
            a.change("group and rank of delta") {
                delta.group = "w"
                delta.rank = -100
            }
            try a.save()
            let probe = try PlanProbe(c)
            for group in ["w", "x"] { try probe.check(try grouped(probe, group)) }
            try probe.check(StoreQuery("Entry", order: [.init(try probe.property("rank"))], limit: 3))
        },
        promise(
            "after-a-deletion", "A deleted record is in no rows.", hint: "The deletion did not reach an index."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            a.delete(try a.first(Entry.self, #Predicate { $0.name == "charlie" }))
            try a.save()
            try c.expect(
                try c.session().fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.group == "x" })).map(\.name),
                is: ["delta", "Echo"], "names in the group:")
            try c.expect(
                try c.session().count(FetchDescriptor<Entry>(predicate: #Predicate { $0.rank == 2 })), is: 0,
                "count by the deleted record's rank:")
        },
        promise(
            "code-is-not-claimed", "A condition that only the program's own code can evaluate is not claimed.",
            hint: "Claim nothing whose needsModels is true."
        ) { c in
            try storeItems(c)
            let probe = try PlanProbe(c)
            let plan = try probe.plan(StoreQuery("Item", conjuncts: [.onModels(id: 0, text: "code")]))
            try c.expect(
                plan.claim(of: plan.query.conjuncts[0]) == .residual, "a residual condition",
                found: "\(plan.claim(of: plan.query.conjuncts[0]))")
        },
        promise(
            "order-by-code-is-not-claimed", level: .full, "An order by the program's own code is not claimed.",
            hint: "Claim no order with a key whose needsModels is true."
        ) { c in
            try storeItems(c)
            let plan = try PlanProbe(c).plan(StoreQuery("Item", order: [.init(.onModels(id: 0, text: "code"))]))
            try c.expect(plan.order != .total, "an order that is not claimed", found: "\(plan.order)")
        },
        promise(
            "unlimited-window-under-a-residual", "A store takes no window of rows that the framework still filters.",
            hint: "Claim the window only where every condition is exact and the order total."
        ) { c in
            try storeItems(c)
            let probe = try PlanProbe(c)
            let query = StoreQuery("Item", conjuncts: [.onModels(id: 0, text: "code")], limit: 1)
            let plan = try probe.plan(query)
            try c.expect(!plan.appliesLimit, "a window that is left to the framework", found: "one that is taken")
            try c.expect(try probe.rows(plan).records.count >= 8, "all 8 items, or more to filter")
        },
        promise(
            "claims-are-about-the-query", "A plan claims conditions and keys that the query has, and no others.",
            hint: "Claims are numbered by something else than the conjunct's id."
        ) { c in
            try storeEntries(c)
            let probe = try PlanProbe(c)
            let query = StoreQuery(
                "Entry", conjuncts: [.compare(.equal, try probe.property("group"), .constant(.string("x")))],
                order: [.init(try probe.property("name"))])
            let plan = try probe.plan(query)
            try c.expect(
                plan.claims.keys.allSatisfy { id in query.conjuncts.contains { $0.id == id } },
                "claims for conjunct 0", found: "claims for \(plan.claims.keys.sorted())")
            if case .prefix(let count) = plan.order {
                try c.expect((0...1).contains(count), "an order of 1 key at most", found: "\(count) keys")
            }
        },
    ]

    private static let claimHint =
        "Claim a condition as exact only where the store's own evaluation agrees with QueryEvaluator for every value."
}
