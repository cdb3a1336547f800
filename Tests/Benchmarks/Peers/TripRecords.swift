#if BenchmarkPeers
import Foundation
import GRDB

extension Peers {
    static let columns =
        "id, name, destination, startDate, endDate, price, rating, isFavourite, note, traveler"

    static let tables = """
        CREATE TABLE trip (
            key INTEGER PRIMARY KEY, id BLOB NOT NULL, name TEXT NOT NULL, destination TEXT NOT NULL,
            startDate DOUBLE NOT NULL, endDate DOUBLE NOT NULL, price DOUBLE NOT NULL, rating INTEGER NOT NULL,
            isFavourite BOOLEAN NOT NULL, note TEXT NOT NULL, traveler INTEGER NOT NULL);
        CREATE INDEX trip_id ON trip(id);
        CREATE INDEX trip_name ON trip(name);
        CREATE INDEX trip_destination ON trip(destination);
        """
}

/// A trip as GRDB's documentation advises for speed: columns by their places, in a conformance written by hand.
struct TripRecord: FetchableRecord, PersistableRecord {
    static let databaseTableName = "trip"
    var key: Int64?
    var values: TripValues

    init(_ values: TripValues) { self.values = values }

    /// A row of `SELECT *`.
    init(row: GRDB.Row) throws {
        key = row[0]
        values = TripValues(
            id: row[1], name: row[2], destination: row[3], startDate: Date(timeIntervalSinceReferenceDate: row[4]),
            endDate: Date(timeIntervalSinceReferenceDate: row[5]), price: row[6], rating: row[7], isFavourite: row[8],
            note: row[9], traveler: row[10])
    }

    func encode(to container: inout PersistenceContainer) {
        container["key"] = key
        container["id"] = values.id
        container["name"] = values.name
        container["destination"] = values.destination
        container["startDate"] = values.startDate.timeIntervalSinceReferenceDate
        container["endDate"] = values.endDate.timeIntervalSinceReferenceDate
        container["price"] = values.price
        container["rating"] = values.rating
        container["isFavourite"] = values.isFavourite
        container["note"] = values.note
        container["traveler"] = values.traveler
    }
}

/// A trip as most programs with GRDB have it.
struct CodableTripRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "trip"
    static let databaseDateEncodingStrategy = DatabaseDateEncodingStrategy.timeIntervalSinceReferenceDate
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSinceReferenceDate
    }

    var key: Int64?
    var id: UUID
    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    var price: Double
    var rating: Int
    var isFavourite: Bool
    var note: String
    var traveler: Int
}
#endif
