import Testing
import PackageTestSupport

@testable import MortiseCore

/// Windows of live results against sorting everything again.
@Suite struct LiveOrderTests {
    private static let programs = isFullSize ? 2000 : 50

    @Test func aWindowShowsWhatSortingAgainShows() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        var (refills, steps) = (0, 0)
        for program in 0..<Self.programs {
            var world = World(&random)
            for _ in 0..<100 {
                if let fault = world.step(&random) {
                    Issue.record("program \(program) of seed \(seed): \(fault)")
                    break
                }
                steps += 1
            }
            refills += world.live.refills
        }
        print("\(steps) steps, \(refills) refills")
    }

    /// Rows with keys, of which those with an even key match.
    private struct World {
        var keys: [UInt32: Double] = [:]
        var live: LiveOrder
        var next: UInt32 = 0
        let distinct: Int

        init(_ random: inout SeededGenerator) {
            distinct = random.pick([2, 10, 1000])
            let limit: Int? = random.chance(4) ? nil : random.pick([0, 1, 2, 5, 40])
            let offset = random.pick([0, 0, 1, 5, 30])
            for _ in 0..<random.pick([0, 3, 30, 300]) {
                keys[next] = Double(random.below(distinct * 2))
                next += 1
            }
            live = LiveOrder([], isComplete: true, offset: offset, limit: limit)
            let all = sorted
            let rows = all.prefix(live.needed ?? .max)
            live = LiveOrder(rows, isComplete: rows.count == all.count, offset: offset, limit: limit)
        }

        func matches(_ row: UInt32) -> Bool { keys[row].map { Int($0) % 2 == 0 } ?? false }
        func precedes(_ a: UInt32, _ b: UInt32) -> Bool { (keys[a] ?? 0, a) < (keys[b] ?? 0, b) }
        var sorted: [UInt32] { keys.keys.filter(matches).sorted(by: precedes) }
        var shown: [UInt32] {
            let all = sorted
            let start = min(live.offset, all.count)
            return Array(all[start..<min(all.count, start + (live.limit ?? all.count))])
        }

        mutating func step(_ random: inout SeededGenerator) -> String? {
            let before = shown
            var entries: [LiveOrder.Entry] = []
            let known = keys.keys.sorted()
            var touched: Set<UInt32> = []
            for _ in 0..<random.pick([1, 1, 2, 10, known.count / 2]) {
                if random.chance(3) {
                    // Handles of deleted rows are used again in the same step.
                    if let old = known.isEmpty ? nil : random.pick(known), random.chance(2), !touched.contains(old) {
                        touched.insert(old)
                        keys[old] = Double(random.below(distinct * 2))
                        entries.append(.init(old: old, new: nil))
                        entries.append(.init(old: nil, new: matches(old) ? old : nil))
                        continue
                    }
                    keys[next] = Double(random.below(distinct * 2))
                    entries.append(.init(old: nil, new: matches(next) ? next : nil))
                    next += 1
                } else if let row = known.isEmpty ? nil : random.pick(known), !touched.contains(row) {
                    touched.insert(row)
                    keys[row] = random.chance(3) ? nil : Double(random.below(distinct * 2))
                    entries.append(.init(old: row, new: matches(row) ? row : nil))
                }
            }
            let (order, needed) = (sorted, live.needed ?? .max)
            var asked = 0
            let outcomes = live.take(entries, precedes: precedes) {
                asked += 1
                return LiveOrder.Refill(rows: Array(order.prefix(needed)), isComplete: order.count <= needed)
            }
            let after = live.order.snapshot[live.visible].map { $0 }
            if after != shown { return "expected \(shown), found \(after)" }
            if asked > 1 { return "asked \(asked) times" }
            // What the outcomes say is the whole difference.
            let rows = outcomes.enumerated().map { place, outcome in
                TouchedRow(identifier: ResultsChangeTests.identifier(place), old: outcome.old, new: outcome.new)
            }
            let change = ResultsChange(rows, oldCount: before.count, newCount: after.count)
            let applied = change.applied(to: before) { identifier in
                rows.first { $0.identifier == identifier }.flatMap { row in row.new.map { after[$0] } } ?? 0
            }
            return applied == after ? nil : "the outcomes lead to \(applied) instead of \(after)"
        }
    }

    @Test func aRowBehindTheMarginIsForgotten() {
        var live = LiveOrder(0..<35, isComplete: false, offset: 0, limit: 3)
        #expect(live.needed == 35)
        // Row 1 goes behind everything that is kept.
        let place = { (row: UInt32) in row == 1 ? 1000 : Int(row) }
        let outcomes = live.take(
            [.init(old: 1, new: 1)], precedes: { place($0) < place($1) },
            refill: { LiveOrder.Refill(rows: [], isComplete: false) })
        #expect(Array(live.order.snapshot[live.visible]) == [0, 2, 3])
        #expect(outcomes.count == 2 && live.refills == 0)
    }

    @Test func sectionsAreTheRunsOfTitles() {
        var runs = SectionRuns(["", "", "a", "b"])
        #expect(runs.titles == ["", "a", "b"] && runs.starts == [0, 2, 3])
        // The only row of "a" is replaced: nothing comes or goes.
        let replaced = runs.take(leaving: [2], entering: [(2, "a")])
        #expect(replaced.removed.isEmpty && replaced.inserted.isEmpty)
        let renamed = runs.take(leaving: [2], entering: [(3, "c")])
        #expect(renamed.removed == [.init(index: 1, title: "a")] && renamed.inserted == [.init(index: 2, title: "c")])
        #expect(runs.titles == ["", "b", "c"] && runs.counts == [2, 1, 1])
        let emptied = runs.take(leaving: [0, 1, 2, 3], entering: [])
        #expect(emptied.removed.count == 3 && runs.titles.isEmpty)
        let filled = runs.take(leaving: [], entering: [(0, "x"), (1, "x"), (2, "y")])
        #expect(filled.inserted.map(\.index) == [0, 1] && runs.counts == [2, 1])
    }
}
