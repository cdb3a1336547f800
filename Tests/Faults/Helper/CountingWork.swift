import FaultWorkload
import Foundation
import MortiseAppendLog
import MortiseCore
#if SQLite
import MortiseSQLite
#endif

/// What each of several processes does that count on one record: makes its weight greater by one, in transactions that run again after a
/// conflict.
struct CountingWork {
    let path: String

    /// A log and a file of SQLite are opened by all processes at once. Only one has a JSON file open at a time, for one transaction.
    func run(times: Int) throws {
        var attempts = 0
        if path.hasSuffix(".json") {
            for _ in 0..<times {
                let container = try Self.untilFree { try open() }
                attempts += try count(in: ModelContext(container))
                try container.close()
            }
        } else {
            let container = try Self.untilFree { try open() }
            let context = ModelContext(container)
            for _ in 0..<times { attempts += try Self.untilFree { try count(in: context) } }
            try container.close()
        }
        FaultHelper.say("attempts \(attempts)")
    }

    /// Makes the record.
    func begin() throws {
        let container = try open()
        let context = ModelContext(container)
        context.insert(Parcel(number: 0, label: "counter"))
        try context.save()
        try container.close()
    }

    /// Prints how far it was counted.
    func tell() throws {
        let container = try open()
        FaultHelper.say("counted \(Int(try Self.counter(in: ModelContext(container)).weight))")
        try container.close()
    }

    private func count(in context: ModelContext) throws -> Int {
        try context.transaction(retrying: 1_000) { try Self.counter(in: context).weight += 1 }.attempts
    }

    private static func counter(in context: ModelContext) throws -> Parcel {
        guard let found = try context.fetchFirst(FetchDescriptor<Parcel>(predicate: #Predicate { $0.number == 0 }))
        else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return found
    }

    private func open() throws -> ModelContainer {
        #if SQLite
        if path.hasSuffix(".sqlite") { return try Workload.open(SQLiteConfiguration(path: path)) }
        #endif
        return try Workload.open(path: path, sharing: path.hasSuffix(".log") ? .shared : .exclusive)
    }

    /// Another process may have the store, or be writing to it, for a moment.
    private static func untilFree<R>(_ body: () throws -> R) throws -> R {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            do {
                return try body()
            } catch let error as any ClassifiedStoreError
                where [.locked, .busy].contains(error.errorClass) && ContinuousClock.now < end
            {
                Thread.sleep(forTimeInterval: 0.001)
            }
        }
    }
}
