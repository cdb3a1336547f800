import Foundation
import MortiseCore
import MortiseInMemory
import PackageTestSupport
import Testing

/// Aggregates against plain Swift over the models that the same fetch returns: on an engine that calculates itself, on one
/// that hands out rows, and on a store of snapshots.
@Suite struct AggregateTests {
    @Test(arguments: 0..<(isFullSize ? 60 : 20) as Range<UInt64>)
    func theyAreWhatPlainSwiftMakesOfTheFetchedModels(number: UInt64) throws {
        let seed = testSeed() &+ number
        for world in try QueryWorld.all(QueryData(seed: seed), hasIndexes: true) {
            world.container.verifiesPushDown = world.name == "engine"
            let context = world.context
            for includesChanges in [true, false] {
                var items = FetchDescriptor<Item>(predicate: #Predicate { $0.size > -3 })
                items.includePendingChanges = includesChanges
                try check(items, in: context, "\(world.name), seed \(seed)")
                var specials = FetchDescriptor<Special>()
                specials.includePendingChanges = includesChanges
                try check(specials, in: context, "\(world.name), seed \(seed)")
                var few = FetchDescriptor<Item>(sortBy: [SortDescriptor(\.size, order: .reverse)])
                few.fetchLimit = 5
                few.fetchOffset = 1
                few.includePendingChanges = includesChanges
                try check(few, in: context, "\(world.name), seed \(seed), few")
            }
        }
    }

    private func check<T: Item>(_ descriptor: FetchDescriptor<T>, in context: ModelContext, _ place: String) throws {
        // With unsaved changes left out the models still show them, so only a context without changes can be compared.
        let reading = descriptor.includePendingChanges ? context : ModelContext(context.container)
        let models = try reading.fetch(descriptor)
        let comment = Comment(rawValue: place)

        let (count, sizes, ranks, weights) = try reading.aggregate(
            descriptor, .count, .sum(\.size), .sum(\.rank), .sum(\.weight))
        #expect(count == models.count, comment)
        #expect(sizes == models.reduce(0) { $0 + $1.size }, comment)
        #expect(ranks == models.compactMap(\.rank).reduce(0, +), comment)
        #expect(isSame(weights, models.reduce(0) { $0 + $1.weight }), comment)

        let (size, rank, ratio) = try reading.aggregate(
            descriptor, .average(\.size), .average(\.rank), .average(\.ratio))
        #expect(isSame(size, average(models.map { Double($0.size) })), comment)
        #expect(isSame(rank, average(models.compactMap(\.rank).map(Double.init))), comment)
        #expect(isSame(ratio, average(models.compactMap(\.ratio))), comment)

        let (least, greatest, shares) = try reading.aggregate(
            descriptor, .minimum(\.ratio), .maximum(\.weight), .sum(\.share))
        #expect(isSame(least, extreme(models.compactMap(\.ratio), <)), comment)
        #expect(isSame(greatest, extreme(models.map(\.weight), >)), comment)
        #expect(isSame(Double(shares), Double(models.reduce(0) { $0 + $1.share })), comment)

        let (name, note, day) = try reading.aggregate(
            descriptor, .minimum(\.name), .maximum(\.note), .maximum(\.day))
        #expect(name == models.map(\.name).min(), comment)
        #expect(note == models.compactMap(\.note).max(), comment)
        let days = models.compactMap(\.day).map(\.timeIntervalSinceReferenceDate)
        #expect(isSame(day?.timeIntervalSinceReferenceDate, extreme(days, >)), comment)
        #expect(try reading.aggregate(descriptor, .sum(\.amount)) == models.reduce(0) { $0 + $1.amount }, comment)

        try checkGroups(descriptor, in: reading, models, comment)
    }

    private func checkGroups<T: Item>(
        _ descriptor: FetchDescriptor<T>, in context: ModelContext, _ models: [T], _ comment: Comment
    ) throws {
        let byName = try context.aggregate(descriptor, by: \.name, .count, .sum(\.size))
        let names = Dictionary(grouping: models, by: \.name)
        #expect(byName.map(\.key) == names.keys.sorted(), comment)
        for (name, (count, size)) in byName {
            #expect(count == names[name]?.count, comment)
            #expect(size == names[name]?.reduce(0) { $0 + $1.size }, comment)
        }
        let byRank = try context.aggregate(descriptor, by: \.rank, .maximum(\.size))
        let ranks = Dictionary(grouping: models, by: \.rank)
        let sorted: [Int?] = ranks.keys.sorted { (first: Int?, second: Int?) in (first ?? .min) < (second ?? .min) }
        #expect(byRank.map(\.key) == sorted, comment)
        for group in byRank { #expect(group.values == ranks[group.key]?.map(\.size).max(), comment) }
        let byTone = try context.aggregate(descriptor, by: \.tone, .count)
        #expect(byTone.map(\.key) == Set(models.map(\.tone)).sorted { $0.rawValue < $1.rawValue }, comment)
    }

    // MARK: Rules of their own

    private func items(_ values: [(inout ItemValues) -> Void]) throws -> ModelContext {
        var data = QueryData(seed: 0)
        data.boxes = []
        data.changes = []
        data.items = values.enumerated().map { serial, change in
            var item = ItemValues()
            item.serial = serial
            change(&item)
            return item
        }
        return try QueryWorld("engine", InMemoryConfiguration(), data).context
    }

    @Test func nothingHasACountAndSumsOfZeroAndNoLeastValue() throws {
        let context = try items([])
        let (count, sum, average, least) = try context.aggregate(
            FetchDescriptor<Item>(), .count, .sum(\.weight), .average(\.size), .minimum(\.name))
        #expect(count == 0)
        #expect(sum == 0)
        #expect(average == nil)
        #expect(least == nil)
        #expect(try context.aggregate(FetchDescriptor<Item>(), by: \.name, .count).isEmpty)
    }

    @Test func aSumThatItsTypeCannotHoldThrowsAndOneThatOnlyPassesThroughSuchAValueDoesNot() throws {
        let tooMuch = try items([{ $0.tiny = 100 }, { $0.tiny = 100 }])
        #expect(throws: QueryEvaluationError.arithmeticOverflow(expression: "sum of tiny")) {
            try tooMuch.aggregate(FetchDescriptor<Item>(), .sum(\.tiny))
        }
        let through = try items([{ $0.size = .max }, { $0.size = 1 }, { $0.size = -1 }])
        #expect(try through.aggregate(FetchDescriptor<Item>(), .sum(\.size)) == Int.max)
        #expect(try tooMuch.aggregate(FetchDescriptor<Item>(), .average(\.tiny)) == 100)
        let unsigned = try items([{ $0.big = .max }, { $0.big = nil }])
        #expect(try unsigned.aggregate(FetchDescriptor<Item>(), .sum(\.big)) == UInt64.max)
    }

    @Test func nanIsTheLeastOnlyWhereThereIsNothingElse() throws {
        let mixed = try items([{ $0.weight = .nan }, { $0.weight = 2 }, { $0.weight = 1 }])
        #expect(try mixed.aggregate(FetchDescriptor<Item>(), .minimum(\.weight)) == 1)
        #expect(try mixed.aggregate(FetchDescriptor<Item>(), .sum(\.weight)).isNaN)
        let alone = try items([{ $0.weight = .nan }])
        #expect(try alone.aggregate(FetchDescriptor<Item>(), .maximum(\.weight))?.isNaN == true)
    }

    @Test func allNaNAndBothZerosAreOneGroupEach() throws {
        let context = try items([
            { $0.weight = .nan }, { $0.weight = -.nan }, { $0.weight = 0 }, { $0.weight = -0.0 }, { $0.weight = 1 },
        ])
        let groups = try context.aggregate(FetchDescriptor<Item>(), by: \.weight, .count)
        #expect(groups.map(\.values) == [2, 2, 1])
        #expect(groups[0].key.isNaN)
        #expect(groups[1].key == 0)
    }

    @Test func aKeyPathToWhatIsNotStoredThrows() throws {
        let context = try items([])
        #expect {
            try context.aggregate(FetchDescriptor<Item>(), .maximum(\.hashValue))
        } throws: { error in
            guard case AggregateError.notStored(let entity, _) = error else { return false }
            return entity == "Item"
        }
    }

    @Test func aFullScanCanBeRefused() throws {
        let context = try items([{ $0.tiny = 1 }])
        var descriptor = FetchDescriptor<Item>(predicate: #Predicate { $0.tiny > 0 })
        descriptor.fullScanPolicy = .refuse
        #expect(throws: QueryPlanError.self) { try context.aggregate(descriptor, .count) }
    }

    // MARK: Plain Swift

    private func isSame(_ a: Double?, _ b: Double?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a == b || (a.isNaN && b.isNaN)
    }

    private func average(_ numbers: [Double]) -> Double? {
        numbers.isEmpty ? nil : numbers.reduce(0, +) / Double(numbers.count)
    }

    private func extreme(_ numbers: [Double], _ precedes: (Double, Double) -> Bool) -> Double? {
        let real = numbers.filter { !$0.isNaN }
        return real.min(by: precedes) ?? numbers.first
    }
}
