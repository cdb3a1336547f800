/// Whether a target was reached.
struct Verdict {
    enum Outcome: String { case reached, short, skipped }

    let title: String
    let measured: String
    let wanted: String
    let outcome: Outcome

    var line: String { "\(title): \(measured), to be reached \(wanted), \(outcome.rawValue)" }
}

extension Row {
    /// One verdict for each target and each size at which it can be judged; one that says why not where there is none.
    func verdicts(on measurements: [Measurement]) -> [Verdict] {
        let own = measurements.filter { $0.row == name }
        return targets.flatMap { target in
            switch target {
            case .ratio(let other, let limit, let least): ratios(own, to: other, limit, least)
            case .faster(let other, let times, let least): speeds(own, than: other, times, least)
            case .linear(let limit): [growth(own, limit)]
            case .independent(let limit): [independence(own, limit)]
            case .limit(let limit, let least): limits(own, limit, least)
            }
        }
    }

    private func ratios(_ own: [Measurement], to other: String, _ limit: Double, _ least: Int) -> [Verdict] {
        let wanted = "at most \(limit.formatted(2))x"
        var verdicts: [Verdict] = []
        for records in Set(own.map(\.records)).sorted() where records >= least {
            let here = own.filter { $0.records == records }
            guard let first = here.first, let second = here.first(where: { $0.way == other }) else { continue }
            let ratio = first.perUnit / second.perUnit
            verdicts.append(
                Verdict(
                    title: isSized ? "\(title), \(records.grouped) records" : title,
                    measured: "\(ratio.formatted(2))x \(other)", wanted: wanted,
                    outcome: ratio <= limit ? .reached : .short))
        }
        if verdicts.isEmpty {
            verdicts.append(
                Verdict(
                    title: title, measured: "not measured at \(least.grouped) records or more", wanted: wanted,
                    outcome: .skipped))
        }
        return verdicts
    }

    private func growth(_ own: [Measurement], _ limit: Double) -> Verdict {
        let wanted = "at most \(limit.formatted(1))x"
        let sizes = own.filter { $0.way == own.first?.way }.sorted { $0.records < $1.records }
        guard let small = sizes.first, let large = sizes.first(where: { $0.records >= small.records * 10 }) else {
            return Verdict(
                title: "\(title), growth", measured: "not measured at a size and ten times that", wanted: wanted,
                outcome: .skipped)
        }
        let ratio = large.perUnit / small.perUnit
        let manner = ratio <= limit ? "linear" : "not linear"
        return Verdict(
            title: "\(title), growth",
            measured: "a \(unit) of \(large.records.grouped) costs \(ratio.formatted(2))x one of "
                + "\(small.records.grouped) (\(manner))",
            wanted: wanted, outcome: ratio <= limit ? .reached : .short)
    }

    /// How many times as fast as another way.
    private func speeds(_ own: [Measurement], than other: String, _ times: Double, _ least: Int) -> [Verdict] {
        let wanted = times == 1 ? "faster" : "\(times.formatted(0))x as fast"
        var verdicts: [Verdict] = []
        for records in Set(own.map(\.records)).sorted() where records >= least {
            let here = own.filter { $0.records == records }
            guard let first = here.first, let second = here.first(where: { $0.way == other }) else { continue }
            let speed = second.perUnit / first.perUnit
            verdicts.append(
                Verdict(
                    title: "\(title), \(records.grouped) records",
                    measured: "\(speed.formatted(speed < 10 ? 2 : 1))x as fast as \(other)", wanted: wanted,
                    outcome: speed >= times ? .reached : .short))
        }
        if verdicts.isEmpty {
            let isMissing = !own.contains { $0.way == other } && !own.isEmpty
            verdicts.append(
                Verdict(
                    title: title,
                    measured: isMissing
                        ? "\(other) is not in this build" : "not measured at \(least.grouped) records or more",
                    wanted: "\(wanted) (than \(other))", outcome: .skipped))
        }
        return verdicts
    }

    private func limits(_ own: [Measurement], _ limit: Double, _ least: Int) -> [Verdict] {
        own.filter { $0.way == own.first?.way && $0.records >= least }.map { measurement in
            Verdict(
                title: "\(title), \(measurement.records.grouped) records",
                measured: "\(measurement.perUnit.formatted(2)) a \(unit)", wanted: "at most \(limit.formatted(2))",
                outcome: measurement.perUnit <= limit ? .reached : .short)
        }
    }

    private func independence(_ own: [Measurement], _ limit: Double) -> Verdict {
        let wanted = "at most \(limit.formatted(1))x, whatever their number"
        let sizes = own.filter { $0.way == own.first?.way }.sorted { $0.records < $1.records }
        guard let small = sizes.first, let large = sizes.last, large.records >= small.records * 10 else {
            return Verdict(
                title: "\(title), growth", measured: "not measured at a size and ten times that", wanted: wanted,
                outcome: .skipped)
        }
        let ratio = large.median / max(small.median, 1)
        return Verdict(
            title: "\(title), growth",
            measured: "with \(large.records.grouped) records \(ratio.formatted(2))x what it takes with "
                + "\(small.records.grouped)",
            wanted: wanted, outcome: ratio <= limit ? .reached : .short)
    }
}
