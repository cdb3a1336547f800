import Foundation
import Mortise

extension Row {
    static var lookUp: Row {
        Row(name: "look-up", title: "look up a model by its identifier", unit: "look-up") { fixture in
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
            ]
        }
    }

    static var children: Row {
        Row(
            name: "children", title: "the 100 children of one parent, to registered models", unit: "parent"
        ) { fixture in
            let container = try fixture.savedContainer()
            let parents = min(fixture.travelerCount, 20)
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
            ]
        }
    }
}
