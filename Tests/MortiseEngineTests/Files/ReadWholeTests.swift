import MortiseEngine
import Testing
import MortiseTestSupport

@Suite struct ReadWholeTests {
    let fileSystem = SimulatedFileSystem()

    @Test func theWholeContentComesWithItsIdentity() throws {
        try fileSystem.install(pattern(1, count: 10_000), at: "/store")
        let (bytes, identity) = try fileSystem.readWhole("/store", limit: 10_000)
        #expect(bytes == pattern(1, count: 10_000))
        #expect(try identity.change(at: "/store", in: fileSystem) == nil)
    }

    @Test func anEmptyFileIsNoBytes() throws {
        try fileSystem.install([], at: "/store")
        #expect(try fileSystem.readWhole("/store", limit: 0).bytes == [])
    }

    @Test func aFileAboveTheLimitIsRefusedUnread() throws {
        try fileSystem.install(pattern(1, count: 11), at: "/store")
        let error = fileError { _ = try fileSystem.readWhole("/store", limit: 10) }
        #expect(error?.reason == .exceedsLimit(size: 11, limit: 10))
        #expect(!fileSystem.trace.contains { $0.operation == .read })
    }

    @Test(arguments: 1...5)
    func everyFailingOperationIsReported(number: Int) throws {
        try fileSystem.install(pattern(1, count: 100), at: "/store")
        fileSystem.inject(.fail(.io), at: number)
        let error = fileError { _ = try fileSystem.readWhole("/store", limit: 100) }
        // The fifth closes the file, after the bytes were read and checked.
        #expect(error?.reason == (number == 5 ? nil : .io))
    }

    @Test(arguments: [
        ([UInt8](repeating: 9, count: 101), FileChange.extended(from: 100, to: 101)),
        ([9], .truncated(from: 100, to: 1)),
        ([UInt8](repeating: 9, count: 100), .modified),
    ])
    func aFileThatChangesWhileItIsReadIsReported(other: [UInt8], change: FileChange) throws {
        try fileSystem.install(pattern(1, count: 100), at: "/store")
        fileSystem.interject(of: .read) { [fileSystem] in try? fileSystem.install(other, at: "/store") }
        let error = fileError { _ = try fileSystem.readWhole("/store", limit: 1_000) }
        #expect(error?.reason == .changed(change))
    }
}
