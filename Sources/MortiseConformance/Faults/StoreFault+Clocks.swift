import Foundation
import MortiseCore

/// A date as the time that clocks of a place show, and back, which is not always the same date.
private enum Clock {
    static func time(_ value: StoredValue, in zone: TimeZone) -> StoredValue? {
        guard let seconds = seconds(value) else { return nil }
        let moment = Date(timeIntervalSinceReferenceDate: seconds)
        return .date(moment + Double(zone.secondsFromGMT(for: moment)))
    }

    static func moment(_ value: StoredValue, in zone: TimeZone) -> StoredValue? {
        guard let seconds = seconds(value) else { return nil }
        let time = Date(timeIntervalSinceReferenceDate: seconds)
        // Of two hours of the same name the second is taken.
        let distance = zone.secondsFromGMT(for: time - Double(zone.secondsFromGMT(for: time)) + 3_599)
        return .date(time - Double(distance))
    }

    private static func seconds(_ value: StoredValue) -> Double? {
        guard case .date(let date) = value, abs(date.timeIntervalSinceReferenceDate) < 1e11 else { return nil }
        return date.timeIntervalSinceReferenceDate
    }
}

extension StoreFault {
    /// Stores that keep the time of a clock.
    static let clockFaults: [StoreFault] = [
        StoreFault("keeps-the-time-in-berlin", "keeps dates as the time that clocks in Berlin show") { steps in
            let keep = steps.keep
            let zone = TimeZone(identifier: "Europe/Berlin") ?? .current
            steps.keep = { value, slot in
                Clock.time(value, in: zone).flatMap { Clock.moment($0, in: zone) } ?? keep(value, slot)
            }
        }
    ]

    /// Stores in a folder that keep the time of a clock where their process runs.
    static let folderClockFaults: [StoreFault] = [
        StoreFault("keeps-the-time-of-its-zone", "keeps dates as the time that clocks show where its process runs") {
            (folder: inout FolderSteps) in
            folder.keep = { Clock.time($0, in: .current) ?? $0 }
            folder.show = { Clock.moment($0, in: .current) ?? $0 }
        },
        StoreFault(
            "reads-the-time-of-its-zone", "keeps dates rightly, and reads them as the time of its zone in winter"
        ) {
            (folder: inout FolderSteps) in
            folder.show = { value in
                guard case .date(let date) = value, abs(date.timeIntervalSinceReferenceDate) < 1e11 else {
                    return value
                }
                let now = Date(timeIntervalSinceReferenceDate: 789_000_000)
                let zone = TimeZone.current
                // The distance of the day less that of the winter: right where clocks are not changed.
                return .date(date + Double(zone.secondsFromGMT(for: date) - zone.secondsFromGMT(for: now)))
            }
        },
    ]
}
