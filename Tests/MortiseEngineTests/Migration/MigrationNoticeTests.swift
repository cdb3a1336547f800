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

    /// Attempts at the same migration are counted as long as their processes die.
    @Test func anAttemptFollowsOnOneWhoseProcessDied() throws {
        let later = Schema.Version(2, 0, 0)
        let first = MigrationUnderWay(from: version, to: later)
        #expect(try first.following(nil, store: "s").attempt == 1)
        let second = try first.following(first, store: "s")
        #expect(second.attempt == 2 && second.description.hasSuffix("to 2.0.0, attempt 2"))
        #expect(try MigrationUnderWay(from: version, to: nil).following(second, store: "s").attempt == 1)
        #expect(try MigrationUnderWay(from: later, to: later).following(second, store: "s").attempt == 1)
        #expect(throws: MigrationError.attemptsDied(store: "s", from: version, to: later, attempts: 2)) {
            try first.following(second, store: "s")
        }
        let bytes = try JSONEncoder().encode(second)
        #expect(try JSONDecoder().decode(MigrationUnderWay.self, from: bytes) == second)
        // As processes of earlier versions of the library write it.
        var fields = try #require(JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        fields["attempt"] = nil
        let older = try JSONSerialization.data(withJSONObject: fields)
        #expect(try JSONDecoder().decode(MigrationUnderWay.self, from: older).attempt == 1)
    }
}
