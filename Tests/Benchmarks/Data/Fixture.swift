import Foundation
import Mortise
import PackageTestSupport

/// The data of one size, made once and shared by the rows.
final class Fixture {
    let records: Int
    let trips: [TripValues]
    let travelerCount: Int
    /// A folder for files, removed with the fixture.
    let folder: URL
    private var saved: ModelContainer?
    private var unindexed: ModelContainer?
    private(set) lazy var peers = Peers(self)
    private(set) lazy var ledger = Ledger(Ledger.size(forRecords: records), seed: seed) { [unowned self] in
        newFile($0)
    }
    let seed: UInt64

    /// - Throws: what the file system throws if the folder cannot be made.
    init(records: Int, seed: UInt64) throws {
        self.records = records
        self.seed = seed
        trips = TripValues.generate(records, seed: seed)
        travelerCount = TripValues.travelerCount(forTrips: records)
        folder = FileManager.default.temporaryDirectory.appending(path: "mortise-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A store in memory that holds all records. Rows that change it take `newContainer(store:)` instead.
    func savedContainer() throws -> ModelContainer {
        if let saved { return saved }
        let container = try newContainer()
        let context = ModelContext(container)
        insertAll(into: context)
        try context.save()
        saved = container
        return container
    }

    /// A store in memory that holds the same records without indexes.
    func unindexedContainer() throws -> ModelContainer {
        if let unindexed { return unindexed }
        let container = try ModelContainer(for: UnindexedTrip.self, store: "memory:")
        let context = ModelContext(container)
        for values in trips { context.insert(UnindexedTrip(values)) }
        try context.save()
        unindexed = container
        return container
    }

    func newContainer(store: String = "memory:") throws -> ModelContainer {
        try ModelContainer(for: Trip.self, Traveler.self, store: store)
    }

    func insertAll(into context: ModelContext) {
        let travelers = (0..<travelerCount).map { Traveler(name: "Traveler \($0)") }
        for traveler in travelers { context.insert(traveler) }
        for values in trips { context.insert(Trip(values, traveler: travelers[values.traveler])) }
    }

    /// The same records, without models; saved when it returns.
    func insertInBulk(into context: ModelContext) throws {
        let travelers = try context.insert(Traveler.self, from: 0..<travelerCount) { traveler, number in
            try traveler.set(\.name, to: "Traveler \(number)")
        }
        try context.insert(Trip.self, from: trips) { trip, values in
            try trip.set(\.id, to: values.id)
            try trip.set(\.name, to: values.name)
            try trip.set(\.destination, to: values.destination)
            try trip.set(\.startDate, to: values.startDate)
            try trip.set(\.endDate, to: values.endDate)
            try trip.set(\.price, to: values.price)
            try trip.set(\.rating, to: values.rating)
            try trip.set(\.isFavourite, to: values.isFavourite)
            try trip.set(\.note, to: values.note)
            try trip.set(\.traveler, to: travelers[values.traveler])
        }
    }

    func newFile(_ fileExtension: String) -> String {
        folder.appending(path: "\(UUID().uuidString).\(fileExtension)").path(percentEncoded: false)
    }

    /// The same places for every way: `count` of them, spread over all records.
    func places(_ count: Int) -> [Int] {
        var random = SeededGenerator(seed: 7)
        return (0..<count).map { _ in Int.random(in: 0..<records, using: &random) }
    }
}
