#if SQLite
import Foundation
import MortiseCore
@testable import MortiseSQLite
import Testing

/// A store is no backup of itself.
@Suite struct SelfRestoringTests {
    /// The other stores had refused it.
    @Test func aStoreIsNotRestoredFromItselfByAnotherName() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(folder.path(), [entity("Item", [("name", .string)])])
        try store.insert("Item", ["name": .string("x")])
        try store.close()
        let link = folder.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path())
        for path in [folder.path(), link] {
            #expect(throws: RestoreError.backupIsStore(path: path)) {
                try SQLiteConfiguration(path: folder.path()).restoreStore(from: path, replacing: true) {}
            }
        }
    }
}
#endif
