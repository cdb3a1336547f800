import Foundation
import MortiseAppendLog
import MortiseCore
import MortiseJSONFile

/// Stores of trips that are made without any model, from a stored schema and records by slot.
enum TripStore {
    static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Trip",
            properties: [
                attribute("name", .string), attribute("destination", .string), attribute("price", .decimal),
                attribute("startDate", .date), attribute("isPublic", .bool),
                attribute("rating", .double, isOptional: true),
                attribute("seats", .int16), attribute("code", .uuid), attribute("cover", .data, isOptional: true),
                attribute("link", .url, isOptional: true), attribute("note", .string, isOptional: true),
                attribute("ticket", .uint64), attribute("tags", .coded, isOptional: true),
                toOne("guide", "Guide", inverse: "trips"), toOne("partner", "Trip"),
                toMany("stops", "Stop", inverse: "trip"), toMany("labels", "Label", inverse: "trips"),
            ],
            uniquenessConstraints: [["code"]], indices: [StoredIndex(properties: ["destination"])]),
        StoredEntity(name: "BusTrip", superentity: "Trip", properties: [attribute("company", .string)]),
        StoredEntity(
            name: "Stop",
            properties: [
                attribute("place", .string), attribute("nights", .int64),
                toOne("trip", "Trip", inverse: "stops", isOptional: false),
            ]),
        StoredEntity(
            name: "Guide", properties: [attribute("name", .string), toMany("trips", "Trip", inverse: "guide")]),
        StoredEntity(
            name: "Label", properties: [attribute("text", .string), toMany("trips", "Trip", inverse: "labels")]),
    ])

    private static func attribute(_ name: String, _ kind: StorageKind, isOptional: Bool = false) -> StoredProperty {
        StoredProperty(name: name, isOptional: isOptional, content: .attribute(StoredAttribute(kind: kind)))
    }
    private static func toOne(
        _ name: String, _ destination: String, inverse: String? = nil, isOptional: Bool = true
    ) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: isOptional,
            content: .relationship(StoredRelationship(destination: destination, isToMany: false, inverse: inverse)))
    }
    private static func toMany(_ name: String, _ destination: String, inverse: String) -> StoredProperty {
        StoredProperty(
            name: name, isOptional: false,
            content: .relationship(StoredRelationship(destination: destination, isToMany: true, inverse: inverse)))
    }

    static let destinations = ["Paris", "Rome", "Zürich", "Oslo", "Lisbon", "Kraków"]

    /// The configuration of a store of trips: one JSON file for a path that ends so, else an append log.
    static func open(_ path: String) throws -> any DataStore {
        let schema = Schema(stored: schema)
        if path.hasSuffix(".json") {
            return try JSONFileStore(JSONFileConfiguration(schema: schema, path: path), migrationPlan: nil)
        }
        return try AppendLogStore(AppendLogConfiguration(schema: schema, path: path), migrationPlan: nil)
    }

    /// Makes a store with so many trips, in batches. Each trip has a stop that is inserted before it and one that follows;
    /// every seventh is a bus trip; partners lead to earlier and to later trips.
    static func make(_ path: String, trips: Int, batch: Int = 5_000) throws {
        let store = try open(path)
        try fill(store, trips: trips, batch: batch)
        try store.close()
    }

    static func fill(_ store: any DataStore, trips: Int, batch: Int) throws {
        var writer = TripWriter(store)
        try writer.insertGuides()
        var next = 0
        func insertAll() throws {
            while next < trips {
                try writer.insert(next..<min(next + batch, trips))
                next += batch
            }
            try writer.label()
        }
        try store.saveInBulk { _ in try insertAll() }
    }
}

/// Writes trips by snapshots.
struct TripWriter {
    private let store: any DataStore
    private let layouts = TripStore.schema.recordLayouts()
    private var guides: [PersistentIdentifier] = []
    private var labels: [PersistentIdentifier] = []
    private var lastTrip: PersistentIdentifier?
    private var labelled: [PersistentIdentifier] = []

    init(_ store: any DataStore) { self.store = store }

    private func snapshot(
        _ identifier: PersistentIdentifier, _ entity: String, _ values: [String: StoredValue]
    ) -> DefaultSnapshot {
        let layout = layouts[entity] ?? RecordLayout.empty(entity)
        return DefaultSnapshot(
            persistentIdentifier: identifier, layout: layout,
            values: ContiguousArray(
                layout.slots.map { values[$0.name] ?? ($0.role.isToMany ? .identifiers([]) : .null) }))
    }

    @discardableResult
    func save(
        _ inserted: [DefaultSnapshot], updated: [DefaultSnapshot] = [], deleted: [DefaultSnapshot] = [],
        slots: [SlotSet] = []
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        func save<S: DataStore>(_ store: S) throws -> [PersistentIdentifier: PersistentIdentifier] {
            let request = DataStoreSaveChangesRequest<DefaultSnapshot>(
                inserted: inserted, updated: updated, deleted: deleted, editingState: EditingState(author: "tester"),
                changedSlots: slots)
            guard let request = request as? DataStoreSaveChangesRequest<S.Snapshot> else {
                throw DataStoreError.unsupportedFeature
            }
            return try store.save(request).remappedIdentifiers
        }
        return try save(store)
    }

    mutating func insertGuides() throws {
        let people = ["Ada", "Björn", "Chloé"].map { name in
            snapshot(.temporary(entityName: "Guide"), "Guide", ["name": .string(name)])
        }
        let words = ["sea", "city"].map { text in
            snapshot(.temporary(entityName: "Label"), "Label", ["text": .string(text)])
        }
        let remapped = try save(people + words)
        guides = people.compactMap { remapped[$0.persistentIdentifier] }
        labels = words.compactMap { remapped[$0.persistentIdentifier] }
    }

    mutating func insert(_ numbers: Range<Int>) throws {
        let trips = numbers.map { _ in PersistentIdentifier.temporary(entityName: "Trip") }
        var all: [DefaultSnapshot] = []
        for (place, number) in numbers.enumerated() {
            let isBus = number % 7 == 3
            let trip = isBus ? PersistentIdentifier.temporary(entityName: "BusTrip") : trips[place]
            all.append(stop(trip, number, 0))
            var values = Self.values(number)
            if number % 4 != 0 { values["guide"] = .identifier(guides[number % guides.count]) }
            // Forwards within the batch, backwards, and to the one before; bus trips have none.
            if !isBus, place + 1 < trips.count, (number + 1) % 7 != 3 {
                values["partner"] = .identifier(trips[place + 1])
            } else if let lastTrip {
                values["partner"] = .identifier(lastTrip)
            }
            if isBus { values["company"] = .string("Company \(number % 11)") }
            all.append(snapshot(trip, isBus ? "BusTrip" : "Trip", values))
            all.append(stop(trip, number, 1))
        }
        let remapped = try save(all)
        lastTrip = trips.last.flatMap { remapped[$0] } ?? lastTrip
        labelled += zip(numbers, trips).filter { $0.0 % 5 == 0 }.compactMap { remapped[$0.1] }
    }

    /// Labels every fifth trip, on the side that keeps it: so early records lead to many later ones.
    func label() throws {
        guard let slot = layouts["Label"]?.slot(named: "trips"), !labelled.isEmpty else { return }
        let updated = labels.map { snapshot($0, "Label", ["trips": .identifiers(labelled)]) }
        try save([], updated: updated, slots: labels.map { _ in SlotSet([slot]) })
    }

    /// Gives the trip of one name another.
    func rename(_ name: String, to other: String) throws {
        guard let versioned = store as? any VersionedDataStore,
            let rows = versioned.currentVersion.rows(ofEntity: "Trip"),
            let slot = layouts["Trip"]?.slot(named: "name"),
            let row = (0..<rows.endRow).first(where: {
                rows.contains(row: $0) && rows.string(row: $0, slot: slot) == name
            })
        else { throw DataStoreError.unsupportedFeature }
        let changed = snapshot(rows.identifier(ofRow: row), "Trip", ["name": .string(other)])
        try save([], updated: [changed], slots: [SlotSet([slot])])
    }

    private func stop(_ trip: PersistentIdentifier, _ number: Int, _ which: Int) -> DefaultSnapshot {
        snapshot(
            .temporary(entityName: "Stop"), "Stop",
            [
                "place": .string("Stop \(which) of \(number)"), "nights": .integer(Int64((number + which) % 9)),
                "trip": .identifier(trip),
            ])
    }

    static func values(_ number: Int) -> [String: StoredValue] {
        var code = UUID(uuidString: "00000000-0000-0000-0000-000000000000")?.uuid ?? UUID().uuid
        withUnsafeMutableBytes(of: &code) {
            $0.storeBytes(of: UInt64(number).bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return [
            "name": .string("Trip \(number)"), "destination": .string(TripStore.destinations[number % 6]),
            "price": .decimal(Decimal(number % 1_000) + Decimal(string: "0.99")!),
            "startDate": .date(Date(timeIntervalSinceReferenceDate: 800_000_000 + Double(number) * 3_600.25)),
            "isPublic": .bool(number % 2 == 0), "rating": number % 3 == 0 ? .null : .double(Double(number % 50) / 10),
            "seats": .integer(Int64(number % 300)), "code": .uuid(UUID(uuid: code)),
            "cover": number % 10 == 0 ? .data(Data([0xCA, 0xFE, UInt8(number % 256)])) : .null,
            "link": number % 6 == 0 ? URL(string: "https://example.org/\(number)").map { .url($0) } ?? .null : .null,
            "note": number % 8 == 0 ? .null : .string(number % 9 == 0 ? "" : "note \(number)\n\"quoted\", with comma"),
            "ticket": .unsigned(UInt64.max - UInt64(number)),
            "tags": .array([.string("t\(number % 4)"), .integer(Int64(number % 5))]),
        ]
    }
}
