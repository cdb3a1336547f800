import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model private final class Entry {
    #Index<Entry>([\.date, \.reference], [\.kind], [\.kind, \.due, \.reference])
    var date: Date
    var reference: Int
    var kind: String
    var amount: Double?
    var due: Date
    init(_ date: Date, _ reference: Int, _ kind: String, _ amount: Double?) {
        due = Date(timeIntervalSinceReferenceDate: amount == 49 ? .nan : amount ?? 0)
        (self.date, self.reference, self.kind, self.amount) = (date, reference, kind, amount)
    }
}

/// The next page of an order, and other alternatives, by an index.
@Suite struct PagesTests {
    private static let stores = ["memory", "json", "log"]

    private func container(_ kind: String, _ folder: Folder) throws -> ModelContainer {
        let container = try ModelContainer(
            for: Entry.self, store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("e.\(kind)"))")
        container.verifiesPushDown = true
        return container
    }

    private func fill(
        _ container: ModelContainer, _ count: Int, withoutNumbers: Bool = false, _ random: inout SeededGenerator
    ) throws {
        let context = ModelContext(container)
        for number in 0..<count {
            let seconds = Double(Int.random(in: 0..<(count / 4), using: &random))
            context.insert(
                Entry(
                    Date(timeIntervalSinceReferenceDate: withoutNumbers && random.chance(200) ? .nan : seconds), number,
                    ["a", "b", "c", "é", "e\u{301}"].randomElement(using: &random) ?? "a",
                    random.chance(5) ? nil : Double(Int.random(in: 0..<50, using: &random))))
        }
        try context.save()
    }

    @Test(arguments: stores) func pagesFollowEachOther(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let container = try container(kind, folder)
        try fill(container, 4_000, &random)
        let context = ModelContext(container)
        for order in [SortOrder.forward, .reverse] {
            let sort = [SortDescriptor(\Entry.date, order: order), SortDescriptor(\Entry.reference, order: order)]
            let all = try context.fetch(FetchDescriptor<Entry>(predicate: #Predicate { $0.kind != "x" }, sortBy: sort))
            var pages: [Entry] = []
            var scanned = 0
            let (past, future) = (Date.distantPast, Date.distantFuture)
            var descriptor = FetchDescriptor<Entry>(
                predicate: order == .forward ? #Predicate { $0.date >= past } : #Predicate { $0.date <= future },
                sortBy: sort)
            descriptor.fetchLimit = 100
            var isFirst = true
            while true {
                let explanation = try context.explain(descriptor)
                if !isFirst { scanned = max(scanned, explanation.rowsScanned) }
                isFirst = false
                let page = try context.fetch(descriptor)
                pages += page
                guard page.count == 100, let last = page.last else { break }
                let (date, reference) = (last.date, last.reference)
                descriptor.predicate =
                    order == .forward
                    ? #Predicate { $0.date > date || ($0.date == date && $0.reference > reference) }
                    : #Predicate { $0.date < date || ($0.date == date && $0.reference < reference) }
            }
            #expect(pages.map(\.reference) == all.map(\.reference))
            // The last pages are found otherwise, by what little is left.
            #expect(scanned < 1_000, "\(scanned)")
        }
    }

    /// However many rows agree in the first key.
    @Test(arguments: stores) func aPageCostsItsRowsAmongTies(_ kind: String) throws {
        let folder = try Folder()
        let container = try container(kind, folder)
        let context = ModelContext(container)
        let day = Date(timeIntervalSinceReferenceDate: 7)
        for number in 0..<2_000 { context.insert(Entry(day, number, "a", 3)) }
        try context.save()
        let due = Date(timeIntervalSinceReferenceDate: 3)
        let (r, kind) = (1_000, "a")
        func scanned(
            _ predicate: Predicate<Entry>, _ sort: [SortDescriptor<Entry>],
            at location: SourceLocation = #_sourceLocation
        ) throws {
            var descriptor = FetchDescriptor<Entry>(predicate: predicate, sortBy: sort)
            descriptor.fetchLimit = 20
            let explanation = try context.explain(descriptor)
            #expect(explanation.rowsScanned <= 22, "\(explanation)", sourceLocation: location)
            #expect(try context.fetch(descriptor).count == 20, sourceLocation: location)
        }
        let forward = [SortDescriptor(\Entry.date), SortDescriptor(\Entry.reference)]
        let backward = [
            SortDescriptor(\Entry.date, order: .reverse), SortDescriptor(\Entry.reference, order: .reverse),
        ]
        try scanned(#Predicate { $0.date > day || ($0.date == day && $0.reference > r) }, forward)
        try scanned(#Predicate { ($0.date == day && $0.reference > r) || $0.date > day }, forward)
        try scanned(#Predicate { $0.date >= day && ($0.date > day || $0.reference > r) }, forward)
        try scanned(#Predicate { $0.date < day || ($0.date == day && $0.reference < r) }, backward)
        try scanned(#Predicate { $0.date <= day && ($0.date < day || $0.reference < r) }, backward)
        let three = [SortDescriptor(\Entry.kind), SortDescriptor(\Entry.due), SortDescriptor(\Entry.reference)]
        try scanned(
            #Predicate { $0.kind > kind || ($0.kind == kind && ($0.due > due || ($0.due == due && $0.reference > r))) },
            three)
        try scanned(
            #Predicate {
                $0.kind > kind || ($0.kind == kind && $0.due > due)
                    || ($0.kind == kind && $0.due == due && $0.reference > r)
            },
            three)
        try scanned(#Predicate { $0.kind == kind && ($0.due > due || ($0.due == due && $0.reference > r)) }, three)
    }

    @Test(arguments: stores) func alternativesAreWhatTheyWouldBeWithoutAnIndex(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let folder = try Folder()
        let container = try container(kind, folder)
        try fill(container, 1_000, withoutNumbers: true, &random)
        let context = ModelContext(container)
        // Each answer is compared with that of the framework alone.
        for _ in 0..<150 {
            func date() -> Date {
                Date(
                    timeIntervalSinceReferenceDate: random.chance(30)
                        ? .nan : Double(Int.random(in: -5..<260, using: &random)))
            }
            let (d, e, r, k, m) = (
                date(), date(), Int.random(in: 0..<1_000, using: &random),
                ["a", "é", "q"].randomElement(using: &random) ?? "a",
                ["b", "e\u{301}"].randomElement(using: &random) ?? "b"
            )
            let predicates: [Predicate<Entry>] = [
                #Predicate { $0.date > d || ($0.date == d && $0.reference > r) },
                #Predicate { ($0.date == d && $0.reference > r) || $0.date > d },
                #Predicate { $0.date >= d && ($0.date > d || $0.reference <= r) },
                #Predicate { $0.date < d || ($0.date == e && $0.reference < r) },
                #Predicate { $0.date == d || $0.date == e },
                #Predicate { $0.kind == k || $0.kind == m },
                #Predicate { $0.kind == k || ($0.kind == m && $0.reference < r) || $0.kind == "c" },
                #Predicate { $0.kind == k || $0.reference == r },
                #Predicate { ($0.date > d && $0.date < e) || ($0.date > d && $0.kind == k) },
                #Predicate { !($0.date <= d) || ($0.date == d && $0.amount == nil) },
                #Predicate { $0.date > d || $0.date > e },
                #Predicate { ($0.amount ?? 0) > 20 || $0.date == d },
                #Predicate { $0.date >= d && ($0.date > d || $0.reference > r) },
                #Predicate { $0.date <= d && ($0.reference < r || $0.date < d) },
                #Predicate { $0.date < e && ($0.date > d || ($0.date == d && $0.reference >= r)) },
            ]
            let (due, later) = (d, e)
            let threeKeys: [Predicate<Entry>] = [
                #Predicate {
                    $0.kind > k || ($0.kind == k && ($0.due > due || ($0.due == due && $0.reference > r)))
                },
                #Predicate {
                    $0.kind < k || ($0.kind == k && $0.due < due)
                        || ($0.kind == k && $0.due == due && $0.reference <= r)
                },
                #Predicate { $0.kind == k && ($0.due > due || ($0.due == due && $0.reference > r)) },
                #Predicate { $0.kind == k && $0.due < later && ($0.due > due || ($0.due == due && $0.reference >= r)) },
                #Predicate { $0.kind > k || ($0.kind == k && $0.due >= due) },
                #Predicate { $0.kind >= k && ($0.kind > k || $0.due >= due) },
                #Predicate { $0.kind >= k && ($0.kind > k || $0.due == due) },
            ]
            var descriptor = FetchDescriptor<Entry>(
                predicate: (random.chance(2) ? predicates : threeKeys).randomElement(using: &random))
            if !random.chance(3) {
                let orders = [SortOrder.forward, .reverse]
                descriptor.sortBy = [
                    SortDescriptor(\.date, order: orders.randomElement(using: &random) ?? .forward),
                    SortDescriptor(\.reference, order: orders.randomElement(using: &random) ?? .forward),
                ]
            }
            if !random.chance(3) { descriptor.fetchLimit = Int.random(in: 0..<120, using: &random) }
            if random.chance(3) { descriptor.fetchOffset = Int.random(in: 0..<50, using: &random) }
            if random.chance(5) {
                context.insert(Entry(d, -r, k, nil))
            }
            _ = try context.fetch(descriptor)
            #expect(try context.fetchCount(descriptor) >= 0)
        }
        // Of what is least and greatest, alternatives do not say all.
        let (d, r) = (Date(timeIntervalSinceReferenceDate: 100), 10_000)
        let late = FetchDescriptor<Entry>(predicate: #Predicate { $0.date > d || ($0.date == d && $0.reference > r) })
        #expect(try context.aggregate(late, .minimum(\.date)) == context.fetch(late).map(\.date).min())
    }
}
