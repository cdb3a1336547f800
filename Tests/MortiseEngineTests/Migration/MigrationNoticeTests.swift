import Foundation
import MortiseCore
import MortiseEngine
import Testing

/// The file beside a store that says who migrates it.
@Suite struct MigrationNoticeTests {
    private let version = Schema.Version(1, 0, 0)

    /// Defect that this prevents: who was done removed the file of the process that had the lock by then.
    @Test func nobodyRemovesTheNoticeOfAnother() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "notice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store").path(percentEncoded: false)
        let advice = MigrationAdvice(forStoreAt: path, in: POSIXFileSystem())
        let own = MigrationUnderWay(from: version, to: nil)
        for other in [
            MigrationUnderWay(process: own.process + 1, host: own.host, start: own.start, from: version, to: nil),
            MigrationUnderWay(process: own.process, host: own.host + "2", start: own.start, from: version, to: nil),
        ] {
            advice.write(own, permissions: 0o600)
            #expect(advice.current?.process == own.process)
            advice.write(other, permissions: 0o600)
            advice.remove()
            #expect(advice.current?.process == other.process && advice.current?.host == other.host)
        }
        // Who has the lock alone knows that the other is dead.
        advice.clear()
        #expect(advice.current == nil)
        advice.write(own, permissions: 0o600)
        advice.remove()
        #expect(advice.current == nil && !FileManager.default.fileExists(atPath: path + MigrationAdvice.suffix))
    }
}
