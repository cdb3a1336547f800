import Foundation
import Mortise

extension Row {
    private static let json = "Mortise, json:"

    static var jsonSave: Row {
        Row(
            name: "json-save", title: "save all to a JSON file", unit: "record", targets: [.linear(atMost: 2)]
        ) { fixture in
            [
                Way(name: json, units: fixture.records) {
                    let path = fixture.newFile("json")
                    let container = try fixture.newContainer(store: "json:\(path)")
                    let context = ModelContext(container)
                    fixture.insertAll(into: context)
                    return {
                        try context.save()
                        return {
                            try container.close()
                            defer { try? FileManager.default.removeItem(atPath: path) }
                            return try countInFile(path, fixture)
                        }
                    }
                },
                Way(name: "JSONEncoder, array of structs", units: fixture.records) {
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
            name: "json-load", title: "open a JSON file with all records", unit: "record", targets: [.linear(atMost: 2)]
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
                Way(name: "JSONDecoder, array of structs", units: fixture.records) {
                    {
                        let data = try Data(contentsOf: URL(fileURLWithPath: plain))
                        let trips = try JSONDecoder().decode([TripValues].self, from: data)
                        return { trips.count }
                    }
                },
            ]
        }
    }

    private static func countInFile(_ path: String, _ fixture: Fixture) throws -> Int {
        let container = try fixture.newContainer(store: "json:\(path)")
        let count = try ModelContext(container).fetchCount(FetchDescriptor<Trip>())
        try container.close()
        return count
    }
}
