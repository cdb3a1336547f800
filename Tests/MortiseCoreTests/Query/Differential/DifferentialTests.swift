import Foundation
import MortiseCore
import Testing

/// Random queries over random records, asked of Foundation's own evaluation and of every way a fetch can take.
@Suite struct DifferentialTests {
    @Test func everyWayFindsTheSameRowsInTheSameOrder() throws {
        let environment = ProcessInfo.processInfo.environment
        let wanted = environment["MORTISE_QUERIES"].flatMap(Int.init) ?? 1_000
        let seed = environment["MORTISE_SEED"].flatMap(UInt64.init) ?? 20_261_121
        var queries = 0
        var differences = 0
        var dataSeed = seed
        while queries < wanted, differences < 5 {
            let data = QueryData(seed: dataSeed)
            let worlds = try QueryWorld.all(data)
            for index in 0..<min(50, wanted - queries) {
                let query = RandomQuery(seed: dataSeed &* 1_000 &+ UInt64(index))
                queries += 1
                guard let difference = query.difference(in: worlds) else { continue }
                differences += 1
                Issue.record("seed \(seed): \(Shrinking.smallest(query, data, difference))")
            }
            dataSeed += 1
        }
        print("differential: seed \(seed), \(queries) queries, \(differences) differences")
    }
}
