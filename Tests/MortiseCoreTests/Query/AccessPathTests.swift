import Foundation
import Logging
import MortiseCore
import MortiseInMemory
import Testing

/// What `explain` says of indexes beside the rows that were looked at: the way that was taken, and not one thought of.
@Suite struct AccessPathTests {
    /// Charts with plays from 0 to 999 in no order, four of each; names "a0" to "a9" with the weight of their number.
    private func charts() throws -> ModelContext {
        let container = try ModelContainer(for: Schema([Chart.self]), configurations: [InMemoryConfiguration("charts")])
        container.verifiesPushDown = true
        let context = ModelContext(container)
        for number in 0..<4_000 {
            context.insert(
                Chart(
                    "a\(number % 10)", plays: number * 7 % 1_000, weight: Double(number % 400), number: number))
        }
        try context.save()
        return context
    }

    private func check(
        _ context: ModelContext, _ predicate: Predicate<Chart>, finds count: Int, by detail: String, scanning: Int,
        isFullScan: Bool = false, location: SourceLocation = #_sourceLocation
    ) throws {
        let descriptor = FetchDescriptor(predicate: predicate)
        let found = try context.explain(descriptor)
        #expect(found.detail == detail, sourceLocation: location)
        #expect(found.rowsScanned == scanning, sourceLocation: location)
        #expect(found.rowsReturned == count, sourceLocation: location)
        #expect(found.isFullScan == isFullScan, sourceLocation: location)
        #expect(try context.fetchCount(descriptor) == count, sourceLocation: location)
    }

    // MARK: One index

    @Test func whatAnIndexFindsIsAllThatIsLookedAt() throws {
        let context = try charts()
        try check(
            context, #Predicate { $0.plays == 70 }, finds: 4, by: "index Chart(plays): plays equal", scanning: 4)
        try check(
            context, #Predicate { $0.plays == 70 && $0.number > 100 }, finds: 3, by: "index Chart(plays): plays equal",
            scanning: 4)
        let (least, most) = (10, 20)
        let (ten, third, first) = (10.0, "a3", 400)
        try check(
            context, #Predicate { ($0.plays ?? -1) == 3 }, finds: 4, by: "scan of all rows", scanning: 4_000,
            isFullScan: true)
        try check(
            context, #Predicate { ($0.weight >= ten && $0.name == third) && $0.number < first }, finds: 39,
            by: "index Chart(name, weight): name equal, weight in a range", scanning: 390)
        let wanted: [Int?] = [least, most, 2_000]
        try check(
            context, #Predicate { wanted.contains($0.plays) }, finds: 8, by: "index Chart(plays): plays one of 3",
            scanning: 8)
        try check(
            context, #Predicate { $0.name.starts(with: "a7") }, finds: 400,
            by: "index Chart(name, weight): name by its beginning", scanning: 400)
        try check(
            context, #Predicate { $0.name == "b" }, finds: 0, by: "index Chart(name, weight): name equal", scanning: 0)
    }

    // MARK: Least and greatest

    @Test func leastAndGreatestValuesAreReadFromTheEndsOfAnIndex() throws {
        let context = try charts()
        let all = FetchDescriptor<Chart>()
        var found = try context.explain(all, .minimum(\.plays), .count, .maximum(\.plays))
        #expect(found.detail == "index Chart(plays): least plays; index Chart(plays): greatest plays")
        #expect(found.rowsScanned == 2 && found.rowsReturned == 1 && !found.isFullScan)
        let (least, count, greatest) = try context.aggregate(all, .minimum(\.plays), .count, .maximum(\.plays))
        #expect(least == 0 && count == 4_000 && greatest == 999)

        var some = FetchDescriptor<Chart>(predicate: #Predicate { $0.name == "a3" && $0.weight < 200 })
        some.fullScanPolicy = .refuse
        found = try context.explain(some, .maximum(\.weight))
        #expect(
            found.detail == "index Chart(name, weight): name equal, weight in a range, greatest weight")
        #expect(found.rowsScanned == 1 && found.conjuncts.allSatisfy { $0.status == .pushed })
        #expect(try context.aggregate(some, .maximum(\.weight)) == 193)

        // Other conditions are not told by the ends, and other values are in no index.
        some.predicate = #Predicate { $0.name == "a3" && $0.number > 3_000 }
        #expect(try context.explain(some, .maximum(\.weight)).detail == "index Chart(name, weight): name equal")
        #expect(try context.aggregate(some, .maximum(\.weight)) == 393)
        #expect(try context.explain(all, .maximum(\.number)).detail == "scan of all rows")
        context.insert(Chart("a", plays: -1, weight: 0, number: 0))
        found = try context.explain(all, .minimum(\.plays))
        #expect(found.mergesPendingChanges && found.rowsScanned == 4_000)
        #expect(try context.aggregate(all, .minimum(\.plays)) == -1)
    }

    // MARK: Much of a table

    @Test func aScanThatIsFasterThanTheIndexIsCalledOne() throws {
        let context = try charts()
        let most: Predicate<Chart> = #Predicate { $0.name.starts(with: "a") && $0.number != 5 }
        try check(
            context, most, finds: 3_999,
            by:
                "scan of all rows, since 4000 of 4000 would be read by index Chart(name, weight): name by its beginning",
            scanning: 4_000, isFullScan: true)
        let log = LogRecorder()
        context.container.logger = Logger(label: "test") { _ in log }
        // Checking would fetch once more.
        context.container.verifiesPushDown = false
        context.fullScanPolicy = .warn(above: 3_999)
        _ = try context.fetchCount(FetchDescriptor(predicate: most))
        _ = try context.aggregate(FetchDescriptor(predicate: most), .count)
        #expect(log.lines.count == 2)
        #expect(log.lines.allSatisfy { $0.contains("plan: scan of all rows, since 4000 of 4000") })
        #expect(log.lines.allSatisfy { $0.contains("scanned: 4000") })
    }

    @Test func whereScansAreRefusedTheIndexIsUsedHoweverMuchItFinds() throws {
        let context = try charts()
        context.fullScanPolicy = .refuse
        try check(
            context, #Predicate { $0.name >= "a1" && $0.number != 5 }, finds: 3_599,
            by: "index Chart(name, weight): name in a range", scanning: 3_600)
        try check(
            context, #Predicate { $0.name.starts(with: "a") }, finds: 4_000,
            by: "index Chart(name, weight): name by its beginning", scanning: 4_000)
        let most = FetchDescriptor<Chart>(predicate: #Predicate { $0.name >= "a1" })
        #expect(try context.aggregate(most, .count) == 3_600)
        #expect(throws: QueryPlanError.self) {
            try context.fetch(FetchDescriptor<Chart>(predicate: #Predicate { $0.number < 0 }))
        }
        // What is refused does not depend on the records.
        try context.delete(model: Chart.self, where: #Predicate { $0.name >= "a1" })
        #expect(try context.fetchCount(most) == 0)
        #expect(try context.fetchCount(FetchDescriptor<Chart>()) == 400)
        #expect(throws: QueryPlanError.self) {
            try context.fetch(FetchDescriptor<Chart>(predicate: #Predicate { $0.number < 0 }))
        }
    }

    // MARK: Several indexes

    @Test func ofSeveralIndexesTheOneTakenIsNamed() throws {
        let context = try charts()
        try check(
            context, #Predicate { $0.plays == 70 && $0.name == "a0" }, finds: 4, by: "index Chart(plays): plays equal",
            scanning: 4)
        let (third, three) = ("a3", 3.0)
        try check(
            context, #Predicate { ($0.name == third && $0.weight == three) && $0.plays != nil }, finds: 10,
            by: "index Chart(name, weight): name equal, weight equal", scanning: 10)
        let wanted: [Int?] = Array(0..<900)
        try check(
            context, #Predicate { wanted.contains($0.plays) && $0.name == "a3" }, finds: 360,
            by: "index Chart(name, weight): name equal", scanning: 400)
        let all: [Int?] = Array(0..<1_000)
        try check(
            context, #Predicate { all.contains($0.plays) && $0.name >= "a3" }, finds: 2_800,
            by: "scan of all rows, since 2800 of 4000 would be read by index Chart(name, weight): name in a range",
            scanning: 4_000, isFullScan: true)
        context.fullScanPolicy = .refuse
        try check(
            context, #Predicate { all.contains($0.plays) && $0.name >= "a3" }, finds: 2_800,
            by: "index Chart(name, weight): name in a range", scanning: 2_800)
    }

    // MARK: Orders

    @Test func theFirstRowsByInsertionAreNoScan() throws {
        let context = try charts()
        context.fullScanPolicy = .refuse
        var first = FetchDescriptor<Chart>()
        first.fetchLimit = 2
        first.fetchOffset = 1
        #expect(try context.fetch(first).map(\.number) == [1, 2])
        let found = try context.explain(first)
        #expect(found.detail == "the first rows in the order of insertion")
        #expect(!found.isFullScan && found.rowsScanned < 4_000)
    }

    @Test func aWalkThatGoesTooFarIsToldAsTheScanThatItBecomes() throws {
        let context = try charts()
        for chart in try context.fetch(FetchDescriptor<Chart>()) where chart.number >= 100 { chart.plays = 7 }
        try context.save()
        var top = FetchDescriptor<Chart>(sortBy: [SortDescriptor(\.plays, order: .reverse), SortDescriptor(\.number)])
        top.fetchLimit = 97
        // Those with most plays are few.
        var found = try context.explain(top)
        #expect(found.detail == "index Chart(plays) in order, ties by number")
        #expect(!found.isFullScan && found.rowsScanned < 110)
        // The next are nearly all.
        top.fetchLimit = 99
        let expected = Array(
            try context.fetch(FetchDescriptor<Chart>()).sorted {
                ($0.plays ?? 0, -$0.number) > ($1.plays ?? 0, -$1.number)
            }
            .map(\.number).prefix(99))
        found = try context.explain(top)
        #expect(try context.fetch(top).map(\.number) == expected)
        #expect(
            found.detail
                == "scan of all rows, since 3999 of 4000 would be read by index Chart(plays) in order, ties by number")
        #expect(found.isFullScan && found.rowsScanned == 4_000)
        top.fullScanPolicy = .refuse
        found = try context.explain(top)
        #expect(try context.fetch(top).map(\.number) == expected)
        #expect(found.detail == "index Chart(plays) in order, ties by number")
        #expect(!found.isFullScan && found.rowsScanned == 3_999)
        // A condition may hold for none of the first.
        var last = FetchDescriptor<Chart>(
            predicate: #Predicate { $0.number == 0 }, sortBy: [SortDescriptor(\.plays, order: .reverse)])
        last.fetchLimit = 1
        found = try context.explain(last)
        #expect(found.detail == "scan of all rows, after 1024 by index Chart(plays) in order")
        #expect(found.isFullScan && found.rowsScanned == 5_024 && found.rowsReturned == 1)
    }

    // MARK: Batches

    @Test func aBatchHasAPolicyOfItsOwn() throws {
        let context = try charts()
        let log = LogRecorder()
        context.container.logger = Logger(label: "test") { _ in log }
        let later: Predicate<Chart> = #Predicate { $0.number >= 3_990 }
        #expect(throws: QueryPlanError.self) {
            try context.update(Chart.self, where: later, fullScanPolicy: .refuse) { $0.set(\.plays, to: 1) }
        }
        #expect(throws: QueryPlanError.self) {
            try context.delete(model: Chart.self, where: later, fullScanPolicy: .refuse)
        }
        #expect(try context.fetchCount(FetchDescriptor<Chart>()) == 4_000)
        context.fullScanPolicy = .refuse
        #expect(throws: QueryPlanError.self) { try context.delete(model: Chart.self, where: later) }
        #expect(throws: QueryPlanError.self) {
            try context.update(Chart.self, where: later) { $0.set(\.plays, to: 1) }
        }
        let count = try context.update(Chart.self, where: later, fullScanPolicy: .warn(above: 3_999)) {
            $0.set(\.plays, to: 1)
        }
        #expect(count == 10)
        try context.delete(model: Chart.self, where: later, fullScanPolicy: .warn(above: 4_000))
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("scanned: 4000") == true)
        #expect(try context.fetchCount(FetchDescriptor<Chart>()) == 3_990)
        // An index leads to these, however many.
        #expect(
            try context.update(Chart.self, where: #Predicate { $0.name >= "a1" }) { $0.set(\.number, to: 0) } == 3_591)
    }
}
