import Foundation
import Mortise
import Synchronization

extension Row {
    private static let idle = "the same with nothing being saved"

    /// How long fetches take while another context saves as many records again. Needs a second processor.
    static var readersBesideSave: Row {
        Row(
            name: "readers",
            title: "99th percentile of fetches while another context saves as many records again "
                + "(\(ProcessInfo.processInfo.activeProcessorCount) processors)", unit: "fetch",
            targets: [.ratio(to: idle, atMost: 2, fromRecords: 1_000_000)], ways: { _ in [] }
        ) { fixture in
            let container = try fixture.newContainer()
            let filling = ModelContext(container)
            fixture.insertAll(into: filling)
            try filling.save()
            let names = fixture.places(500).map { fixture.trips[$0].name }
            return [
                Gauge(name: memory, units: 1, quantity: .time) {
                    try besideSave(of: fixture, in: container, names)
                },
                Gauge(name: idle, units: 1, quantity: .time) {
                    let context = ModelContext(container)
                    var times: [Double] = []
                    for _ in 0..<10 { try fetch(names, in: context, &times) }
                    return percentile(times)
                },
            ]
        }
    }

    /// Saves again until enough fetches ran beside a save to tell a percentile.
    private static func besideSave(
        of fixture: Fixture, in container: ModelContainer, _ names: [String]
    ) throws -> Double {
        var times: [Double] = []
        while times.count < 500 { try save(fixture.trips, in: container, fetching: names, &times) }
        return percentile(times)
    }

    private static func save(
        _ trips: [TripValues], in container: ModelContainer, fetching names: [String], _ times: inout [Double]
    ) throws {
        let isSaving = Atomic(false)
        let isEnded = Atomic(false)
        let failure = Mutex<(any Error)?>(nil)
        // A thread of its own: the save must not share one with the fetches.
        let saver = Thread {
            do {
                let context = ModelContext(container)
                for values in trips { context.insert(Trip(values, traveler: nil)) }
                // Only what runs beside the save itself counts.
                isSaving.store(true, ordering: .releasing)
                defer { isSaving.store(false, ordering: .releasing) }
                try context.save()
            } catch {
                failure.withLock { $0 = error }
            }
            isEnded.store(true, ordering: .releasing)
        }
        saver.start()
        let context = ModelContext(container)
        while !isEnded.load(ordering: .acquiring) {
            try fetch(names, in: context, &times) { isSaving.load(ordering: .acquiring) }
        }
        if let error = failure.withLock({ $0 }) { throw error }
        try ModelContext(container).delete(model: Trip.self, where: #Predicate { $0.traveler == nil })
    }

    /// - Parameter counts: asked before and after each fetch; its time is noted where both are so.
    private static func fetch(
        _ names: [String], in context: ModelContext, _ times: inout [Double], where counts: () -> Bool = { true }
    ) throws {
        let clock = ContinuousClock()
        for name in names {
            let began = counts()
            let time = try clock.measure {
                _ = try context.fetch(FetchDescriptor<Trip>(predicate: #Predicate { $0.name == name })).count
            }
            if began, counts() { times.append(time.nanoseconds) }
        }
    }

    private static func percentile(_ times: [Double]) -> Double {
        let sorted = times.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
    }
}
