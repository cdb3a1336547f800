/// One kind of work, done in several ways that must all come to the same result. The first way is the framework's.
struct Row {
    /// What `--only` takes.
    let name: String
    let title: String
    /// What the cost is given for: "record", "read".
    let unit: String
    /// Whether the cost may depend on the number of records; otherwise the row is measured at one size only.
    var isSized = true
    var targets: [Target] = []
    let ways: (Fixture) throws -> [Way]
    /// What else than time is measured, where `ways` is empty.
    var gauges: (Fixture) throws -> [Gauge] = { _ in [] }
}

/// One way of a row whose measure is not the time of a repetition.
struct Gauge {
    let name: String
    let units: Int
    let quantity: Quantity
    /// Takes one measure, in nanoseconds or bytes for all units.
    let measure: () throws -> Double
}

enum Quantity { case time, bytes }

/// One way to do the work of a row.
struct Way {
    let name: String
    /// How often the row's unit is done in one repetition.
    let units: Int
    /// Makes a repetition ready. What it returns is timed; what that returns is called afterwards, keeps the results
    /// alive until then, and gives the value in which all ways of a row agree.
    let prepare: () throws -> Work
}

typealias Work = () throws -> Check
typealias Check = () throws -> Int

/// How fast the first way of a row has to be.
enum Target {
    /// At most so many times as long as another way, from a number of records on.
    case ratio(to: String, atMost: Double, fromRecords: Int)
    /// At most so many times as long per unit with the most records as with the least, of which they are ten times as many
    /// or more: a cost that grows linearly, with room for caches.
    case linear(atMost: Double)
    /// So many times as fast as another way, from a number of records on.
    case faster(than: String, times: Double, fromRecords: Int)
    /// At most so many times as long for the whole repetition with ten times the records or more.
    case independent(atMost: Double)
    /// At most so much of the row's quantity for one unit.
    case limit(atMost: Double, fromRecords: Int)

    /// Measured costs of equal work differ by this much from run to run; a target "as fast as" allows for it.
    static let sameSpeed = 1.15
}

/// What one way of a row took.
struct Measurement {
    let row: String
    let way: String
    let records: Int
    let unit: String
    let units: Int
    var quantity = Quantity.time
    /// Nanoseconds or bytes for whole repetitions, ascending.
    let samples: [Double]

    /// For a whole repetition.
    var median: Double {
        let middle = samples.count / 2
        if samples.isEmpty { return 0 }
        return samples.count % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2
    }

    /// The median for one unit.
    var perUnit: Double { median / Double(max(units, 1)) }
}

extension Duration {
    var nanoseconds: Double {
        Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
    }
}
