import Foundation
import Mortise

extension Row {
    private static let foundation = "Predicate.evaluate"

    /// The two clauses of `filter`, evaluated for every record and nothing else: no scan, no models made.
    static var evaluate: Row {
        Row(
            name: "evaluate", title: "evaluate two clauses in memory", unit: "record",
            targets: [.ratio(to: foundation, atMost: 0.1, fromRecords: 10_000)]
        ) { fixture in
            let container = try fixture.savedContainer()
            let (destination, price) = (TripValues.destinationNames()[17], TripValues.highestPrice * 0.95)
            guard let store: any VersionedDataStore = container.store(InMemoryStore.self) else { return [] }
            let version = store.currentVersion
            return [
                Way(name: memory, units: fixture.records) {
                    let schema = container.schema.stored
                    let reader = RecordReader(schema: schema, layouts: schema.recordLayouts()) {
                        version.rows(ofEntity: $0)
                    }
                    guard let table = reader.table(named: "Trip"), let layout = reader.layout(of: "Trip") else {
                        throw DataStoreError.unsupportedFeature
                    }
                    func property(_ name: String) -> QueryExpression {
                        .property(
                            .variable(0), QueryProperty(entity: "Trip", name: name, slot: layout.slot(named: name) ?? 0)
                        )
                    }
                    let filter = CompiledFilter(
                        [
                            .compare(.equal, property("destination"), .constant(.string(destination))),
                            .compare(.less, property("price"), .constant(.double(price))),
                        ], reader: reader, table: table)
                    let records = fixture.records
                    return {
                        var count = 0
                        for row in 0..<records where try filter.matches(RecordReference(table: table, row: row)) {
                            count += 1
                        }
                        return { [count] in count }
                    }
                },
                Way(name: foundation, units: fixture.records) {
                    let trips = try ModelContext(container).fetch(FetchDescriptor<Trip>())
                    let predicate = #Predicate<Trip> { $0.destination == destination && $0.price < price }
                    return {
                        var count = 0
                        for trip in trips where try predicate.evaluate(trip) { count += 1 }
                        return { [count] in count }
                    }
                },
            ]
        }
    }
}
