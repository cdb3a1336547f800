import Foundation
import Mortise

extension Row {
    static var insert: Row {
        Row(
            name: "insert", title: "insert all and save, three indexes", unit: "record",
            targets: [
                .faster(than: grdb, times: 8, fromRecords: 100_000),
                .faster(than: sqliteMemory, times: 3, fromRecords: 100_000), flat,
            ]
        ) { fixture in
            [
                Way(name: memory, units: fixture.records) {
                    let container = try fixture.newContainer()
                    return {
                        let context = ModelContext(container)
                        fixture.insertAll(into: context)
                        try context.save()
                        return { try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) }
                    }
                },
                Way(name: objects, units: fixture.records) {
                    {
                        var objects: [TripObject] = []
                        for values in fixture.trips { objects.append(TripObject(values)) }
                        return { objects.count }
                    }
                },
                Way(name: structs, units: fixture.records) {
                    {
                        var copies: [TripValues] = []
                        for values in fixture.trips { copies.append(values) }
                        return { copies.count }
                    }
                },
            ] + (try fixture.peers.ways(.insert))
        }
    }

    /// The loop of an import, whose fetches find what the context has not saved.
    static var fetchElseInsert: Row {
        Row(
            name: "fetch-else-insert",
            title: "fetch each record by its UUID, insert it if it is missing, and save at the end",
            unit: "record", targets: [flat]
        ) { fixture in
            [
                Way(name: memory, units: fixture.records) {
                    let container = try fixture.newContainer()
                    return {
                        let context = ModelContext(container)
                        for values in fixture.trips {
                            let id = values.id
                            let known = try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.id == id }))
                            if known.isEmpty { context.insert(Trip(values, traveler: nil)) }
                        }
                        try context.save()
                        return { try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) }
                    }
                },
                Way(name: structs, units: fixture.records) {
                    {
                        var known: Set<UUID> = []
                        var copies: [TripValues] = []
                        for values in fixture.trips where known.insert(values.id).inserted { copies.append(values) }
                        return { copies.count }
                    }
                },
            ]
        }
    }

    private static var firstDay: Date { Date(timeIntervalSince1970: 0) }

    /// One record in a hundred starts before this.
    private static var updatedBefore: Date { firstDay.addingTimeInterval(200 * 86_400) }

    /// One record in two hundred starts between that and this.
    private static var deletedBefore: Date { firstDay.addingTimeInterval(300 * 86_400) }

    static var update: Row {
        Row(
            name: "update", title: "fetch 1% by a predicate, change their price and save", unit: "changed record",
            targets: [.faster(than: grdb, times: 5, fromRecords: 100_000), nearlyFlat]
        ) { fixture in
            let container = try fixture.newContainer()
            let filling = ModelContext(container)
            fixture.insertAll(into: filling)
            try filling.save()
            let limit = updatedBefore
            let places = fixture.trips.indices.filter { fixture.trips[$0].startDate < limit }
            return [
                Way(name: memory, units: places.count) {
                    let context = ModelContext(container)
                    return {
                        let trips = try context.fetch(
                            FetchDescriptor<Trip>(predicate: #Predicate { $0.startDate < limit }))
                        for trip in trips { trip.price += 1 }
                        try context.save()
                        return { trips.count - context.changedModelsArray.count }
                    }
                },
                Way(name: structs, units: places.count) {
                    var trips = fixture.trips
                    // The copy that the first change makes belongs to no record.
                    trips[0].price += 0
                    return {
                        for place in trips.indices where trips[place].startDate < limit { trips[place].price += 1 }
                        return { zip(trips, fixture.trips).reduce(0) { $0 + ($1.0.price == $1.1.price ? 0 : 1) } }
                    }
                },
            ] + (try fixture.peers.ways(.update(before: limit)))
        }
    }

    static var delete: Row {
        Row(
            name: "delete", title: "delete 0.5% by a predicate", unit: "deleted record",
            targets: [.faster(than: grdb, times: 5, fromRecords: 100_000), nearlyFlat]
        ) { fixture in
            let container = try fixture.newContainer()
            let filling = ModelContext(container)
            fixture.insertAll(into: filling)
            try filling.save()
            let (start, end) = (updatedBefore, deletedBefore)
            let lost = fixture.trips.filter { $0.startDate >= start && $0.startDate < end }
            return [
                Way(name: memory, units: lost.count) {
                    let context = ModelContext(container)
                    return {
                        try context.delete(
                            model: Trip.self, where: #Predicate { $0.startDate >= start && $0.startDate < end })
                        return {
                            let left = try context.fetchCount(FetchDescriptor<Trip>())
                            let travelers = try context.fetch(FetchDescriptor<Traveler>())
                            for values in lost {
                                context.insert(Trip(values, traveler: travelers[values.traveler]))
                            }
                            try context.save()
                            return fixture.records - left
                        }
                    }
                },
                Way(name: structs, units: lost.count) {
                    var trips = fixture.trips
                    return {
                        trips.removeAll { $0.startDate >= start && $0.startDate < end }
                        return { [trips] in fixture.records - trips.count }
                    }
                },
            ] + (try fixture.peers.ways(.delete(from: start, to: end)))
        }
    }
}
