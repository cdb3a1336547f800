import Foundation
import MortiseConformance
import Testing

/// What `mortise new-adapter` writes holds a lock, and the kit notices where it is taken away.
@Suite struct UnlockedTemplateTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL
    private static let subject = ConformanceSubject(
        "Shelf without a lock", folder: { UnlockedShelfConfiguration(folder: $0) })

    /// The file beside this one is the template's, and differs in its names and in nothing but the lock.
    @Test func theUnlockedStoreIsTheTemplateButForItsLock() throws {
        let template = try String(
            contentsOf: Self.tests.appending(path: "NewAdapter/Sources/Shelf/ShelfStore.swift"), encoding: .utf8)
        let lock = "guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {"
        #expect(template.split(separator: lock).count == 2)
        let expected = template.replacing(lock, with: "guard file >= 0 else {").replacing(
            #/\bShelf(?=[A-Z])/#, with: "UnlockedShelf"
        )
        .replacing("public ", with: "").replacing("FolderLock", with: "UnlockedShelfLock")
        let file = Self.tests.appending(path: "MortiseConformanceTests/Guide/UnlockedShelfStore.swift")
        #expect(try String(contentsOf: file, encoding: .utf8) == expected)
    }

    /// Two openers at once write over each other's saves.
    @Test func theKitIsRedForTheTemplateWithoutItsLock() throws {
        let openers = ConformanceCase.all.filter { $0.area == "openers" && !$0.isLarge }
        let failed = openers.filter { conformanceCase in
            do {
                try Self.subject.check(conformanceCase)
                return false
            } catch { return true }
        }
        #expect(failed.map(\.id).contains("openers.second-in-the-process"), "\(failed)")
        // An author who runs the first hour alone would not see it, but the core level.
        #expect(failed.contains { $0.level != .full }, "\(failed)")
    }
}
