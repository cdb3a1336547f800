import Foundation
import Mortise

extension Row {
    private static let bareObjects = "allocation of bare objects"

    static var fetchAll: Row {
        Row(
            name: "fetch-all", title: "fetch all into registered models", unit: "record",
            targets: [
                .faster(than: grdb, times: 3, fromRecords: 100_000),
                .faster(than: grdbCodable, times: 10, fromRecords: 100_000),
                .ratio(to: bareObjects, atMost: 5, fromRecords: 100_000), flat,
            ]
        ) { fixture in
            let container = try fixture.savedContainer()
            return [
                Way(name: memory, units: fixture.records) {
                    let context = ModelContext(container)
                    return {
                        let trips = try context.fetch(FetchDescriptor<Trip>())
                        return { trips.count }
                    }
                },
                Way(name: bareObjects, units: fixture.records) {
                    {
                        let objects = fixture.trips.indices.map { BareObject(table: container, row: $0) }
                        return { objects.count }
                    }
                },
                Way(name: objects, units: fixture.records) {
                    {
                        let objects = fixture.trips.map { TripObject($0) }
                        return { objects.count }
                    }
                },
            ] + (try fixture.peers.ways(.fetchAll))
        }
    }

    /// A model is made when it is fetched and reads its values when it is asked for them; here it is asked.
    static var readAll: Row {
        Row(
            name: "fetch-read", title: "fetch all and read a number and two strings of each", unit: "record",
            targets: [flat]
        ) { fixture in
            let container = try fixture.savedContainer()
            return [
                Way(name: memory, units: fixture.records) {
                    let context = ModelContext(container)
                    return {
                        let trips = try context.fetch(FetchDescriptor<Trip>())
                        let sum = trips.reduce(0) {
                            $0 + Int($1.price) + $1.name.utf8.count + $1.note.utf8.count
                        }
                        return { trips.isEmpty ? 0 : sum }
                    }
                },
                Way(name: objects, units: fixture.records) {
                    {
                        let objects = fixture.trips.map { TripObject($0) }
                        let sum = objects.reduce(0) { $0 + $1.values.checkSum }
                        return { objects.isEmpty ? 0 : sum }
                    }
                },
            ] + (try fixture.peers.ways(.readAll))
        }
    }

    /// The two clauses of `filter` and `count`: one record in about 200 meets both.
    private static var clauses: (destination: String, price: Double) {
        (TripValues.destinationNames()[17], TripValues.highestPrice * 0.95)
    }

    static var filter: Row {
        Row(
            name: "filter", title: "filter by two clauses, no index, 0.5% hits, to models", unit: "record",
            targets: [
                .faster(than: grdb, times: 30, fromRecords: 100_000),
                .ratio(to: columnLoop, atMost: 4, fromRecords: 100_000), flat,
            ]
        ) { fixture in
            let container = try fixture.unindexedContainer()
            let columns = TripColumns(fixture.trips)
            let (destination, price) = clauses
            return [
                Way(name: memory, units: fixture.records) {
                    let context = ModelContext(container)
                    return {
                        let trips = try context.fetch(
                            FetchDescriptor<UnindexedTrip>(
                                predicate: #Predicate { $0.destination == destination && $0.price < price }))
                        return { trips.count }
                    }
                },
                Way(name: columnLoop, units: fixture.records) {
                    {
                        let code = columns.code(of: destination)
                        var hits: [BareObject] = []
                        for row in columns.prices.indices
                        where columns.destinationCodes[row] == code && columns.prices[row] < price {
                            hits.append(BareObject(table: columns, row: row))
                        }
                        return { hits.count }
                    }
                },
                Way(name: structs, units: fixture.records) {
                    {
                        let hits = fixture.trips.filter { $0.destination == destination && $0.price < price }
                        return { hits.count }
                    }
                },
            ] + (try fixture.peers.ways(.filter(destination: destination, price: price)))
        }
    }

    static var count: Row {
        Row(
            name: "count", title: "count by two clauses, no index", unit: "record",
            targets: [
                .faster(than: grdb, times: 50, fromRecords: 100_000),
                .ratio(to: columnLoop, atMost: 3, fromRecords: 100_000), flat,
            ]
        ) { fixture in
            let container = try fixture.unindexedContainer()
            let columns = TripColumns(fixture.trips)
            let (destination, price) = clauses
            return [
                Way(name: memory, units: fixture.records) {
                    let context = ModelContext(container)
                    return {
                        let count = try context.fetchCount(
                            FetchDescriptor<UnindexedTrip>(
                                predicate: #Predicate { $0.destination == destination && $0.price < price }))
                        return { count }
                    }
                },
                Way(name: columnLoop, units: fixture.records) {
                    {
                        let code = columns.code(of: destination)
                        var count = 0
                        for row in columns.prices.indices
                        where columns.destinationCodes[row] == code && columns.prices[row] < price {
                            count += 1
                        }
                        return { [count] in count }
                    }
                },
                Way(name: structs, units: fixture.records) {
                    {
                        let count = fixture.trips.count { $0.destination == destination && $0.price < price }
                        return { count }
                    }
                },
            ] + (try fixture.peers.ways(.count(destination: destination, price: price)))
        }
    }
}
