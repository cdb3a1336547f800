/// Whether a target was reached.
struct Verdict {
    enum Outcome: String { case reached, short, skipped }

    let title: String
    let measured: String
    let wanted: String
    let outcome: Outcome
}

/// One line of the closing table: what was demanded of a row, at every size at which it can be judged.
struct RowVerdict {
    let title: String
    let parts: [Verdict]

    /// A row falls short where any part does. Parts that could not be judged count only where none could.
    var outcome: Verdict.Outcome {
        if parts.contains(where: { $0.outcome == .short }) { return .short }
        return parts.contains { $0.outcome == .reached } ? .reached : .skipped
    }

    var line: String {
        let judged = parts.filter { $0.outcome != .skipped }
        var demands: [(wanted: String, measured: [String])] = []
        for part in judged.isEmpty ? parts : judged {
            let size = part.title.dropFirst(title.count).drop { $0 == "," || $0 == " " }
            let text = part.measured + (size.isEmpty ? "" : " (\(size))")
            if demands.last?.wanted == part.wanted {
                demands[demands.count - 1].measured.append(text)
            } else {
                demands.append((part.wanted, [text]))
            }
        }
        let texts = demands.map { "\($0.measured.joined(separator: ", ")), to be reached \($0.wanted)" }
        return "\(title): \(texts.joined(separator: "; ")): \(outcome.rawValue)"
    }
}

extension Row {
    /// Nil for a row of which nothing is demanded.
    func verdict(on measurements: [Measurement]) -> RowVerdict? {
        targets.isEmpty ? nil : RowVerdict(title: title, parts: verdicts(on: measurements))
    }

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
                    title: isSized ? "\(title), \(records.grouped)" : title,
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
        guard let small = sizes.first, let large = sizes.last, large.records >= small.records * 10 else {
            return Verdict(
                title: title, measured: "not measured at a size and ten times that", wanted: wanted,
                outcome: .skipped)
        }
        let ratio = large.perUnit / small.perUnit
        return Verdict(
            title: title,
            measured: "a \(unit) of \(large.records.grouped) costs \(ratio.formatted(2))x one of "
                + "\(small.records.grouped)",
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
                    title: isSized ? "\(title), \(records.grouped)" : title,
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
                title: "\(title), \(measurement.records.grouped)",
                measured: "\(measurement.perUnit.formatted(2)) a \(unit)", wanted: "at most \(limit.formatted(2))",
                outcome: measurement.perUnit <= limit ? .reached : .short)
        }
    }

    private func independence(_ own: [Measurement], _ limit: Double) -> Verdict {
        let wanted = "at most \(limit.formatted(1))x, whatever their number"
        let sizes = own.filter { $0.way == own.first?.way }.sorted { $0.records < $1.records }
        guard let small = sizes.first, let large = sizes.last, large.records >= small.records * 10 else {
            return Verdict(
                title: title, measured: "not measured at a size and ten times that", wanted: wanted,
                outcome: .skipped)
        }
        let ratio = large.median / max(small.median, 1)
        return Verdict(
            title: title,
            measured: "with \(large.records.grouped) records \(ratio.formatted(2))x what it takes with "
                + "\(small.records.grouped)",
            wanted: wanted, outcome: ratio <= limit ? .reached : .short)
    }
}
