import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport

/// A workload of saves and reopenings, with a crash after every operation and with every kind of loss.
struct PowerCutCheck {
    var seed: UInt64 = 1
    var mistake: BrokenFileSystem.Mistake?
    /// After which states the store is closed and opened again.
    var reopenings: Set<Int> = [2, 3]
    var last = 5
    /// Fails the n-th sync of a file, or of a directory.
    var failingSync: (operation: FileError.Operation, number: Int)?
    /// How many single cuts and scattered losses to try at each point.
    var limit = 6

    /// What was promised: after so many operations, so many saves were acknowledged, and one more was begun or not.
    private struct Promise {
        var operation: Int
        var acknowledged: Int
        var attempted: Int
    }

    func run() throws -> Findings {
        var findings = Findings()
        let depot = try Depot(seed: seed, breaking: mistake)
        let promises = try work(on: depot)
        depot.disk.forEachCrash(limit: limit) { image in
            findings.inject()
            let promise =
                promises.last { $0.operation <= image.operation }
                ?? Promise(operation: 0, acknowledged: 0, attempted: 0)
            let next = promises.first { $0.operation > image.operation }
            // A save whose first operations the image may hold was begun right after the promise.
            let attempted = max(promise.attempted, next?.attempted ?? 0)
            check(image, acknowledged: promise.acknowledged, attempted: attempted, &findings)
        }
        return findings
    }

    private func work(on depot: Depot) throws -> [Promise] {
        var promises: [Promise] = []
        var container = try depot.open()
        if let failingSync { depot.disk.inject(.fail(.io), at: failingSync.number, of: failingSync.operation) }
        var acknowledged = 0
        while acknowledged < last {
            do {
                try container.advance(to: acknowledged + 1)
                acknowledged += 1
                promises.append(
                    Promise(
                        operation: depot.disk.operationCount, acknowledged: acknowledged, attempted: acknowledged))
                guard reopenings.contains(acknowledged) else { continue }
                try container.close()
                container = try depot.open()
            } catch {
                // The save may be on the disk, or not: what a new opening shows counts from now on, but is no promise.
                promises.append(
                    Promise(
                        operation: depot.disk.operationCount, acknowledged: acknowledged, attempted: acknowledged + 1))
                try container.close()
                container = try depot.open()
                acknowledged = container.workloadState ?? acknowledged
            }
        }
        try container.close()
        return promises
    }

    private func check(
        _ image: SimulatedFileSystem.CrashImage, acknowledged: Int, attempted: Int, _ findings: inout Findings
    ) {
        let place = "after operation \(image.operation), \(image.loss)"
        do {
            let store = try Workload.openStore(JSONFileConfiguration(path: Depot.path, in: image.fileSystem))
            let state = Workload.state(of: store, upTo: last)
            let transactions = Result { try store.fetchHistory(HistoryDescriptor()).count }
            try store.close()
            guard let state else { return findings.expect(false, "\(place): no whole state") }
            findings.expect(state >= acknowledged, "\(place): state \(state), but \(acknowledged) was acknowledged")
            findings.expect(state <= attempted, "\(place): state \(state), but only \(attempted) was begun")
            // The history agrees with the records, whatever the cut left of it. After a failed sync of its own it may begin anew.
            if failingSync == nil {
                let count = try? transactions.get()
                findings.expect(count == state, "\(place): state \(state), but \(transactions) transactions")
            }
            let own = [Depot.path, Depot.path + ".lock", Depot.path + ".history"]
            let left = image.fileSystem.paths.filter { !own.contains($0) }
            findings.expect(left.isEmpty, "\(place): left behind \(left)")
        } catch {
            findings.expect(false, "\(place): \(error)")
        }
    }
}
