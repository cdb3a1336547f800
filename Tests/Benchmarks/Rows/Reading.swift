import Foundation
import Mortise

extension Row {
    private static let observable = "plain @Observable class"
    private static let observableAndMaking = "plain @Observable class, making the string"
    private static let fetched = "Mortise, fetched model"
    /// Few enough that both kinds of object stay in the processor's caches.
    private static let readModels = 500
    private static let passes = 400

    static var readNumber: Row {
        Row(
            name: "read-number", title: "read a number of a model", unit: "read", isSized: false,
            targets: [.ratio(to: observable, atMost: Target.sameSpeed, fromRecords: 0)]
        ) { fixture in
            try reads(fixture, { Int($0.price) }, { Int($0.price) })
        }
    }

    static var readShortString: Row {
        Row(
            name: "read-short-string", title: "read a short string of a model", unit: "read", isSized: false,
            targets: [.ratio(to: observable, atMost: Target.sameSpeed, fromRecords: 0)]
        ) { fixture in
            try reads(fixture, { $0.destination.utf8.count }, { $0.destination.utf8.count })
        }
    }

    static var readLongString: Row {
        Row(
            name: "read-long-string", title: "read a long string of a model", unit: "read", isSized: false,
            targets: [.ratio(to: observableAndMaking, atMost: Target.sameSpeed, fromRecords: 0)]
        ) { fixture in
            var ways = try reads(fixture, { $0.note.utf8.count }, { $0.note.utf8.count })
            let notes = fixture.trips.prefix(readModels).map { Array($0.note.utf8) }
            let trips = fixture.trips.prefix(readModels).map { ObservableTrip($0) }
            ways.append(
                Way(name: observableAndMaking, units: passes * trips.count) {
                    {
                        var sum = 0
                        for _ in 0..<passes {
                            for (place, trip) in trips.enumerated() {
                                sum &+= trip.note.utf8.count
                                sum &+= String(decoding: notes[place], as: UTF8.self).utf8.count
                            }
                        }
                        return { [sum] in sum / 2 }
                    }
                })
            return ways
        }
    }

    private static func reads(
        _ fixture: Fixture, _ read: @escaping (Trip) -> Int, _ readPlain: @escaping (ObservableTrip) -> Int
    ) throws -> [Way] {
        let context = ModelContext(try fixture.savedContainer())
        var first = FetchDescriptor<Trip>()
        first.fetchLimit = readModels
        let models = try context.fetch(first)
        let plain = fixture.trips.prefix(readModels).map { ObservableTrip($0) }
        return [
            Way(name: fetched, units: passes * models.count) {
                { [context] in
                    _ = context
                    let sum = sum(models, read)
                    return { sum }
                }
            },
            Way(name: observable, units: passes * plain.count) {
                {
                    let sum = sum(plain, readPlain)
                    return { sum }
                }
            },
        ]
    }

    private static func sum<Object>(_ objects: [Object], _ read: (Object) -> Int) -> Int {
        var sum = 0
        for _ in 0..<passes {
            for object in objects { sum &+= read(object) }
        }
        return sum
    }
}
