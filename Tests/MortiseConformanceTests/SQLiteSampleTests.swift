#if SQLite
import Foundation
import MortiseConformance
import SQLiteStore
import Testing

/// The first hour on the sample of a store on SQLite, so that it is compiled and tried with everything else. `Tests/run sqlite`
/// has the whole kit, with kills.
@Suite struct SQLiteSampleTests {
    private static let subject = ConformanceSubject(
        "SQLite", folder: { SQLiteConfiguration(file: $0.appending(path: "store.sqlite")) })

    @Test(arguments: ConformanceCase.all(upTo: .firstHour)) func conforms(_ conformanceCase: ConformanceCase) throws {
        try Self.subject.startingProcesses(of: ConformanceProgram.beside("sqlite-store")).check(conformanceCase)
    }
}
#endif
