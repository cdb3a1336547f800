import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model private final class Article {
    #Index<Article>([\.publishedAt], [\.date])
    var number: Int
    var publishedAt: Date?
    var date: Date
    init(_ number: Int, _ publishedAt: Date?, _ date: Date) {
        (self.number, self.publishedAt, self.date) = (number, publishedAt, date)
    }
}

/// The first models of an order, where a condition has an index as well.
@Suite struct OrderedFetchTests {
    /// Bug: nearly all rows were read and sorted because of a condition that nearly all meet.
    @Test(arguments: ["memory", "json", "log"]) func aConditionThatMostMeetLeavesTheOrdersIndex(_ kind: String) throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let container = try ModelContainer(
            for: Article.self, store: kind == "memory" ? "memory:\(UUID())" : "\(kind):\(folder.path("a.\(kind)"))")
        let context = ModelContext(container)
        let count = 10_000
        let dates = (0..<count).shuffled(using: &random).map { Date(timeIntervalSinceReferenceDate: Double($0)) }
        func fill(_ isPublished: (Int) -> Bool) throws {
            try context.delete(model: Article.self)
            for (number, date) in dates.enumerated() {
                context.insert(Article(number, isPublished(number) ? date.addingTimeInterval(5) : nil, date))
            }
            try context.save()
        }
        var newest = FetchDescriptor<Article>(
            predicate: #Predicate { $0.publishedAt != nil }, sortBy: [SortDescriptor(\.date, order: .reverse)])
        newest.fetchLimit = 20
        newest.fetchOffset = 3
        newest.fullScanPolicy = .refuse
        func expected() throws -> [Int] {
            Array(
                try context.fetch(FetchDescriptor<Article>()).filter { $0.publishedAt != nil }
                    .sorted { $0.date > $1.date }.dropFirst(3).prefix(20).map(\.number))
        }
        try fill { $0 % 3 != 0 }
        #expect(try context.fetch(newest).map(\.number) == expected())
        var found = try context.explain(newest)
        #expect(found.rowsScanned < 200 && found.rowsReturned == 20 && !found.isFullScan, "seed \(seed): \(found)")
        #expect(found.detail == "index Article(date) in order")
        // Few that match are found by the condition.
        try fill { $0 < 200 }
        #expect(try context.fetch(newest).map(\.number) == expected())
        found = try context.explain(newest)
        #expect(found.rowsScanned == 200 && found.rowsReturned == 20 && !found.isFullScan, "seed \(seed): \(found)")
        // Those that match may be the last ones: then it is no more than an eighth in vain.
        let oldest = Set((0..<count).filter { dates[$0].timeIntervalSinceReferenceDate < 3_000 })
        try fill { oldest.contains($0) }
        #expect(try context.fetch(newest).map(\.number) == expected())
        found = try context.explain(newest)
        #expect(found.rowsScanned <= 3_000 + count / 8 && found.rowsReturned == 20, "seed \(seed): \(found)")
    }
}
