import Foundation
import Mortise
import Testing

@testable import JourneysSample

/// The second and the third version of an app, on the stores that its users have.
@Suite struct JourneysTests {
    private static let files = ["trips.store", "trips.json"]

    private func open(_ url: URL, _ version: any VersionedSchema.Type) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: version == JourneysV1.self ? nil : JourneysPlan.self,
            configurations: ModelConfiguration(url: url))
    }

    private func fillFirstVersion(_ url: URL) throws -> [PersistentIdentifier] {
        let container = try open(url, JourneysV1.self)
        defer { try? container.close() }
        let context = ModelContext(container)
        let trips = [
            JourneysV1.Trip(name: "Alps", code: "A1", price: 120.5, guest: "Ada", note: "window seat"),
            JourneysV1.Trip(name: "Sea", code: "S1", price: 80.1, guest: "Bob"),
            JourneysV1.Trip(name: "Alps again", code: "A2", price: 0.29, guest: "Ada"),
            JourneysV1.Trip(name: "Sea", code: "S1", price: 80.1, guest: "Bob"),
            JourneysV1.Trip(name: "Nowhere", code: "N1", price: 1, guest: ""),
        ]
        for trip in trips {
            context.insert(trip)
            try context.save()
        }
        return trips.map(\.persistentModelID)
    }

    private func check(_ container: ModelContainer, _ identifiers: [PersistentIdentifier]) throws {
        let context = ModelContext(container)
        let journeys = try context.fetch(FetchDescriptor<Journey>())
        #expect(journeys.map(\.code) == ["A1", "S1", "A2", "N1"])
        #expect(journeys.map(\.cents) == [12_050, 8_010, 29, 100])
        #expect(journeys.map { $0.traveler?.name } == ["Ada", "Bob", "Ada", nil])
        #expect(journeys.allSatisfy { $0.status == .planned })
        let travelers = try context.fetch(FetchDescriptor<Traveler>(sortBy: [SortDescriptor(\.name)]))
        #expect(travelers.map { $0.journeys.map(\.code).sorted() } == [["A1", "A2"], ["S1"]])
        // What the first version has put into a bookmark still leads to the same trip.
        #expect(context.model(for: identifiers[0]) === journeys[0])
    }

    @Test(arguments: files) func theFirstVersionBecomesTheThirdAtOnce(_ name: String) throws {
        let sandbox = try Sandbox()
        let url = URL(fileURLWithPath: sandbox.path(name))
        let identifiers = try fillFirstVersion(url)
        let preview = try ModelContainer.migrationPreview(
            for: Schema(versionedSchema: JourneysV3.self), migrationPlan: JourneysPlan.self,
            configurations: [ModelConfiguration(url: url)])
        #expect(preview.first?.stages.map(\.to) == [Schema.Version(2, 0, 0), Schema.Version(3, 0, 0)])
        #expect(preview.first?.stages.allSatisfy { $0.refusal == nil } == true, "\(preview)")
        for _ in 0..<2 {
            let container = try open(url, JourneysV3.self)
            try check(container, identifiers)
            try container.close()
        }
    }

    @Test(arguments: files) func eachVersionIsShippedInTurn(_ name: String) throws {
        let sandbox = try Sandbox()
        let url = URL(fileURLWithPath: sandbox.path(name))
        let identifiers = try fillFirstVersion(url)
        let second = try open(url, JourneysV2.self)
        let trips = try ModelContext(second).fetch(FetchDescriptor<JourneysV2.Trip>())
        #expect(trips.map(\.note) == ["window seat", nil, nil, nil])
        try second.close()
        let third = try open(url, JourneysV3.self)
        try check(third, identifiers)
        try third.close()
        // The first version's users who go back are told, and lose nothing.
        #expect {
            try open(url, JourneysV1.self)
        } throws: { error in
            if case SwiftDataError.backwardMigration = error { true } else { false }
        }
        let again = try open(url, JourneysV3.self)
        try check(again, identifiers)
    }

    @Test func theCommandShowsWhatItWouldDoAndDoesIt() async throws {
        let sandbox = try Sandbox()
        let path = sandbox.path("trips.store")
        _ = try fillFirstVersion(URL(fileURLWithPath: path))
        let program = SampleProgram(name: "journeys")
        let preview = try await program.run(path, "--preview")
        #expect(preview.output.contains("1.0.0 to 2.0.0") && preview.output.contains("Journey renamed from Trip"))
        let outcome = try await program.run(path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(
            outcome.output.split(separator: "\n") == [
                "A1 Alps: 12050 cents, Ada", "A2 Alps again: 29 cents, Ada", "N1 Nowhere: 100 cents, nobody",
                "S1 Sea: 8010 cents, Bob",
            ])
    }
}
