#if Tool
@testable import MortiseCommands
import MortiseCore
import Testing

/// What may be a rename is guessed, and only guessed.
@Suite struct RenameGuessTests {
    private func attribute(_ name: String, _ kind: StorageKind = .string, optional: Bool = true) -> StoredProperty {
        StoredProperty(name: name, isOptional: optional, content: .attribute(StoredAttribute(kind: kind)))
    }

    private func document(_ properties: [StoredProperty], entity: String = "Trip") -> SchemaDocument {
        SchemaDocument(StoredSchema(entities: [StoredEntity(name: entity, properties: properties)]))
    }

    private func guesses(
        _ old: SchemaDocument, _ new: SchemaDocument, drops: Set<String> = []
    ) -> [RenameGuess] {
        RenameGuess.all(SchemaComparison(from: old, to: new), from: old, to: new, drops: drops)
    }

    @Test(arguments: [
        ("startDate", ["start", "date"]), ("URLString", ["urlstring"]), ("price", ["price"]),
        ("is_open", ["is", "open"]),
        ("", []), ("aB", ["a", "b"]),
    ]) func aNameHasItsWords(_ name: String, _ words: [String]) {
        #expect(RenameScore.words(name) == words)
    }

    @Test func nearNamesOfOneKindAreLikely() {
        let found = guesses(
            document([attribute("note"), attribute("price", .double)]),
            document([attribute("notes"), attribute("price", .double)]))
        #expect(found.map(\.rename) == ["Trip.notes=note"])
        #expect(found.first?.isLikely == true)
    }

    @Test func otherNamesOfOneKindAreAskedAsUnlikely() {
        let found = guesses(document([attribute("cost", .double)]), document([attribute("price", .double)]))
        #expect(found.map(\.rename) == ["Trip.price=cost"])
        #expect(found.first?.isLikely == false)
        #expect((50..<80).contains(found.first?.score ?? 0))
    }

    @Test func otherKindsAreNoGuess() {
        #expect(guesses(document([attribute("note")]), document([attribute("notes", .data)])) == [])
    }

    /// One that may come from either of two is likely from neither.
    @Test func aRivalMakesAGuessUnlikely() {
        let found = guesses(document([attribute("note1"), attribute("note2")]), document([attribute("note")]))
        #expect(found.count == 1)
        #expect((80...100).contains(found.first?.score ?? 0) && found.first?.isLikely == false)
    }

    /// Two that may come from two are two questions.
    @Test func eachPairIsAQuestion() {
        let found = guesses(
            document([attribute("note1"), attribute("note2")]), document([attribute("noteA"), attribute("noteB")]))
        #expect(found.count == 2 && found.allSatisfy { !$0.isLikely })
        #expect(Set(found.map(\.old)) == ["note1", "note2"] && Set(found.map(\.new)) == ["noteA", "noteB"])
    }

    @Test func whatIsDroppedForSureIsNotAsked() {
        let (old, new) = (document([attribute("note")]), document([attribute("notes")]))
        #expect(guesses(old, new, drops: ["Trip.note"]) == [])
    }

    @Test func anEntityMayHaveAnotherName() {
        let properties = [attribute("a"), attribute("b", .double), attribute("c", .date)]
        let (old, new) = (document(properties, entity: "Journey"), document(properties, entity: "JourneyPlan"))
        #expect(guesses(old, new).map(\.rename) == ["JourneyPlan=Journey"])
        #expect(guesses(old, new, drops: ["Journey"]) == [])
    }

    // MARK: Pairs

    @Test func theBestSumIsFound() {
        // The best pair alone would leave the worst.
        #expect(Assignment.best([[90, 80], [85, 10]]).map { [$0.row, $0.column] } == [[0, 1], [1, 0]])
        #expect(Assignment.best([[1], [5], [3]]).map { [$0.row, $0.column] } == [[1, 0]])
        #expect(Assignment.best([[1, 5, 3]]).map { [$0.row, $0.column] } == [[0, 1]])
        #expect(Assignment.best([]).isEmpty)
    }

    /// Against trying every order.
    @Test func theBestSumIsThatOfAllOrders() {
        var state: UInt64 = 1
        for _ in 0..<300 {
            let size = Int(state % 4) + 1
            var scores: [[Int]] = []
            for _ in 0..<size {
                scores.append(
                    (0..<size).map { _ in
                        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                        return Int(state >> 33) % 100
                    })
            }
            let sum = Assignment.best(scores).reduce(0) { $0 + scores[$1.row][$1.column] }
            #expect(sum == best(scores, Set(0..<size)), "\(scores)")
        }
    }

    private func best(_ scores: [[Int]], _ columns: Set<Int>) -> Int {
        guard let first = scores.first else { return 0 }
        return columns.map { first[$0] + best(Array(scores.dropFirst()), columns.subtracting([$0])) }.max() ?? 0
    }

    @Test func manyNamesArePairedToo() {
        let size = 40
        let scores = (0..<size).map { row in (0..<size).map { row == $0 ? 90 : 10 } }
        #expect(Assignment.best(scores).allSatisfy { $0.row == $0.column })
    }
}
#endif
