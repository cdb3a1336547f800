import Foundation
import MortiseCore
import MortiseInMemory
import PackageTestSupport
import Testing

/// The first rows of an order, along an index that has the first of its keys.
@Suite struct SortingByIndexTests {
    private func context(_ count: Int, seed: UInt64 = 1) throws -> ModelContext {
        let container = try ModelContainer(for: Schema([Chart.self]), configurations: [InMemoryConfiguration("charts")])
        let context = ModelContext(container)
        var random = SeededGenerator(seed: seed)
        for number in 0..<count {
            let plays = random.chance(percent: 10) ? nil : random.below(max(count / 8, 2))
            context.insert(
                Chart(
                    "\(random.below(6))", plays: plays, weight: [0, -0.0, .nan, 1.5][random.below(4)], number: number))
        }
        try context.save()
        return context
    }

    private func key(_ chart: Chart) -> String { "\(chart.number)" }

    @Test func tiesAreSortedByTheOtherKeysAndExplained() throws {
        let context = try context(4_000)
        var top = FetchDescriptor<Chart>(sortBy: [
            SortDescriptor(\.plays, order: .reverse), SortDescriptor(\.number, order: .reverse),
        ])
        top.fetchLimit = 20
        top.fullScanPolicy = .refuse
        let all = try context.fetch(FetchDescriptor<Chart>())
        let expected = all.sorted {
            ($0.plays ?? -1, $0.number) > ($1.plays ?? -1, $1.number)
        }
        #expect(try context.fetch(top).map(key) == expected.prefix(20).map(key))
        top.fetchOffset = 15
        #expect(try context.fetch(top).map(key) == expected.dropFirst(15).prefix(20).map(key))
        let found = try context.explain(top)
        #expect(found.detail == "index Chart(plays) in order, ties by number descending")
        #expect(!found.isFullScan && found.orderIsPushed && found.windowIsPushed && found.rowsScanned < 100)
    }

    @Test func theIndexThatHasMostOfTheOrderIsWalked() throws {
        let context = try context(400)
        func detail(_ order: [SortDescriptor<Chart>]) throws -> String {
            var descriptor = FetchDescriptor<Chart>(sortBy: order)
            descriptor.fetchLimit = 3
            return try context.explain(descriptor).detail
        }
        let (up, down) = (SortOrder.forward, SortOrder.reverse)
        #expect(try detail([SortDescriptor(\.plays)]) == "index Chart(plays) in order")
        #expect(try detail([SortDescriptor(\.name)]) == "index Chart(name, weight) in order")
        #expect(
            try detail([SortDescriptor(\.name, order: up), SortDescriptor(\.weight, order: up)])
                == "index Chart(name, weight) in order")
        #expect(
            try detail([SortDescriptor(\.name, order: up), SortDescriptor(\.weight, order: down)])
                == "index Chart(name, weight) in order")
        #expect(
            try detail([SortDescriptor(\.name), SortDescriptor(\.weight), SortDescriptor(\.plays)])
                == "index Chart(name, weight) in order, ties by plays")
        #expect(try detail([SortDescriptor(\.number), SortDescriptor(\.plays)]) == "scan of all rows")
    }

    @Test func aRunOfTiesThatIsTooLongIsLeftToTheScan() throws {
        let context = try context(20_000, seed: 3)
        for chart in try context.fetch(FetchDescriptor<Chart>()) { chart.plays = 7 }
        try context.save()
        var top = FetchDescriptor<Chart>(sortBy: [SortDescriptor(\.plays), SortDescriptor(\.number, order: .reverse)])
        top.fetchLimit = 3
        #expect(try context.fetch(top).map(\.number) == [19_999, 19_998, 19_997])
        #expect(try context.explain(top).rowsScanned == 20_000)
    }

    /// Checked against the framework's own sorting, which the container does where it verifies what is pushed.
    @Test(arguments: 0..<4 as Range<UInt64>) func anyOrderIsThatOfTheFramework(_ number: UInt64) throws {
        let seed = testSeed() &+ number
        let context = try context(600, seed: seed)
        context.container.verifiesPushDown = true
        var random = SeededGenerator(seed: seed)
        var walked = 0
        for _ in 0..<60 {
            let order: SortOrder = random.chance(percent: 50) ? .forward : .reverse
            let other: SortOrder = random.chance(percent: 50) ? .forward : .reverse
            var keys = [
                SortDescriptor(\Chart.plays, order: order), SortDescriptor(\Chart.name, order: other),
                SortDescriptor(\Chart.weight, order: random.chance(percent: 50) ? order : other),
                SortDescriptor(\Chart.number, order: order),
            ]
            keys.shuffle(using: &random)
            var descriptor = FetchDescriptor<Chart>(sortBy: Array(keys.prefix(1 + random.below(4))))
            let least = random.below(75)
            if random.chance(percent: 40) { descriptor.predicate = #Predicate { ($0.plays ?? 0) + 0 >= least } }
            descriptor.fetchLimit = random.below(30)
            if random.chance(percent: 50) { descriptor.fetchOffset = random.below(40) }
            let found = try context.explain(descriptor)
            if found.detail.contains("in order"), found.rowsScanned < 600 { walked += 1 }
        }
        // How many are is chance; without any, nothing would be tested.
        #expect(walked > 10)
    }
}

final class Chart: PersistentModel {
    var persistentBackingData: any BackingData<Chart> = Chart.createBackingData()
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Chart.name), .init(name: "plays", keypath: \Chart.plays),
            .init(name: "weight", keypath: \Chart.weight), .init(name: "number", keypath: \Chart.number),
            .init(
                name: "Schema.Index", keypath: \Schema.encodingVersion,
                metadata: Schema.Index<Chart>([\.plays], [\.name, \.weight])),
        ]
    }
    init(backingData: any BackingData<Chart>) { persistentBackingData = backingData }
    init(_ name: String, plays: Int?, weight: Double, number: Int) {
        self.name = name
        self.plays = plays
        self.weight = weight
        self.number = number
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var plays: Int? {
        get { getValue(forKey: \.plays) }
        set { setValue(forKey: \.plays, to: newValue) }
    }
    var weight: Double {
        get { getValue(forKey: \.weight) }
        set { setValue(forKey: \.weight, to: newValue) }
    }
    var number: Int {
        get { getValue(forKey: \.number) }
        set { setValue(forKey: \.number, to: newValue) }
    }
}
