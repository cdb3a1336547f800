import FaultWorkload
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// A sync fails once, and from then on succeeds, as kernels do it.
struct SyncFailureCheck {
    var operation = FileError.Operation.sync
    var code = FileError.Code.io
    var mistake: BrokenFileSystem.Mistake?

    func run() throws -> Findings {
        var findings = Findings()
        for number in 1...2 {
            let depot = try Depot(seed: UInt64(number), state: 2, breaking: mistake)
            let container = try depot.open()
            let context = ModelContext(container)
            depot.disk.inject(.fail(code), at: number, of: operation)
            findings.inject()
            // A save syncs its new file and its history, and the first one the folder twice.
            let saved =
                operation == .sync ? (number - 1) / 2 : operation == .syncDirectory ? max(0, number - 2) : number - 1
            let state = 3 + saved
            for state in 3..<state {
                try Workload.change(context, to: state)
                try context.save()
            }
            try Workload.change(context, to: state)
            let error = thrown { try context.save() }
            findings.expect(error is FileError, "the save did not fail: \(String(describing: error))")
            findings.expect(context.hasChanges, "the context is not dirty")
            findings.expect(container.workloadState == state - 1, "the failed save is visible")
            let writes = depot.disk.operationCount
            findings.expect(isLatched(thrown { try context.save() }), "the same save again was not refused")
            findings.expect(
                isLatched(thrown { try ModelContext(container).jsonInsert() }), "another save was not refused")
            findings.expect(depot.disk.operationCount == writes, "a latched store touched its file")
            let shared = try depot.open()
            findings.expect(
                isLatched(thrown { try ModelContext(shared).jsonInsert() }), "a second opening unlatched it")
            try shared.close()
            try container.close()

            let reopened = try depot.open()
            let found = reopened.workloadState
            findings.expect(found == state || found == state - 1, "reopened it shows \(String(describing: found))")
            try reopened.advance(to: (found ?? state) + 1)
            try reopened.close()
            // What was acknowledged after the reopening no longer depends on what the failed sync left behind.
            let image = depot.disk.crashed(after: .max, losing: .unsynced)
            findings.expect(Depot.state(in: image) == (found ?? state) + 1, "a save after reopening was lost")
        }
        return findings
    }
}

extension ModelContext {
    fileprivate func jsonInsert() throws {
        insert(Courier(name: "another"))
        try save()
    }
}

@Suite struct SyncFailureTests {
    @Test(arguments: [FileError.Code.io, .interrupted, .noSpace])
    func afterAFailedSyncOfTheFileTheStoreTakesNoSavesUntilReopened(code: FileError.Code) throws {
        try SyncFailureCheck(code: code).run().verify("F05")
    }

    @Test(arguments: [FileError.Code.io, .interrupted, .processFiles])
    func afterAFailedSyncOfTheDirectoryTheStoreTakesNoSavesUntilReopened(code: FileError.Code) throws {
        try SyncFailureCheck(operation: .syncDirectory, code: code).run().verify("F06")
    }

    @Test func aRenamingOfUnknownOutcomeLatchesToo() throws {
        try SyncFailureCheck(operation: .rename).run().verify("F06")
    }

    @Test func aLatchedStoreCanStillBeReadAndSaysWhy() throws {
        let depot = try Depot(state: 2)
        let container = try depot.open()
        depot.disk.inject(.fail(.io), of: .sync)
        #expect(throws: FileError.self) { try container.advance(to: 3) }
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Parcel>()) == 6)
        let error = thrown { try container.advance(to: 3) }
        #expect(String(describing: error).contains("EIO"))
        guard case EngineError.latched(let store, _)? = error else { return #expect(Bool(false), "\(error as Any)") }
        #expect(store == Depot.path)
    }
}
