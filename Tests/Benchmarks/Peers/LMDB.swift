#if BenchmarkPeers
import Foundation

/// LMDB through its C interface, loaded when the program runs: neither the build nor the package needs it.
enum LMDB {
    /// One durable transaction that appends the records in the order of their keys, the fastest way into LMDB. They are
    /// encoded beforehand, and there is no index.
    /// - Returns: nothing where the library is not installed.
    /// - Throws: `LMDBFailure` where it is another one than expected.
    static func ways(_ fixture: Fixture) throws -> [Way] {
        guard let library = dlopen("liblmdb.so.0", RTLD_NOW) ?? dlopen("liblmdb.dylib", RTLD_NOW) else { return [] }
        let calls = try Calls(library)
        return [
            Way(name: Row.lmdb, units: fixture.records) {
                let path = fixture.newFile("lmdb")
                let records = fixture.trips.map(encoded)
                let environment = try calls.open(path, size: 4 << 30)
                return {
                    try calls.append(records, to: environment)
                    return {
                        let count = try calls.count(in: environment)
                        calls.close(environment)
                        for end in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + end) }
                        return count
                    }
                }
            }
        ]
    }

    /// Fixed parts, then each string with its length.
    private static func encoded(_ values: TripValues) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: values.id.uuid) { bytes += $0 }
        for number in [
            values.startDate.timeIntervalSinceReferenceDate, values.endDate.timeIntervalSinceReferenceDate,
            values.price,
        ] {
            withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes += $0 }
        }
        bytes.append(UInt8(truncatingIfNeeded: values.rating))
        bytes.append(values.isFavourite ? 1 : 0)
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: values.traveler).littleEndian) { bytes += $0 }
        for text in [values.name, values.destination, values.note] {
            bytes.append(UInt8(truncatingIfNeeded: text.utf8.count))
            bytes += text.utf8
        }
        return bytes
    }

    /// `MDB_val`.
    private struct Bytes {
        var count: Int
        var start: UnsafeMutableRawPointer?
    }

    /// `MDB_stat`.
    private struct Statistics {
        var pageSize: UInt32 = 0
        var depth: UInt32 = 0
        var branchPages = 0
        var leafPages = 0
        var overflowPages = 0
        var entries = 0
    }

    /// The functions, by the signatures of `lmdb.h`, and the flags' values there.
    private struct Calls {
        private typealias Handle = UnsafeMutableRawPointer
        private let create: @convention(c) (UnsafeMutablePointer<Handle?>) -> Int32
        private let setMapSize: @convention(c) (Handle?, Int) -> Int32
        private let openEnvironment: @convention(c) (Handle?, UnsafePointer<CChar>, UInt32, mode_t) -> Int32
        private let begin: @convention(c) (Handle?, Handle?, UInt32, UnsafeMutablePointer<Handle?>) -> Int32
        private let openDatabase:
            @convention(c) (Handle?, UnsafePointer<CChar>?, UInt32, UnsafeMutablePointer<UInt32>) -> Int32
        private let put: @convention(c) (Handle?, UInt32, UnsafeRawPointer, UnsafeRawPointer, UInt32) -> Int32
        private let commit: @convention(c) (Handle?) -> Int32
        private let abort: @convention(c) (Handle?) -> Void
        private let statistics: @convention(c) (Handle?, UInt32, UnsafeMutableRawPointer) -> Int32
        private let closeEnvironment: @convention(c) (Handle?) -> Void

        private static let (noSubdirectory, integerKey): (UInt32, UInt32) = (0x4000, 0x08)
        private static let (append, readOnly): (UInt32, UInt32) = (0x20000, 0x20000)

        init(_ library: UnsafeMutableRawPointer) throws {
            func call<T>(_ name: String, as type: T.Type = T.self) throws -> T {
                guard let symbol = dlsym(library, name) else { throw LMDBFailure(call: name, status: nil) }
                return unsafeBitCast(symbol, to: type)
            }
            create = try call("mdb_env_create")
            setMapSize = try call("mdb_env_set_mapsize")
            openEnvironment = try call("mdb_env_open")
            begin = try call("mdb_txn_begin")
            openDatabase = try call("mdb_dbi_open")
            put = try call("mdb_put")
            commit = try call("mdb_txn_commit")
            abort = try call("mdb_txn_abort")
            statistics = try call("mdb_stat")
            closeEnvironment = try call("mdb_env_close")
        }

        private func check(_ status: Int32, _ call: String) throws {
            if status != 0 { throw LMDBFailure(call: call, status: status) }
        }

        func open(_ path: String, size: Int) throws -> UnsafeMutableRawPointer? {
            var environment: Handle?
            try check(create(&environment), "mdb_env_create")
            try check(setMapSize(environment, size), "mdb_env_set_mapsize")
            try check(openEnvironment(environment, path, Self.noSubdirectory, 0o600), "mdb_env_open")
            return environment
        }

        func append(_ records: [[UInt8]], to environment: UnsafeMutableRawPointer?) throws {
            var transaction: Handle?
            var database: UInt32 = 0
            try check(begin(environment, nil, 0, &transaction), "mdb_txn_begin")
            try check(openDatabase(transaction, nil, Self.integerKey, &database), "mdb_dbi_open")
            for (number, record) in records.enumerated() {
                var number = number
                try withUnsafeMutableBytes(of: &number) { key in
                    var key = Bytes(count: key.count, start: key.baseAddress)
                    try record.withUnsafeBytes { bytes in
                        // Only read.
                        var value = Bytes(
                            count: bytes.count, start: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
                        try check(put(transaction, database, &key, &value, Self.append), "mdb_put")
                    }
                }
            }
            try check(commit(transaction), "mdb_txn_commit")
        }

        func count(in environment: UnsafeMutableRawPointer?) throws -> Int {
            var transaction: Handle?
            var database: UInt32 = 0
            var found = Statistics()
            try check(begin(environment, nil, Self.readOnly, &transaction), "mdb_txn_begin")
            defer { abort(transaction) }
            try check(openDatabase(transaction, nil, Self.integerKey, &database), "mdb_dbi_open")
            try check(statistics(transaction, database, &found), "mdb_stat")
            return found.entries
        }

        func close(_ environment: UnsafeMutableRawPointer?) { closeEnvironment(environment) }
    }
}

struct LMDBFailure: Error, CustomStringConvertible {
    let call: String
    let status: Int32?
    var description: String { "LMDB: \(call) " + (status.map { "gives status \($0)" } ?? "is not there") }
}
#endif
