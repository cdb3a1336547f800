import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model private final class Sample {
    #Index<Sample>([\.kind, \.weight, \.number], [\.weight, \.code], [\.day, \.number])
    var kind: String
    var weight: Double?
    var code: String
    var day: Date
    var number: Int
    init(_ kind: String, _ weight: Double?, _ code: String, _ day: Date, _ number: Int) {
        (self.kind, self.weight, self.code, self.day, self.number) = (kind, weight, code, day, number)
    }
}

/// Orders whose keys go in several directions, and orders behind values that a condition names, along compound indexes.
@Suite struct OrderDirectionTests {
    private static let stores = ["memory", "json", "log"]
    private static let kinds = ["a", "b", "é", "e\u{301}", "Z", "\u{212B}", ""]

    private func context(
        _ kind: String, _ folder: Folder, _ count: Int, _ random: inout SeededGenerator
    ) throws -> ModelContext {
        let context = ModelContext(
            try ModelContainer(
                for: Sample.self, store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("s.\(kind)"))"))
        for number in 0..<count {
            // Few values, so that many rows are equal in some keys.
            let weight: Double? =
                switch Int.random(in: 0..<10, using: &random) {
                case 0: nil
                case 1: .nan
                case 2: -0.0
                case 3: 0.0
                default: Double(Int.random(in: -3..<4, using: &random))
                }
            context.insert(
                Sample(
                    Self.kinds.randomElement(using: &random) ?? "", weight,
                    Self.kinds.randomElement(using: &random) ?? "",
                    Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0..<5, using: &random))),
                    Int.random(in: 0..<40, using: &random) + number % 2))
        }
        try context.save()
        return context
    }

    private func keys(_ random: inout SeededGenerator) -> [SortDescriptor<Sample>] {
        func direction() -> SortOrder { random.chance(2) ? .forward : .reverse }
        let texts: [[SortDescriptor<Sample>]] = [
            [.init(\.weight, order: direction()), .init(\.number, order: direction())],
            [.init(\.weight, order: direction()), .init(\.code, comparator: .lexical, order: direction())],
            [.init(\.day, order: direction()), .init(\.number, order: direction())],
            [
                .init(\.kind, comparator: .lexical, order: direction()), .init(\.weight, order: direction()),
                .init(\.number, order: direction()),
            ],
            [.init(\.weight, order: direction())],
            [.init(\.number, order: direction())],
            [
                .init(\.day, order: direction()), .init(\.number, order: direction()),
                .init(\.weight, order: direction()),
            ],
        ]
        return texts.randomElement(using: &random) ?? []
    }

    /// Every window of an order is that of the whole result, which is read without an index, as the same models sorted.
    @Test(arguments: stores) func windowsAreThoseOfFullSorting(_ kind: String) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let context = try context(kind, folder, 1_500, &random)
        for _ in 0..<60 {
            let order = keys(&random)
            let wanted = Self.kinds.randomElement(using: &random) ?? ""
            let number = Int.random(in: 0..<40, using: &random)
            let weight = random.chance(3) ? nil : Double(Int.random(in: -3..<4, using: &random))
            var predicate: Predicate<Sample>?
            switch Int.random(in: 0..<5, using: &random) {
            case 0: predicate = nil
            case 1: predicate = #Predicate { $0.kind == wanted }
            case 2: predicate = #Predicate { $0.kind == wanted && $0.number > number }
            case 3: predicate = #Predicate { $0.weight == weight }
            default: predicate = #Predicate { $0.number == number && $0.kind == wanted }
            }
            // Without a limit all rows are sorted, and no index is walked.
            let all = try context.fetch(FetchDescriptor<Sample>(predicate: predicate, sortBy: order))
            var window = FetchDescriptor<Sample>(predicate: predicate, sortBy: order)
            window.fetchLimit = Int.random(in: 1..<60, using: &random)
            window.fetchOffset = random.chance(2) ? 0 : Int.random(in: 0..<400, using: &random)
            let expected = all.dropFirst(window.fetchOffset ?? 0).prefix(window.fetchLimit ?? 0)
            #expect(
                try context.fetch(window).map(\.persistentModelID) == expected.map(\.persistentModelID),
                "seed \(seed): \(order) \(String(describing: predicate)) \(window.fetchOffset ?? 0)")
        }
    }

    /// The report shows that an index was walked, and how few rows were looked at.
    @Test(arguments: stores) func fewRowsAreLookedAt(_ kind: String) throws {
        var random = SeededGenerator(seed: testSeed())
        let context = try context(kind, try Folder(), 6_000, &random)
        for first in [SortOrder.forward, .reverse] {
            var mixed = FetchDescriptor<Sample>(
                sortBy: [
                    SortDescriptor(\.day, order: first),
                    SortDescriptor(\.number, order: first == .forward ? .reverse : .forward),
                ])
            mixed.fetchLimit = 20
            var found = try context.explain(mixed)
            #expect(found.rowsScanned <= 20 && !found.isFullScan, "\(found)")
            // Whole days are left out without being read.
            mixed.fetchOffset = 4_000
            mixed.fullScanPolicy = .refuse
            found = try context.explain(mixed)
            #expect(found.rowsScanned <= 20 && !found.isFullScan, "\(found)")
            for text in ["a", "é"] {
                var behind = FetchDescriptor<Sample>(
                    predicate: #Predicate { $0.kind == text },
                    sortBy: [SortDescriptor(\.weight, order: first), SortDescriptor(\.number, order: first)])
                behind.fetchLimit = 20
                found = try context.explain(behind)
                #expect(found.rowsScanned <= 20 && found.detail.contains("in order"), "\(found)")
                behind.sortBy = [SortDescriptor(\.weight, order: first), SortDescriptor(\.number, order: .forward)]
                found = try context.explain(behind)
                #expect(found.rowsScanned <= 20 && found.detail.contains("in order"), "\(found)")
            }
        }
    }
}
