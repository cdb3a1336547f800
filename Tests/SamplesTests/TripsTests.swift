import Testing

/// The tour says what it always says, step by step.
struct TripsTests {
    @Test func everyStepSaysWhatItDid() async throws {
        let outcome = try await SampleProgram.trips.run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        let expected = #"""
            insert: 1 pending before the save, has changes after it: false
            fetch: the next two for at most 1500 euros are Porto and Chamonix
            count: 1 of 4 trips is tagged hiking
            update: 1 changed; Long weekend now costs 449.5 euros, tags seaside
            relationships: the train stops in Salzburg; Ben is on ["Across the Alps", "Night train"]
            to-many predicate: stays of five nights and more: ["Across the Alps", "Northern lights"]
            delete rules: 2 stops went with the trip, 2 travelers stayed
            unique: 2 travelers before, 2 after: ["Ada Lovelace", "Ben"]
            observation: a property that was read is about to change
            rollback: price as it was: true, has changes: false
            transaction: saved: true, stops ["Linz", "Salzburg"]
            failed transaction: 690 euros are missing; the price is still 310
            model actor: 50 trips planned in the background, the last is Week 50
            identifiers: the same trip in the main context starts on 2028-02-07T00:00:00Z
            """#
        #expect(outcome.output.split(separator: "\n") == expected.split(separator: "\n"))
    }
}
