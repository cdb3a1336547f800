/// Runs rows: every way of a row in turn, again and again, so that whatever else the machine does falls on all of them.
struct Harness {
    /// Whether each way runs once only, for its result and not for its time.
    let isSmoke: Bool
    private let clock = ContinuousClock()

    init(isSmoke: Bool) { self.isSmoke = isSmoke }

    /// - Throws: `Disagreement` where two ways come to different results; what a way throws.
    func run(_ row: Row, on fixture: Fixture) throws -> [Measurement] {
        let ways = try row.ways(fixture)
        let gauged = try gauge(row, fixture)
        var times = [[Duration]](repeating: [], count: ways.count)
        var wanted = [Int](repeating: 1, count: ways.count)
        var agreed: (way: String, value: Int)?
        var round = 0
        while zip(times, wanted).contains(where: { $0.count < $1 }) {
            for (place, way) in ways.enumerated() where times[place].count < wanted[place] {
                let (time, value) = try repetition(of: way)
                if let agreed, agreed.value != value {
                    throw Disagreement(row: row.name, first: agreed, second: (way.name, value))
                }
                agreed = agreed ?? (way.name, value)
                if round == 0, !isSmoke {
                    wanted[place] = Self.repetitions(forOneTaking: time)
                    // The first one warms up, unless it takes so long that there is nothing to warm up.
                    if wanted[place] == 1 { times[place].append(time) }
                } else {
                    times[place].append(time)
                }
            }
            round += 1
        }
        return gauged
            + zip(ways, times).map { way, times in
                Measurement(
                    row: row.name, way: way.name, records: fixture.records, unit: row.unit, units: way.units,
                    samples: times.map(\.nanoseconds).sorted())
            }
    }

    private func gauge(_ row: Row, _ fixture: Fixture) throws -> [Measurement] {
        let gauges = try row.gauges(fixture)
        var samples = [[Double]](repeating: [], count: gauges.count)
        for _ in 0..<(isSmoke ? 1 : 3) {
            for (place, gauge) in gauges.enumerated() { samples[place].append(try gauge.measure()) }
        }
        return zip(gauges, samples).map { gauge, samples in
            Measurement(
                row: row.name, way: gauge.name, records: fixture.records, unit: row.unit, units: gauge.units,
                quantity: gauge.quantity, samples: samples.sorted())
        }
    }

    private func repetition(of way: Way) throws -> (Duration, Int) {
        let work = try way.prepare()
        let start = clock.now
        let check = try work()
        let time = start.duration(to: clock.now)
        return (time, try check())
    }

    /// About a second's worth; never fewer than three, so that one disturbance does not decide, unless one takes a minute.
    private static func repetitions(forOneTaking time: Duration) -> Int {
        if time > .seconds(60) { return 1 }
        let fitting = 1e9 / max(time.nanoseconds, 1)
        return max(3, Int(min(fitting, 100)))
    }
}

/// Two ways of a row came to different results, so that their times mean nothing.
struct Disagreement: Error, CustomStringConvertible {
    let row: String
    let first: (way: String, value: Int)
    let second: (way: String, value: Int)

    var description: String {
        "\(row): \(first.way) comes to \(first.value), \(second.way) to \(second.value)"
    }
}
