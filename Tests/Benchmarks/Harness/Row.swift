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
}

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
    /// At most so many times as long per unit with ten times the records: a cost that grows linearly, with room for caches.
    case linear(atMost: Double)

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
    /// For a whole repetition, sorted.
    let times: [Duration]

    var median: Duration {
        times.count % 2 == 1
            ? times[times.count / 2] : (times[times.count / 2 - 1] + times[times.count / 2]) / 2
    }

    /// The median for one unit.
    var nanoseconds: Double { median.nanoseconds / Double(max(units, 1)) }
}

extension Duration {
    var nanoseconds: Double {
        Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
    }
}
