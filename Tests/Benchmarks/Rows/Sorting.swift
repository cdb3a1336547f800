import Foundation
import Mortise

extension Row {
    private static let sortingObjects = "fetching all, then sorting the objects with a closure"

    static var sortLimit: Row {
        Row(
            name: "sort-limit", title: "the first 20 by a key without index", unit: "record",
            targets: [.faster(than: grdb, times: 50, fromRecords: 100_000), flat]
        ) { fixture in
            let container = try fixture.unindexedContainer()
            return [
                Way(name: memory, units: fixture.records) {
                    let context = ModelContext(container)
                    return {
                        var first = FetchDescriptor<UnindexedTrip>(sortBy: [SortDescriptor(\.price)])
                        first.fetchLimit = 20
                        let trips = try context.fetch(first)
                        return { trips.reduce(0) { $0 + Int($1.price) } }
                    }
                },
                Way(name: structs, units: fixture.records) {
                    {
                        let limit = smallest(20, of: fixture.trips)
                        return { limit.reduce(0) { $0 + Int($1) } }
                    }
                },
            ] + (try fixture.peers.ways(.sortLimit(by: "price")))
        }
    }

    /// One pass, keeping the least.
    private static func smallest(_ count: Int, of trips: [TripValues]) -> [Double] {
        var least: [Double] = []
        for trip in trips {
            if least.count == count, let last = least.last, trip.price >= last { continue }
            let place = least.firstIndex { $0 > trip.price } ?? least.count
            least.insert(trip.price, at: place)
            if least.count > count { least.removeLast() }
        }
        return least
    }

    static var sortLimitIndexed: Row {
        Row(
            name: "sort-limit-indexed", title: "the first 20 by an indexed key", unit: "fetch",
            targets: [.independent(atMost: 1.5)]
        ) { fixture in
            let container = try fixture.savedContainer()
            let rounds = 100
            let ways = try fixture.peers.ways(.sortLimit(by: "name"))
            return [
                Way(name: memory, units: rounds) {
                    let context = ModelContext(container)
                    return {
                        var sum = 0
                        for _ in 0..<rounds {
                            var first = FetchDescriptor<Trip>(sortBy: [SortDescriptor(\.name)])
                            first.fetchLimit = 20
                            sum = try context.fetch(first).reduce(0) { $0 + Int($1.price) }
                        }
                        return { [sum] in sum }
                    }
                }
            ] + ways.map { Way(name: $0.name, units: 1, prepare: $0.prepare) }
        }
    }

    static var sortAll: Row {
        Row(
            name: "sort-all", title: "all, sorted by a key without index, to models", unit: "record",
            targets: [.faster(than: sortingObjects, times: 1, fromRecords: 100_000)]
        ) { fixture in
            let container = try fixture.unindexedContainer()
            return [
                Way(name: memory, units: fixture.records) {
                    let context = ModelContext(container)
                    return {
                        let trips = try context.fetch(
                            FetchDescriptor<UnindexedTrip>(sortBy: [SortDescriptor(\.price)]))
                        return { trips.count }
                    }
                },
                Way(name: sortingObjects, units: fixture.records) {
                    let context = ModelContext(container)
                    return {
                        var trips = try context.fetch(FetchDescriptor<UnindexedTrip>())
                        trips.sort { $0.price < $1.price }
                        return { [trips] in trips.count }
                    }
                },
                Way(name: structs, units: fixture.records) {
                    {
                        let trips = fixture.trips.sorted { $0.price < $1.price }
                        return { trips.count }
                    }
                },
            ] + (try fixture.peers.ways(.sortAll))
        }
    }
}
