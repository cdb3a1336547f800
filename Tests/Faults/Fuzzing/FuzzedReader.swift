import Foundation
import MortiseCore
import MortiseJSONFile

/// What libFuzzer calls with each input: the reader of JSON, as strictly as a store reads and as an edited file is read; or
/// that of logs, where the environment says `MORTISE_FUZZED=log`.
///
/// An input is fine when it is read or refused with the reader's typed error. Another error, a trap, or more memory than
/// the reader promises ends the process, which libFuzzer reports with the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReader(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    if isLogFuzzed {
        FuzzedLog.run(bytes)
        return 0
    }
    MemoryMeter.measure(limit: 4 * count + (16 << 20)) {
        read(bytes, integrity: .acceptEdits)
        read(bytes, integrity: .required)
    }
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
