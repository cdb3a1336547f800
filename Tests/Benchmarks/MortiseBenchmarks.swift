import Foundation

/// Measures what the framework costs beside plain Swift doing the same work on the same data in the same process.
///
/// All figures that count are ratios inside one run. The last line is that of counts: rows that reach what is demanded of
/// them, rows that fall short of it (and those that failed), rows that could not be judged. With `--smoke` it counts rows.
@main
struct MortiseBenchmarks {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.contains("--help") || arguments.contains("-h") {
            Report.say(Options.usage)
            return
        }
        do {
            exit(try run(try Options(arguments)))
        } catch let error as UsageError {
            Report.say("\(error.description)\n\n\(Options.usage)")
            exit(64)
        } catch {
            Report.say("failed: \(error)")
            exit(1)
        }
    }

    private static func run(_ options: Options) throws -> Int32 {
        if let memory = options.memory {
            return try Memory.report(memory, records: options.records.first ?? 0, seed: options.seed)
        }
        var measurements: [Measurement] = []
        var (passed, failed, skipped) = (0, 0, 0)
        let harness = Harness(isSmoke: options.isSmoke)
        if !options.isSmoke {
            if let note = Peers.note { Report.say(note + "\n") }
            Report.printHeader()
        }

        for (place, records) in options.records.enumerated() {
            let fixture = try Fixture(records: records, seed: options.seed)
            for row in options.rows where row.isSized || place == 0 {
                do {
                    let measured = try harness.run(row, on: fixture)
                    measurements += measured
                    if options.isSmoke {
                        passed += 1
                        Report.say("\(row.name): \(measured.count) ways agree at \(records.grouped) records")
                    } else {
                        Report.print(row, measured)
                    }
                } catch {
                    failed += 1
                    Report.say("failed: \(row.name) at \(records.grouped) records: \(error)")
                }
            }
        }
        if let csv = options.csv { try Report.writeCSV(measurements, to: csv) }
        if let figure = options.figure {
            try Data(Figure(options.rows, measurements).svg.utf8).write(to: URL(fileURLWithPath: figure))
        }
        if let overview = options.overview {
            let figure = Figure(options.rows, measurements, titles: Figure.overview)
            try Data(figure.svg.utf8).write(to: URL(fileURLWithPath: overview))
        }

        if !options.isSmoke {
            Report.say()
            for verdict in options.rows.compactMap({ $0.verdict(on: measurements) }) {
                let outcome = isOptimized ? verdict.outcome : .skipped
                switch outcome {
                case .reached: passed += 1
                case .short: failed += 1
                case .skipped: skipped += 1
                }
                Report.say(isOptimized ? verdict.line : "\(verdict.title): a debug build is no measure, skipped")
            }
        }
        Report.say("\(passed) passed, \(failed) failed, \(skipped) skipped")
        return failed == 0 ? 0 : 1
    }

    private static var isOptimized: Bool {
        #if DEBUG
        false
        #else
        true
        #endif
    }
}
