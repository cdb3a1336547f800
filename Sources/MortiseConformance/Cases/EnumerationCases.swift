import Foundation
import MortiseCore

/// Enumerating many records in batches.
extension ConformanceCase {
    private static func storeBadges(_ c: CaseContext, _ count: Int) throws {
        c.note("insert \(count) badges, save")
        let context = try c.session().context
        for number in 0..<count { context.insert(Badge(number)) }
        try context.save()
    }

    static let enumerationCases: [ConformanceCase] = [
        ConformanceCase(
            "fetch.enumerates-across-batches", level: .core,
            requirement: "enumerate(_:batchSize:) visits every record once and in order, wherever batches end.",
            hint: "The first or last record of a page is lost or comes twice."
        ) { c in
            let count = 300
            try storeBadges(c, count)
            for size in [1, 7, 99, 100, 101, 150, 299, 300, 301, 5_000] {
                var visited: [Int] = []
                try c.session().context.enumerate(FetchDescriptor<Badge>(), batchSize: size) {
                    visited.append($0.number)
                }
                c.note("enumerate Badge in batches of \(size) → \(visited.count)")
                try c.expect(
                    visited == Array(0..<count), "every number once and in order",
                    found: "\(visited.count) numbers, \(Set(visited).count) different")
            }
        },
        ConformanceCase(
            "fetch.enumerates-what-was-there", level: .core,
            requirement:
                "An enumeration whose block saves visits the records that existed at its start, except deleted ones.",
            hint:
                "Places of records are kept while records before them are deleted, so that every second one is missed."
        ) { c in
            try storeBadges(c, 12)
            let a = try c.session()
            var visited: [Int] = []
            try a.context.enumerate(FetchDescriptor<Badge>(), batchSize: 3, allowEscapingMutations: true) { badge in
                visited.append(badge.number)
                a.insert(Badge(badge.number + 100))
                a.delete(badge)
                try a.save()
            }
            try c.expect(visited, is: Array(0..<12), "numbers visited:")
            try c.expect(try c.session().all(Badge.self).map(\.number), is: Array(100..<112), "numbers left:")
        },
    ]
}
