import Foundation
import MortiseCore

extension ConformanceCase {
    static let countCases: [ConformanceCase] = [
        ConformanceCase(
            "count.equals-fetch", level: .firstHour,
            requirement: "fetchCount says how many models fetch returns, before and after every kind of change.",
            hint:
                "The count comes from elsewhere than the records: a statistic, or rows that are only marked as deleted."
        ) { c in
            let a = try c.session()
            func check(_ expected: Int) throws {
                let b = try c.session()
                try c.expect(try b.all(Entry.self).count, is: expected, "models fetched:")
                try c.expect(try b.count(FetchDescriptor<Entry>()), is: expected, "count:")
                try c.expect(
                    try b.count(FetchDescriptor<Entry>(predicate: #Predicate { $0.group == "x" })),
                    is: try b.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.group == "x" })).count,
                    "count with a predicate:")
                try c.expect(try c.store.count(Entry.self), is: expected, "the store's own count:")
            }
            try check(0)
            let entries = [Entry("a", group: "x"), Entry("b"), Entry("c", group: "x")]
            try a.store(entries[0], entries[1], entries[2])
            try check(3)
            a.change("group of b") { entries[1].group = "x" }
            try a.save()
            try check(3)
            a.delete(entries[0])
            try a.save()
            try check(2)
        },
        ConformanceCase(
            "count.with-limit-and-offset", level: .core,
            requirement: "fetchCount honors limit and offset as fetch does.",
            hint: "The count leaves out the descriptor's limit or offset."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            for (offset, limit) in [(nil, 2), (1, 2), (4, 9), (6, 1), (99, nil), (nil, 0)] as [(Int?, Int?)] {
                for predicate in [nil, #Predicate<Entry> { $0.group == "x" }] {
                    var descriptor = FetchDescriptor<Entry>(predicate: predicate, sortBy: [SortDescriptor(\.name)])
                    descriptor.fetchOffset = offset
                    descriptor.fetchLimit = limit
                    try c.expect(
                        try a.count(descriptor), is: try a.fetch(descriptor).count,
                        "count of \(CaseSession.text(descriptor)):")
                }
            }
        },
        ConformanceCase(
            "identifiers.equal-fetch", level: .core,
            requirement: "fetchIdentifiers gives the identifiers of what fetch returns, in the same order.",
            hint: "The identifiers come from an index in another order, or from before the last save."
        ) { c in
            try storeEntries(c)
            let a = try c.session()
            for order in [[], [SortDescriptor(\Entry.name)], [SortDescriptor(\Entry.rank, order: .reverse)]] {
                var descriptor = FetchDescriptor<Entry>(predicate: #Predicate { $0.group != "z" }, sortBy: order)
                descriptor.fetchLimit = 4
                try c.expect(
                    try a.identifiers(descriptor), is: try a.fetch(descriptor).map(\.persistentModelID),
                    "identifiers of \(CaseSession.text(descriptor)):")
            }
            try c.expect(
                try c.store.identifiers(Entry.self), is: try c.store.records(Entry.self).map(\.identifier),
                "the store's own identifiers:")
        },
        ConformanceCase(
            "count.of-a-superclass", level: .core,
            requirement: "Counts and identifiers of a superclass include its subclasses' records, once each.",
            hint: "The count looks at one entity's records where fetch looks at a family's."
        ) { c in
            try c.session().store(Vehicle("V", wheels: 2), Truck("T", load: 1), Truck("U", load: 2))
            try c.expect(try c.store.count(Vehicle.self), is: 3, "the store's own count of vehicles:")
            try c.expect(try c.store.count(Truck.self), is: 2, "the store's own count of trucks:")
            try c.expect(Set(try c.store.identifiers(Vehicle.self)).count, is: 3, "different identifiers of vehicles:")
            try c.expect(try c.store.records(Vehicle.self).count, is: 3, "the store's own records of vehicles:")
        },
    ]
}
