import Foundation
import Testing
import PackageTestSupport

@testable import MortiseCore

/// The laws of `ResultsChange`, on random lists.
@Suite struct ResultsChangeTests {
    private static let steps = isFullSize ? 100_000 : 1000

    /// A list, another one that some of its rows were changed, moved, removed from and inserted into, and which were touched.
    struct Step {
        var old: [Int]
        var new: [Int]
        var touched: Set<Int>
        /// The title of each row in the two lists, which are in order of title.
        var oldTitles: [Int: String] = [:]
        var newTitles: [Int: String] = [:]

        /// With titles, the rows of each list are put in order of them.
        init(_ random: inout SeededGenerator, from old: [Int], fresh: inout Int, titles: [Int: String]? = nil) {
            self.old = old
            new = []
            let amount = random.pick([0, 1, 1, 2, 3, old.count])
            touched = Set((0..<amount).compactMap { _ in old.isEmpty ? nil : random.pick(old) })
            var gone = Set(touched.filter { _ in random.chance(3) })
            if random.chance(20) { gone = touched }
            var list = old.filter { !touched.contains($0) }
            var entering = touched.subtracting(gone).sorted()
            for _ in 0..<random.below(4) {
                fresh += 1
                entering.append(fresh)
                touched.insert(fresh)
            }
            // Often where another one has left.
            for row in entering.shuffled(using: &random) {
                let near = old.firstIndex(of: row) ?? random.below(list.count + 1)
                list.insert(row, at: random.chance(2) ? min(near, list.count) : random.below(list.count + 1))
            }
            new = list
            guard let titles else { return }
            oldTitles = titles
            newTitles = titles
            for row in touched where newTitles[row] == nil || random.chance(2) {
                newTitles[row] = random.pick(["", "a", "b", "c", "d"])
            }
            let place = Dictionary(uniqueKeysWithValues: list.enumerated().map { ($1, $0) })
            new.sort { (newTitles[$0] ?? "", place[$0] ?? 0) < (newTitles[$1] ?? "", place[$1] ?? 0) }
        }

        var change: ResultsChange { ResultsChange(rows, oldCount: old.count, newCount: new.count, sections: sections) }

        var rows: [TouchedRow] {
            touched.sorted().map {
                TouchedRow(
                    identifier: identifier($0), old: old.firstIndex(of: $0), new: new.firstIndex(of: $0),
                    properties: ["p\($0 % 3)"])
            }
        }

        var sections: SectionDifference {
            if oldTitles.isEmpty, newTitles.isEmpty { return SectionDifference() }
            var runs = SectionRuns(old.map { oldTitles[$0] ?? "" })
            let leaving = rows.compactMap(\.old)
            let entering = touched.compactMap { row in new.firstIndex(of: row).map { ($0, newTitles[row] ?? "") } }
            return runs.take(leaving: leaving, entering: entering.sorted { $0.0 < $1.0 }.map { ($0.0, $0.1) })
        }
    }

    static func identifier(_ number: Int) -> PersistentIdentifier {
        (try? .identifier(for: "store", entityName: "E", primaryKey: number)) ?? .temporary(entityName: "E")
    }

    private static func number(_ identifier: PersistentIdentifier) -> Int { numbers[identifier] ?? -1 }
    private static let numbers = Dictionary(
        uniqueKeysWithValues: (0...60_000).map { (identifier($0), $0) })

    @Test func appliedToTheOldListAChangeGivesTheNewOne() {
        var random = SeededGenerator(seed: testSeed())
        var (list, fresh) = (Array(0..<8), 8)
        for _ in 0..<Self.steps {
            if fresh > 59_000 { (list, fresh) = (Array(0..<8), 8) }
            if list.count > 14 { list.removeLast(6) }
            let step = Step(&random, from: list, fresh: &fresh)
            let change = step.change
            // Law 1.
            #expect(change.applied(to: step.old) { Self.number($0) } == step.new)
            // Law 2.
            let named =
                change.removed.map(\.identifier) + change.inserted.map(\.identifier)
                + (change.moved + change.updated).map(\.identifier)
            #expect(Set(named).count == named.count)
            #expect(Set(named.map(Self.number)).isSubset(of: step.touched))
            #expect((change.moved + change.updated).allSatisfy { step.new[$0.new] == step.old[$0.old] })
            // Law 3.
            #expect(change.moved.count == Self.fewestMoves(step))
            #expect(change.moved.allSatisfy { $0.isChanged })
            for list in [change.removed.map(\.index), change.inserted.map(\.index)] { #expect(list == list.sorted()) }
            for list in [change.moved.map(\.new), change.updated.map(\.new)] { #expect(list == list.sorted()) }
            list = step.new
        }
    }

    /// By trying all sets of touched rows that do not move.
    private static func fewestMoves(_ step: Step) -> Int {
        let both = step.old.filter(Set(step.new).contains)
        let touched = both.filter(step.touched.contains)
        var most = 0
        for set in 0..<(1 << min(touched.count, 14)) where set.nonzeroBitCount > most {
            let still = Set(touched.indices.filter { set >> $0 & 1 == 1 }.map { touched[$0] })
            let stays = { (row: Int) in !step.touched.contains(row) || still.contains(row) }
            if both.filter(stays) == step.new.filter({ stays($0) && both.contains($0) }) { most = set.nonzeroBitCount }
        }
        return touched.count - most
    }

    @Test func changesComposeInAnyGrouping() {
        var random = SeededGenerator(seed: testSeed())
        var (list, fresh) = (Array(0..<8), 8)
        for _ in 0..<Self.steps {
            if fresh > 59_000 { (list, fresh) = (Array(0..<8), 8) }
            if list.count > 14 { list.removeLast(6) }
            let titles = Dictionary(uniqueKeysWithValues: list.map { ($0, random.pick(["", "a", "b", "c", "d"])) })
            let hasSections = random.chance(2)
            if hasSections { list.sort { (titles[$0] ?? "", $0) < (titles[$1] ?? "", $1) } }
            let first = Step(&random, from: list, fresh: &fresh, titles: hasSections ? titles : nil)
            let second = Step(&random, from: first.new, fresh: &fresh, titles: hasSections ? first.newTitles : nil)
            let third = Step(&random, from: second.new, fresh: &fresh, titles: hasSections ? second.newTitles : nil)
            let two = second.change.following(first.change)
            #expect(two.applied(to: first.old) { Self.number($0) } == second.new)
            #expect(two.rowCount <= first.old.count + second.new.count)
            let left = third.change.following(two)
            let right = third.change.following(second.change).following(first.change)
            #expect(left == right)
            #expect(left.applied(to: first.old) { Self.number($0) } == third.new)
            if hasSections {
                let (before, after) = (
                    SectionRuns(first.old.map { first.oldTitles[$0] ?? "" }),
                    SectionRuns(third.new.map { third.newTitles[$0] ?? "" })
                )
                let direct = after.difference(from: before)
                #expect(left.removedSections == direct.removed && left.insertedSections == direct.inserted)
                #expect(left.oldSections == before && left.newSections == after)
            }
            list = third.new
        }
    }

    @Test func movesThatCancelEachOtherAreNotTold() {
        let there = ResultsChange(
            [TouchedRow(identifier: Self.identifier(0), old: 0, new: 2, isChanged: false)], oldCount: 3, newCount: 3)
        let back = ResultsChange(
            [TouchedRow(identifier: Self.identifier(0), old: 2, new: 0, isChanged: false)], oldCount: 3, newCount: 3)
        #expect(there.moved.count == 1)
        #expect(back.following(there).isEmpty)
    }

    @Test func twoRowsThatChangePlacesAreOneMove() {
        let step = ResultsChange(
            [
                TouchedRow(identifier: Self.identifier(0), old: 0, new: 1),
                TouchedRow(identifier: Self.identifier(1), old: 1, new: 0),
            ], oldCount: 2, newCount: 2)
        #expect(step.moved.count == 1 && step.updated.count == 1)
    }

    @Test func aRowThatLeavesAndComesBackMayHaveChangedInAnyProperty() {
        let left = ResultsChange([TouchedRow(identifier: Self.identifier(1), old: 1)], oldCount: 3, newCount: 2)
        let back = ResultsChange([TouchedRow(identifier: Self.identifier(1), new: 1)], oldCount: 2, newCount: 3)
        let both = back.following(left)
        #expect(both.updated == [.init(old: 1, new: 1, identifier: Self.identifier(1), properties: [])])
        #expect(both.rowCount == 1)
        let gone = left.following(back)
        #expect(gone.isEmpty)
    }

    @Test func listsDifferAsTheirTouchedRowsSay() {
        var random = SeededGenerator(seed: testSeed())
        var (list, fresh) = (Array(0..<8), 8)
        for _ in 0..<Self.steps {
            if fresh > 59_000 { (list, fresh) = (Array(0..<8), 8) }
            if list.count > 14 { list.removeLast(6) }
            let step = Step(&random, from: list, fresh: &fresh)
            let touched = Dictionary(
                uniqueKeysWithValues: step.touched.map { (Self.identifier($0), ["p\($0 % 3)"]) })
            let change = ResultsChange(
                from: step.old.map(Self.identifier), to: step.new.map(Self.identifier), touched: touched)
            #expect(change == step.change)
            // Nobody names the rows that moved.
            let unnamed = ResultsChange(
                from: step.old.map(Self.identifier), to: step.new.map(Self.identifier), touched: [:])
            #expect(unnamed.applied(to: step.old) { Self.number($0) } == step.new)
            #expect(unnamed.updated.isEmpty)
            list = step.new
        }
    }

    /// A list view with sections, which is strict about what a batch of changes may say.
    @Test func stagesAreSafeForAListView() {
        var random = SeededGenerator(seed: testSeed())
        var (list, fresh) = (Array(0..<8), 8)
        for _ in 0..<Self.steps {
            if fresh > 59_000 { (list, fresh) = (Array(0..<8), 8) }
            if list.count > 14 { list.removeLast(6) }
            let titles = Dictionary(uniqueKeysWithValues: list.map { ($0, random.pick(["", "a", "b", "c", "d"])) })
            list.sort { (titles[$0] ?? "", $0) < (titles[$1] ?? "", $1) }
            let step = Step(&random, from: list, fresh: &fresh, titles: titles)
            let change = step.change
            let stages = change.stagedForLists()
            #expect(stages.count <= 3)
            var flat = step.old
            var view = ListView(flat, step.oldTitles)
            for stage in stages {
                flat = stage.applied(to: flat) { Self.number($0) }
                view.apply(stage) { Self.number($0) }
            }
            #expect(flat == step.new)
            #expect(view.sections == ListView(step.new, step.newTitles).sections)
            #expect(view.fault == nil)
            list = step.new
        }
    }

    private struct ListView {
        var sections: [[Int]]
        var fault: String?

        init(_ rows: [Int], _ titles: [Int: String]) {
            let runs = SectionRuns(rows.map { titles[$0] ?? "" })
            sections = runs.titles.indices.map { Array(rows[runs.rows(of: $0)]) }
        }

        mutating func apply(_ change: ResultsChange, _ element: (PersistentIdentifier) -> Int) {
            var old = sections.map { $0.map(Optional.some) }
            var arriving: [IndexPath: Int] = [:]
            let goneSections = Set(change.removedSections.map(\.index))
            let newSections = Set(change.insertedSections.map(\.index))
            for row in change.removed {
                let path = change.path(of: row.index, in: .old)
                old[path[0]][path[1]] = nil
            }
            for move in change.moved {
                let (from, to) = (change.path(of: move.old, in: .old), change.path(of: move.new, in: .new))
                if goneSections.contains(from[0]) || newSections.contains(to[0]) { fault = "move across sections" }
                arriving[to] = sections[from[0]][from[1]]
                old[from[0]][from[1]] = nil
            }
            for row in change.inserted {
                arriving[change.path(of: row.index, in: .new)] = element(row.identifier)
            }
            let moved = Set(change.moved.map(\.identifier))
            if change.updated.contains(where: { moved.contains($0.identifier) }) { fault = "both moved and updated" }
            for place in goneSections where old[place].contains(where: { $0 != nil }) { fault = "a row is left behind" }
            var kept = old.indices.filter { !goneSections.contains($0) }.map { old[$0].compactMap { $0 } }
                .makeIterator()
            var new: [[Int]] = []
            let count = sections.count - goneSections.count + newSections.count
            for place in 0..<count { new.append(newSections.contains(place) ? [] : kept.next() ?? []) }
            for (path, row) in arriving.sorted(by: { $0.key < $1.key }) {
                if path[1] > new[path[0]].count {
                    fault = "a row beyond the end"
                } else {
                    new[path[0]].insert(row, at: path[1])
                }
            }
            sections = new
        }
    }

    @Test func aResetTakesTheRowsAsTheyAre() {
        let contents = ResultsContents(count: 3) { Self.identifier($0 + 5) }
        let reset = ResultsChange(contents: contents, oldCount: 2, newCount: 3)
        #expect(reset.applied(to: [1, 2]) { Self.number($0) } == [5, 6, 7])
        let later = ResultsChange([TouchedRow(identifier: Self.identifier(6), old: 1)], oldCount: 3, newCount: 2)
        let both = later.following(reset)
        #expect(both.isReset && both.oldCount == 2)
        #expect(both.applied(to: [1, 2]) { Self.number($0) } == [5, 7])
        #expect(reset.following(later).isReset)
    }

    @Test func aPositionThatAResultDoesNotHaveHasNoPath() {
        let change = ResultsChange(
            sections: SectionDifference(old: SectionRuns(["a", "a", "b"]), new: SectionRuns(["a"])), oldCount: 3,
            newCount: 1)
        #expect(change.path(of: 2, in: .old) == [1, 0])
        #expect(change.path(of: 1, in: .old) == [0, 1])
        #expect(change.path(of: 3, in: .old).isEmpty && change.path(of: -1, in: .new).isEmpty)
        #expect(ResultsChange(oldCount: 3, newCount: 1).path(of: 2, in: .old) == [0, 2])
    }
}
