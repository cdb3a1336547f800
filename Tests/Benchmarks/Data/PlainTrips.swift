import Foundation
import Observation

/// A trip without any framework: what an object with these values costs at least.
final class TripObject {
    var values: TripValues

    init(_ values: TripValues) { self.values = values }
}

/// The smallest object that could stand for a record: where it is, and in what.
final class BareObject {
    let table: AnyObject
    let row: Int

    init(table: AnyObject, row: Int) {
        self.table = table
        self.row = row
    }
}

/// The observable class that a program without a store would have.
@Observable
final class ObservableTrip {
    var price: Double
    var destination: String
    var note: String

    init(_ values: TripValues) {
        price = values.price
        destination = values.destination
        note = values.note
    }
}

/// The limit for work that looks at two properties of every record: two arrays, the strings as small numbers.
final class TripColumns {
    let prices: [Double]
    let destinationCodes: [UInt8]
    private let codes: [String: UInt8]

    init(_ trips: [TripValues]) {
        prices = trips.map(\.price)
        var codes: [String: UInt8] = [:]
        for (code, name) in TripValues.destinationNames().enumerated() { codes[name] = UInt8(code) }
        self.codes = codes
        destinationCodes = trips.map { codes[$0.destination] ?? 0 }
    }

    func code(of destination: String) -> UInt8 { codes[destination] ?? .max }
}
