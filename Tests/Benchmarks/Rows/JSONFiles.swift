import Foundation
import Mortise

extension Row {
    private static let json = "Mortise, json:"
    private static let encoder = "JSONEncoder, array of structs"
    private static let decoder = "JSONDecoder, array of structs"

    /// A file with all records, and one record in it that changes: what a save of a JSON file costs is the whole file.
    static var jsonSave: Row {
        Row(
            name: "json-save", title: "save a JSON file", unit: "record",
            targets: [.faster(than: encoder, times: 8, fromRecords: 100_000), .linear(atMost: 2)]
        ) { fixture in
            let path = fixture.newFile("json")
            let container = try fixture.newContainer(store: "json:\(path)")
            let context = ModelContext(container)
            fixture.insertAll(into: context)
            try context.save()
            var first = FetchDescriptor<Trip>()
            first.fetchLimit = 1
            let changing = try context.fetch(first)
            return [
                Way(name: json, units: fixture.records) {
                    {
                        for trip in changing { trip.price += 1 }
                        try context.save()
                        return { try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) }
                    }
                },
                Way(name: encoder, units: fixture.records) {
                    let path = fixture.newFile("json")
                    return {
                        let data = try JSONEncoder().encode(fixture.trips)
                        try data.write(to: URL(fileURLWithPath: path), options: .atomic)
                        return {
                            try FileManager.default.removeItem(atPath: path)
                            return fixture.trips.count
                        }
                    }
                },
            ]
        }
    }

    static var jsonLoad: Row {
        Row(
            name: "json-load", title: "open a JSON file, indexes rebuilt", unit: "record",
            targets: [.faster(than: decoder, times: 8, fromRecords: 100_000), .linear(atMost: 2)]
        ) { fixture in
            let stored = fixture.newFile("json")
            let container = try fixture.newContainer(store: "json:\(stored)")
            let context = ModelContext(container)
            fixture.insertAll(into: context)
            try context.save()
            try container.close()
            let plain = fixture.newFile("json")
            try JSONEncoder().encode(fixture.trips).write(to: URL(fileURLWithPath: plain))
            return [
                Way(name: json, units: fixture.records) {
                    {
                        let container = try fixture.newContainer(store: "json:\(stored)")
                        let count = try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
                        return {
                            try container.close()
                            return count
                        }
                    }
                },
                Way(name: decoder, units: fixture.records) {
                    {
                        let data = try Data(contentsOf: URL(fileURLWithPath: plain))
                        let trips = try JSONDecoder().decode([TripValues].self, from: data)
                        return { trips.count }
                    }
                },
            ]
        }
    }
}
