import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
import PackageTestSupport

/// What one of several processes does to a log that they share.
///
/// It inserts parcels with numbers that no other process uses, changes and deletes its own and others', and counts on
/// parcels of all: each of the first numbers is a tally whose weight every acknowledged `tally` has made greater by one.
/// It prints `trying WHAT NUMBER` before a save, then `acknowledged WHAT NUMBER`, or `refused WHAT NUMBER` where another
/// has changed or deleted the same record meanwhile.
struct SharedWork {
    /// The numbers below this are tallies, and never deleted.
    static let tallies = 8
    let path: String
    let process: Int

    func run(saves: Int, seed: UInt64) throws {
        let container = try Workload.open(path: path, sharing: .shared)
        let context = ModelContext(container)
        // By the default the later of two counts would win.
        context.mergePolicy = .error
        var random = SeededGenerator(seed: seed)
        for round in 0..<saves {
            switch round % 4 {
            case 1: try count(context, Int.random(in: 0..<Self.tallies, using: &random))
            case 2: try changeSome(context, at: Int.random(in: 0..<40, using: &random), isDeletion: false)
            case 3 where round % 8 == 3:
                try changeSome(context, at: Int.random(in: 0..<40, using: &random), isDeletion: true)
            default:
                let number = process * 1_000_000 + round
                context.insert(Parcel(number: number, label: "of \(process)"))
                try save(context, "insert", number)
            }
        }
        try container.close()
        FaultHelper.say("closed")
    }

    private func count(_ context: ModelContext, _ number: Int) throws {
        let wanted = FetchDescriptor<Parcel>(predicate: #Predicate { $0.number == number })
        guard let tally = try context.fetch(wanted).first else {
            return FaultHelper.say("violation: tally \(number) is not there")
        }
        tally.weight += 1
        try save(context, "tally", number)
    }

    /// Changes or deletes one of the parcels that any process inserted, the same ones for all.
    private func changeSome(_ context: ModelContext, at place: Int, isDeletion: Bool) throws {
        let tallies = Self.tallies
        var wanted = FetchDescriptor<Parcel>(predicate: #Predicate { $0.number >= tallies })
        wanted.fetchLimit = 1
        wanted.fetchOffset = place
        guard let parcel = try context.fetch(wanted).first else { return }
        let number = parcel.number
        if isDeletion { context.delete(parcel) } else { parcel.label = "seen by \(process)" }
        try save(context, isDeletion ? "delete" : "update", number)
    }

    private func save(_ context: ModelContext, _ what: String, _ number: Int) throws {
        FaultHelper.say("trying \(what) \(number)")
        do {
            try context.save()
            FaultHelper.say("acknowledged \(what) \(number)")
        } catch is SaveConflict {
            refuse(context, what, number)
        } catch ModelContextError.noSuchModel {
            refuse(context, what, number)
        }
    }

    private func refuse(_ context: ModelContext, _ what: String, _ number: Int) {
        context.rollback()
        FaultHelper.say("refused \(what) \(number)")
    }

    /// Reads without the right to save: what was counted never becomes less, and no number is there twice.
    func watch() throws {
        let container = try Workload.open(path: path, allowsSave: false)
        let context = ModelContext(container)
        let isEnded = Ending()
        var seen = [Int: Double]()
        var reads = 0
        var isLast = false
        repeat {
            // What was saved before the end is read behind it.
            isLast = isEnded.hasCome
            let parcels = try context.fetch(FetchDescriptor<Parcel>())
            if Set(parcels.map(\.number)).count != parcels.count { FaultHelper.say("violation: a number twice") }
            for parcel in parcels where parcel.number < Self.tallies {
                if parcel.weight < seen[parcel.number] ?? 0 {
                    FaultHelper.say("violation: tally \(parcel.number) has become less")
                }
                seen[parcel.number] = parcel.weight
            }
            reads += 1
        } while !isLast
        FaultHelper.say("reads \(reads)")
        FaultHelper.say("counted \(Int(seen.values.reduce(0, +)))")
        try container.close()
    }
}

/// The end of standard input, which somebody else waits for.
///
/// @unchecked Sendable: the flag is behind the lock.
private final class Ending: @unchecked Sendable {
    private let lock = NSLock()
    private var isHere = false

    init() {
        Thread.detachNewThread { [self] in
            while let data = try? FileHandle.standardInput.read(upToCount: 1), !data.isEmpty {}
            lock.withLock { isHere = true }
        }
    }

    var hasCome: Bool { lock.withLock { isHere } }
}
