import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// The disk fills up at every byte of a save, then has room again.
struct FullDiskCheck {
    var mistake: BrokenFileSystem.Mistake?
    var step = isFullSize ? 1 : 37

    func run() throws -> Findings {
        var findings = Findings()
        let size = try Depot.document(of: 3).count
        for room in stride(from: 0, to: size, by: step) {
            let depot = try Depot(state: 2, breaking: mistake)
            let container = try depot.open()
            let context = ModelContext(container)
            try Workload.change(context, to: 3)
            let used = depot.disk.paths.reduce(0) { $0 + (depot.disk.contents(at: $1)?.count ?? 0) }
            depot.disk.limits.capacity = used + room
            findings.inject()
            let error = thrown { try context.save() }
            findings.expect(
                (error as? FileError)?.reason == .noSpace, "with \(room) bytes: \(String(describing: error))")
            findings.expect(context.hasChanges, "with \(room) bytes: the context is not dirty")
            findings.expect(depot.state() == 2, "with \(room) bytes: the file is not as it was")
            findings.expect(depot.temporaries.isEmpty, "with \(room) bytes: a temporary takes room")
            depot.disk.limits.capacity = nil
            let later = thrown { try context.save() }
            findings.expect(later == nil && !context.hasChanges, "with room again: \(String(describing: later))")
            findings.expect(depot.state() == 3, "with room again: state \(String(describing: depot.state()))")
            try container.close()
        }
        return findings
    }
}

/// Every operation of opening, saving and closing fails once with a code, in each of two ways.
struct FailingOperationCheck {
    var code: FileError.Code
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings { try run(afterwards: false) + run(afterwards: true) }

    private func run(afterwards: Bool) throws -> Findings {
        var findings = Findings()
        var number = 1
        while true {
            let depot = try Depot(state: 2, breaking: mistake)
            depot.disk.inject(afterwards ? .failAfterwards(code) : .fail(code), at: number)
            var opened: ModelContainer?
            var error = thrown { opened = try depot.open() }
            if let container = opened {
                let context = ModelContext(container)
                try Workload.change(context, to: 3)
                error = thrown { try context.save() } ?? error
                let isClean = !context.hasChanges
                findings.expect((error == nil) == isClean, "the context does not know whether it was saved")
                if error != nil {
                    findings.expect(container.workloadState == 2, "a failed save is visible")
                    checkSecondTry(context, after: error, number, &findings)
                }
                _ = thrown { try container.close() }
            }
            if depot.disk.operationCount < number { return findings }
            let place = "\(depot.disk.trace[number - 1].operation) \(number) with \(code)"
            depot.disk.removeFaults()
            findings.inject()
            findings.expect(error == nil || error is FileError, "\(place): \(String(describing: error))")
            let state = depot.state()
            findings.expect(state == 3 || (error != nil && state == 2), "\(place): state \(String(describing: state))")
            reopen(depot, place, &findings)
            number += 1
        }
    }

    /// The same save again: done, or refused by a typed error. What it acknowledges is there.
    private func checkSecondTry(
        _ context: ModelContext, after first: (any Error)?, _ number: Int, _ findings: inout Findings
    ) {
        let error = thrown { try context.save() }
        findings.expect(
            error == nil || isLatched(error) || error is FileError,
            "second try of \(number): \(String(describing: error))")
        if let first = first as? FileError, first.outcomeIsUnknown {
            findings.expect(isLatched(error), "after \(first) the store was not latched")
        }
    }

    private func reopen(_ depot: Depot, _ place: String, _ findings: inout Findings) {
        do {
            let container = try depot.open()
            let state = container.workloadState
            findings.expect(state == 2 || state == 3, "\(place): reopened it shows \(String(describing: state))")
            try container.advance(to: (state ?? 3) + 1)
            try container.close()
            findings.expect(depot.state() == (state ?? 3) + 1, "\(place): the save after reopening is not there")
            findings.expect(depot.temporaries.isEmpty, "\(place): left \(depot.temporaries)")
        } catch {
            findings.expect(false, "\(place): not usable afterwards: \(error)")
        }
    }
}

/// The file may not become longer than so much.
struct LengthLimitCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2, breaking: mistake)
        let container = try depot.open()
        for limit in [0, 1, 500, 1_000] {
            depot.disk.limits.fileSize = limit
            findings.inject()
            let error = thrown { try container.advance(to: 3) } as? FileError
            findings.expect(error?.reason == .fileTooLarge, "limit \(limit): \(String(describing: error))")
            findings.expect(depot.state() == 2 && depot.temporaries.isEmpty, "limit \(limit): not as it was")
        }
        depot.disk.limits.fileSize = nil
        try container.advance(to: 3)
        findings.expect(depot.state() == 3, "with the limit gone")
        return findings
    }
}

/// There are no more inodes, or descriptors.
struct ExhaustionCheck {
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2, breaking: mistake)
        let container = try depot.open()
        // The file and its lock file are there; the lock is open.
        for (exhaust, supply) in [(\SimulatedFileSystem.Limits.nodes, 2), (\.openFiles, 1)] {
            depot.disk.limits[keyPath: exhaust] = supply
            findings.inject()
            let error = thrown { try container.advance(to: 3) } as? FileError
            depot.disk.limits[keyPath: exhaust] = nil
            findings.expect(
                error.map { [.noSpace, .tooManyOpenFiles].contains($0.reason) } == true, "\(String(describing: error))")
            findings.expect(depot.state() == 2 && depot.temporaries.isEmpty, "\(String(describing: error))")
        }
        depot.disk.inject(.fail(.processFiles), of: .open)
        findings.inject()
        let error = thrown { try container.advance(to: 3) } as? FileError
        findings.expect(error?.reason == .tooManyOpenFiles, "\(String(describing: error))")
        let later = thrown { try container.advance(to: 3) }
        findings.expect(later == nil, "afterwards: \(String(describing: later))")
        findings.expect(depot.state() == 3, "afterwards")
        return findings
    }
}

/// The next save makes the file one byte longer than the reader accepts.
struct ReadableLengthCheck {
    /// Whether the writer knows of the reader's limit.
    var isBroken = false

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(state: 2)
        let limit = Int64(try Depot.document(of: 3).count) - 1
        var configuration = depot.configuration()
        if !isBroken { configuration.largestFile = limit }
        let container = try Workload.open(configuration)
        findings.inject()
        let error = thrown { try container.advance(to: 3) } as? FileError
        var isTyped = false
        if case .exceedsLimit? = error?.reason { isTyped = true }
        findings.expect(isTyped, "\(String(describing: error))")
        findings.expect(depot.temporaries.isEmpty, "left \(depot.temporaries)")
        try container.close()
        var reader = depot.configuration(allowsSave: false)
        reader.largestFile = limit
        let later = thrown { try Workload.openStore(reader).close() }
        findings.expect(later == nil, "what was written is not read: \(String(describing: later))")
        return findings
    }
}

@Suite struct FullDiskTests {
    @Test func aSaveOnAFullDiskFailsWholeAndIsDoneOnceThereIsRoom() throws {
        try FullDiskCheck().run().verify("F09")
    }

    @Test(arguments: [
        FileError.Code.io, .noSpace, .quota, .fileTooLarge, .processFiles, .systemFiles, .access, .readOnly,
    ])
    func noFailureOfASingleOperationHarmsTheStore(code: FileError.Code) throws {
        try FailingOperationCheck(code: code).run().verify("F09", "F11", "F12")
    }

    @Test func aSaveBeyondTheLimitOfLengthIsATypedError() throws { try LengthLimitCheck().run().verify("F11") }

    @Test func withoutInodesOrDescriptorsTheStoreStaysUsable() throws { try ExhaustionCheck().run().verify("F12") }

    /// A file that the reader would refuse for its length was written without complaint.
    @Test func whatIsTooLongToBeReadAgainIsNotWritten() throws { try ReadableLengthCheck().run().verify("F11") }
}
