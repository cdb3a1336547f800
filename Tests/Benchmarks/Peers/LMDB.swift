#if BenchmarkPeers
import Foundation

/// LMDB through its C interface, loaded when the program runs: neither the build nor the package needs it.
enum LMDB {
    /// One durable transaction with records that are encoded beforehand, in the order of their keys: appended without an
    /// index, which is the fastest way into LMDB, and put with the three indexes that the other ways have.
    /// - Returns: nothing where the library is not installed.
    /// - Throws: `LMDBFailure` where it is another one than expected.
    static func ways(_ fixture: Fixture) throws -> [Way] {
        guard let library = dlopen("liblmdb.so.0", RTLD_NOW) ?? dlopen("liblmdb.dylib", RTLD_NOW) else { return [] }
        let calls = try Calls(library)
        func way(_ name: String, _ records: @escaping () -> [Record]) -> Way {
            Way(name: name, units: fixture.records) {
                let path = fixture.newFile("lmdb")
                let records = records()
                let environment = try calls.open(path, size: 8 << 30)
                return {
                    try calls.put(records, into: environment)
                    return {
                        let count = try calls.count(in: environment)
                        calls.close(environment)
                        for end in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + end) }
                        return count
                    }
                }
            }
        }
        return [
            way(Row.lmdb) { fixture.trips.map { Record(encoded: encoded($0), keys: []) } },
            way(Row.lmdbIndexed) {
                fixture.trips.map { values in
                    let id = withUnsafeBytes(of: values.id.uuid) { [UInt8]($0) }
                    return Record(
                        encoded: encoded(values), keys: [id, Array(values.name.utf8), Array(values.destination.utf8)])
                }
            },
        ]
    }

    private struct Record {
        var encoded: [UInt8]
        /// What the indexes have it under.
        var keys: [[UInt8]]
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
        private let createEnvironment: @convention(c) (UnsafeMutablePointer<Handle?>) -> Int32
        private let setMapSize: @convention(c) (Handle?, Int) -> Int32
        private let setDatabases: @convention(c) (Handle?, UInt32) -> Int32
        private let openEnvironment: @convention(c) (Handle?, UnsafePointer<CChar>, UInt32, mode_t) -> Int32
        private let begin: @convention(c) (Handle?, Handle?, UInt32, UnsafeMutablePointer<Handle?>) -> Int32
        private let openDatabase:
            @convention(c) (Handle?, UnsafePointer<CChar>?, UInt32, UnsafeMutablePointer<UInt32>) -> Int32
        private let putValue: @convention(c) (Handle?, UInt32, UnsafeRawPointer, UnsafeRawPointer, UInt32) -> Int32
        private let commit: @convention(c) (Handle?) -> Int32
        private let abort: @convention(c) (Handle?) -> Void
        private let statistics: @convention(c) (Handle?, UInt32, UnsafeMutableRawPointer) -> Int32
        private let closeEnvironment: @convention(c) (Handle?) -> Void

        private static let (noSubdirectory, integerKey): (UInt32, UInt32) = (0x4000, 0x08)
        private static let (create, duplicates, fixedDuplicates): (UInt32, UInt32, UInt32) = (0x40000, 0x04, 0x10)
        private static let (append, readOnly): (UInt32, UInt32) = (0x20000, 0x20000)

        init(_ library: UnsafeMutableRawPointer) throws {
            func call<T>(_ name: String, as type: T.Type = T.self) throws -> T {
                guard let symbol = dlsym(library, name) else { throw LMDBFailure(call: name, status: nil) }
                return unsafeBitCast(symbol, to: type)
            }
            createEnvironment = try call("mdb_env_create")
            setMapSize = try call("mdb_env_set_mapsize")
            setDatabases = try call("mdb_env_set_maxdbs")
            openEnvironment = try call("mdb_env_open")
            begin = try call("mdb_txn_begin")
            openDatabase = try call("mdb_dbi_open")
            putValue = try call("mdb_put")
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
            try check(createEnvironment(&environment), "mdb_env_create")
            try check(setMapSize(environment, size), "mdb_env_set_mapsize")
            try check(setDatabases(environment, 4), "mdb_env_set_maxdbs")
            try check(openEnvironment(environment, path, Self.noSubdirectory, 0o600), "mdb_env_open")
            return environment
        }

        func put(_ records: [Record], into environment: UnsafeMutableRawPointer?) throws {
            var transaction: Handle?
            try check(begin(environment, nil, 0, &transaction), "mdb_txn_begin")
            let main = try database("records", Self.integerKey | Self.create, transaction)
            let indexes = try (0..<(records.first?.keys.count ?? 0)).map {
                try database("index\($0)", Self.create | Self.duplicates | Self.fixedDuplicates, transaction)
            }
            for (number, record) in records.enumerated() {
                try withUnsafeBytes(of: number) { number in
                    try record.encoded.withUnsafeBytes { try put(number, $0, Self.append, main, transaction) }
                    for (index, key) in zip(indexes, record.keys) {
                        try key.withUnsafeBytes { try put($0, number, 0, index, transaction) }
                    }
                }
            }
            try check(commit(transaction), "mdb_txn_commit")
        }

        private func database(_ name: String, _ flags: UInt32, _ transaction: Handle?) throws -> UInt32 {
            var database: UInt32 = 0
            try check(openDatabase(transaction, name, flags, &database), "mdb_dbi_open")
            return database
        }

        private func put(
            _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ flags: UInt32, _ database: UInt32,
            _ transaction: Handle?
        ) throws {
            // Only read, both.
            var key = Bytes(count: key.count, start: UnsafeMutableRawPointer(mutating: key.baseAddress))
            var value = Bytes(count: value.count, start: UnsafeMutableRawPointer(mutating: value.baseAddress))
            try check(putValue(transaction, database, &key, &value, flags), "mdb_put")
        }

        func count(in environment: UnsafeMutableRawPointer?) throws -> Int {
            var transaction: Handle?
            var found = Statistics()
            try check(begin(environment, nil, Self.readOnly, &transaction), "mdb_txn_begin")
            defer { abort(transaction) }
            let database = try database("records", Self.integerKey, transaction)
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
