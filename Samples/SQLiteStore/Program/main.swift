#if SQLite
import Foundation
import MortiseConformance
import SQLiteStore

// Puts the store of this sample through the conformance kit: `sqlite-store --help` says how.

let subject = ConformanceSubject(
    "SQLite", folder: { SQLiteConfiguration(file: $0.appending(path: "store.sqlite")) })
exit(ConformanceProgram.main(subjects: [subject]))
#else
print("This sample needs SQLite. Run it with: swift run --traits SQLite sqlite-store")
print("0 passed, 0 failed, 1 skipped")
#endif
