import Foundation
import MortiseCore
import Testing

/// Random queries over random records, asked of Foundation's own evaluation and of every way a fetch can take.
@Suite struct DifferentialTests {
    /// A table in which indexes are worth their while comes once in so many.
    private static let largeTables: UInt64 = 20

    @Test func everyWayFindsTheSameRowsInTheSameOrder() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["MORTISE_QUERIES"].flatMap(Int.init) ?? 500
        let seed = environment["MORTISE_SEED"].flatMap(UInt64.init) ?? 20_261_121
        var queries = 0
        var differences = 0
        var (asked, indexed, walked) = (0, 0, 0)
        var round: UInt64 = 0
        while queries < wanted, differences < 5 {
            let dataSeed = seed &+ round
            let isLarge = round % Self.largeTables == 3
            let data = QueryData(seed: dataSeed, isLarge: isLarge)
            let hasIndexes = isLarge || round.isMultiple(of: 2)
            let worlds = try QueryWorld.all(data, hasIndexes: hasIndexes)
            for index in 0..<min(isLarge ? 25 : 50, wanted - queries) {
                let query = RandomQuery(seed: dataSeed &* 1_000 &+ UInt64(index))
                queries += 1
                if isLarge {
                    asked += 1
                    let detail = try query.detail(in: worlds[0])
                    if detail.contains("in order") { walked += 1 } else if detail.contains("index") { indexed += 1 }
                }
                guard let difference = query.difference(in: worlds) else { continue }
                differences += 1
                Issue.record(
                    "seed \(seed): \(Shrinking.smallest(query, data, hasIndexes: hasIndexes, difference))")
            }
            round += 1
        }
        // A run of 1,000 has one large table, of which few queries can be answered along an index.
        if queries >= 1_000 { #expect(indexed > 0, "no query was answered by an index") }
        print(
            "differential: seed \(seed), \(queries) queries, \(differences) differences; of \(asked) on large tables "
                + "\(indexed) by an index, \(walked) along one"
                + (queries < wanted ? "; stopped, \(wanted) were asked for" : ""))
    }
}
