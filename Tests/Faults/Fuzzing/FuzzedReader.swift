import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import MortiseTestSupport

/// What libFuzzer calls with each input: the reader of JSON, as strictly as a store reads and as an edited file is read, and
/// the store that opens it; or those of logs, where the environment says `MORTISE_FUZZED=log`.
///
/// An input is fine when it is read or refused with the reader's typed error. Another error, a trap, or more memory than
/// four times the text and 16 MB, the text included, ends the process, which libFuzzer reports with the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReader(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    if isLogFuzzed {
        FuzzedLog.run(bytes)
        return 0
    }
    // The text itself is libFuzzer's, and counts too.
    MemoryMeter.measure(limit: 3 * count + (16 << 20)) {
        read(bytes, integrity: .acceptEdits)
        read(bytes, integrity: .required)
    }
    open(bytes)
    return 0
}

private let isLogFuzzed = ProcessInfo.processInfo.environment["MORTISE_FUZZED"] == "log"

private func read(_ bytes: UnsafeRawBufferPointer, integrity: JSONFileIntegrity) {
    do {
        try StoreDocumentReader(bytes, integrity: integrity).read { _, _, _ in }
    } catch is StoreDocumentError {
        return
    } catch {
        fatalError("The reader threw another error than it promises: \(error)")
    }
}

/// Opens the document under the schema that it names itself, as an edited file that need not be sealed.
private func open(_ bytes: UnsafeRawBufferPointer) {
    let disk = SimulatedFileSystem(seed: 1)
    do {
        try disk.install(Array(bytes), at: "/fuzzed.json")
    } catch {
        fatalError("The disk of the fuzzer is not set up: \(error)")
    }
    // The disk's own copies are none of the store's.
    MemoryMeter.measure(limit: 4 * bytes.count + (16 << 20)) { open(disk) }
}

private func open(_ disk: SimulatedFileSystem) {
    do {
        var configuration = JSONFileConfiguration(
            path: "/fuzzed.json", allowsSave: false, integrity: .acceptEdits, in: disk)
        guard let schema = try configuration.storedSchema() else { return }
        configuration.schema = Schema(stored: schema)
        try JSONFileStore(configuration, migrationPlan: nil).close()
    } catch is JSONFileError {
    } catch is FileError {
    } catch is EngineError {
    } catch {
        fatalError("Opening threw another error than it promises: \(error)")
    }
}
