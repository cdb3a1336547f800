#if Inspector
import Foundation
import MortiseCore
import Testing

/// A server that goes on, whatever happens to a request.
@Suite struct ServingTests {
    /// Who goes away in the middle of a file lets go of its thread and its store.
    @Test(.timeLimit(.minutes(15))) func anExportThatIsBrokenOffLeavesNothingBehind() throws {
        let store = try OddStore()
        // More than fits into the buffers of a connection.
        let note = String(repeating: "0123456789", count: 2_000)
        try store.insert((0..<2_000).map { OddStore.thing("Thing \($0)", ["note": .string(note)]) })
        let run = try InspectorRun([store.url])
        #expect(try run.get("/s/0/export/Thing/json").bytes.count > 40_000_000)
        func settled(_ most: Int) throws -> Int {
            let end = ContinuousClock.now + .seconds(60)
            while try run.threads() > most, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.1) }
            return try run.threads()
        }
        // Threads that end by themselves may be among the first, so more are broken off than those can be.
        let before = try run.threads()
        for _ in 0..<20 { try run.abandon("/s/0/export/Thing/csv") }
        #expect(try settled(before + 5) <= before + 5)
        #expect(try run.get("/s/0/export/Thing/jsonl?rows=3").status == 200)
        #expect(run.end() == 0)
    }

    @Test(.timeLimit(.minutes(15))) func aSlowPatternIsGivenUpAndNoSecondIsBegun() throws {
        let (store, other) = (try OddStore(), try OddStore())
        try store.insert([
            OddStore.thing(String(repeating: "a", count: 40) + "b"), OddStore.thing("Anvil"),
        ])
        try other.insert([OddStore.thing("Bellows")])
        let run = try InspectorRun([store.url, other.url])
        let slow = "name%20matches%20%22(a%2B)%2B%24%22"
        let quick = "name%20matches%20%22%5EA%22"
        #expect(try run.get("/s/0/e/Thing?where=\(quick)").body.contains("1–1 of 1"))
        let given = try run.get("/s/0/e/Thing?where=\(slow)")
        #expect(given.status == 400 && given.body.contains("took longer than"), "\(given.status)")
        // It cannot be interrupted: another one would keep another core busy.
        for path in [
            "/s/0/e/Thing?where=\(quick)", "/s/1/e/Thing?where=\(slow)", "/s/0/e/Thing?facet=name&where=\(quick)",
        ] {
            let refused = try run.get(path)
            #expect(refused.status == 503 && refused.body.contains("still being matched"), "\(path): \(refused.status)")
        }
        #expect(try run.get("/s/0/e/Thing").status == 200)
        #expect(try run.get("/s/1/e/Thing?where=name%20%3D%3D%20%22Bellows%22").body.contains("1–1 of 1"))
        #expect(run.end() == 0)
    }

    /// Each text takes less than the limit of a match, and all of them longer than that of a query.
    @Test(.timeLimit(.minutes(15))) func aQueryWithAPatternHasADeadline() throws {
        let store = try OddStore()
        try store.insert(
            (0..<20_000).map { OddStore.thing("\($0) " + String(repeating: "a", count: 16) + "b") })
        let run = try InspectorRun([store.url])
        let clock = ContinuousClock.now
        let given = try run.get("/s/0/e/Thing?where=name%20matches%20%22(a%2B)%2B%24%22")
        #expect(given.status == 400 && given.body.contains("Put conditions before it"), "\(given.status)")
        #expect(clock.duration(to: .now) < .seconds(60))
        // What is left of it ends after the match that it was at.
        let end = ContinuousClock.now + .seconds(60)
        let quick = "/s/0/e/Thing?where=name%20matches%20%22%5E7%20%22"
        while try run.get(quick).status == 503, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.1) }
        #expect(try run.get(quick).body.contains("1–1 of 1"))
        #expect(run.end() == 0)
    }
}
#endif
