import Foundation
import PackageTestSupport

/// The values of one trip: what every way of a row starts from.
struct TripValues: Codable, Sendable {
    let id: UUID
    let name: String
    let destination: String
    let startDate: Date
    let endDate: Date
    var price: Double
    let rating: Int
    let isFavourite: Bool
    /// Sixty ASCII characters, too many for a string to keep without an allocation.
    let note: String
    /// The place of the parent among the travelers.
    let traveler: Int
}

extension TripValues {
    /// What reading a number and two strings comes to.
    var checkSum: Int { Int(price) + name.utf8.count + note.utf8.count }

    static let destinationCount = 200
    static let tripsPerTraveler = 100
    /// Prices are spread evenly from 0 up to this.
    static let highestPrice = 2_000.0

    /// Trips that depend on the count and the seed alone.
    /// - Parameters:
    ///   - first: the number of the first one.
    ///   - all: how many there are in the end, which decides how many parents there are; nil where these are all.
    static func generate(_ count: Int, seed: UInt64, from first: Int = 0, of all: Int? = nil) -> [TripValues] {
        var random = SeededGenerator(seed: seed)
        let destinations = destinationNames()
        let travelers = travelerCount(forTrips: all ?? count)
        return (first..<(first + count)).map { place in
            let start = Date(timeIntervalSince1970: Double(Int.random(in: 0..<20_000, using: &random)) * 86_400)
            return TripValues(
                id: random.uuid(), name: "Trip \(place)",
                destination: destinations[Int.random(in: 0..<destinationCount, using: &random)], startDate: start,
                endDate: start.addingTimeInterval(Double(Int.random(in: 1...30, using: &random)) * 86_400),
                price: Double.random(in: 0..<highestPrice, using: &random),
                rating: Int.random(in: 1...5, using: &random), isFavourite: Int.random(in: 0..<10, using: &random) == 0,
                note: random.text(60), traveler: Int.random(in: 0..<travelers, using: &random))
        }
    }

    static func travelerCount(forTrips count: Int) -> Int { max(1, count / tripsPerTraveler) }

    static func destinationNames() -> [String] {
        let first = ["Alba", "Bray", "Cadiz", "Dover", "Elba", "Faro", "Graz", "Hull", "Ibiza", "Jena"]
        let second = [
            "Bay", "Beach", "Bridge", "Castle", "Cove", "Falls", "Fields", "Gate", "Glen", "Harbour", "Heath", "Hill",
            "Isle", "Lake", "Park", "Point", "Port", "Rock", "Sands", "Valley",
        ]
        return first.flatMap { name in second.map { "\(name) \($0)" } }
    }
}

extension SeededGenerator {
    mutating func uuid() -> UUID {
        var (high, low) = (next(), next())
        return withUnsafeBytes(of: &high) { high in
            withUnsafeBytes(of: &low) { low in
                UUID(
                    uuid: (
                        high[0], high[1], high[2], high[3], high[4], high[5], high[6], high[7],
                        low[0], low[1], low[2], low[3], low[4], low[5], low[6], low[7]
                    ))
            }
        }
    }

    /// Lower-case letters and spaces.
    mutating func text(_ length: Int) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyz    ".utf8)
        let bytes = (0..<length).map { _ in letters[Int.random(in: 0..<letters.count, using: &self)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}
