import Foundation
import Mortise

extension Row {
    static var insert: Row {
        Row(name: "insert", title: "insert all and save", unit: "record") { fixture in
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
            ]
        }
    }

    static var update: Row {
        Row(name: "update", title: "change the price of 1% and save", unit: "changed record") { fixture in
            let container = try fixture.newContainer()
            let filling = ModelContext(container)
            fixture.insertAll(into: filling)
            try filling.save()
            let places = Array(stride(from: 0, to: fixture.records, by: 100))
            return [
                Way(name: memory, units: places.count) {
                    let context = ModelContext(container)
                    let trips = try context.fetch(FetchDescriptor<Trip>())
                    return {
                        for place in places { trips[place].price += 1 }
                        try context.save()
                        return { places.count - context.changedModelsArray.count }
                    }
                },
                Way(name: structs, units: places.count) {
                    var trips = fixture.trips
                    // The copy that the first change makes belongs to no record.
                    trips[0].price += 0
                    return {
                        for place in places { trips[place].price += 1 }
                        return { zip(trips, fixture.trips).reduce(0) { $0 + ($1.0.price == $1.1.price ? 0 : 1) } }
                    }
                },
            ]
        }
    }
}
