import Foundation
import Mortise

extension Row {
    static var lookUp: Row {
        Row(
            name: "look-up", title: "look up a model by its identifier", unit: "look-up",
            targets: [.faster(than: grdbStatement, times: 5, fromRecords: 100_000), nearlyFlat]
        ) { fixture in
            let container = try fixture.savedContainer()
            let places = fixture.places(1_000)
            let identifiers = try ModelContext(container).fetchIdentifiers(FetchDescriptor<Trip>())
            let wanted = places.map { identifiers[$0] }
            let keys = places.map { fixture.trips[$0].id }
            let objects = Dictionary(uniqueKeysWithValues: fixture.trips.map { ($0.id, TripObject($0)) })
            return [
                Way(name: memory, units: wanted.count) {
                    let context = ModelContext(container)
                    return {
                        let trips = wanted.map { context.model(for: $0) as? Trip }
                        return { Set(trips.compactMap { $0?.id }).count }
                    }
                },
                Way(name: "dictionary of class instances", units: keys.count) {
                    {
                        let trips = keys.map { objects[$0] }
                        return { Set(trips.compactMap { $0?.values.id }).count }
                    }
                },
            ] + (try fixture.peers.ways(.lookUp(places: places)))
        }
    }

    static var equality: Row {
        Row(
            name: "equality", title: "fetch the one record with an indexed value", unit: "fetch",
            targets: [
                .faster(than: grdbStatement, times: 1, fromRecords: 100_000),
                .faster(than: grdbInterface, times: 8, fromRecords: 100_000), nearlyFlat,
            ]
        ) { fixture in
            let container = try fixture.savedContainer()
            let names = fixture.places(1_000).map { fixture.trips[$0].name }
            let objects = Dictionary(uniqueKeysWithValues: fixture.trips.map { ($0.name, TripObject($0)) })
            return [
                Way(name: memory, units: names.count) {
                    let context = ModelContext(container)
                    return {
                        var sum = 0
                        for name in names {
                            let found = try context.fetch(
                                FetchDescriptor<Trip>(predicate: #Predicate { $0.name == name }))
                            for trip in found { sum += Int(trip.price) }
                        }
                        return { [sum] in sum }
                    }
                },
                Way(name: "dictionary of class instances", units: names.count) {
                    {
                        let sum = names.reduce(0) { $0 + Int(objects[$1]?.values.price ?? 0) }
                        return { sum }
                    }
                },
            ] + (try fixture.peers.ways(.equality(names: names)))
        }
    }

    static var children: Row {
        Row(
            name: "children", title: "the 100 children of each of 100 parents, to registered models", unit: "parent",
            targets: [
                .faster(than: sqlite, times: 3, fromRecords: 100_000),
                .faster(than: grdb, times: 6, fromRecords: 100_000), nearlyFlat,
            ]
        ) { fixture in
            let container = try fixture.savedContainer()
            let parents = min(fixture.travelerCount, 100)
            let byTraveler = Dictionary(grouping: fixture.trips.map { TripObject($0) }) { $0.values.traveler }
            return [
                Way(name: memory, units: parents) {
                    let context = ModelContext(container)
                    var first = FetchDescriptor<Traveler>()
                    first.fetchLimit = parents
                    let travelers = try context.fetch(first)
                    return {
                        let trips = travelers.map(\.trips)
                        return { trips.reduce(0) { $0 + $1.count } }
                    }
                },
                Way(name: "dictionary of arrays of class instances", units: parents) {
                    {
                        let trips = (0..<parents).map { (byTraveler[$0] ?? []).map { $0 } }
                        return { trips.reduce(0) { $0 + $1.count } }
                    }
                },
            ] + (try fixture.peers.ways(.children(parents: parents)))
        }
    }
}
