import MortiseEngine
import Testing
import MortiseTestSupport

@Suite struct TransferTests {
    let fileSystem = SimulatedFileSystem()

    private func file() throws -> any OpenFile {
        try fileSystem.open("/file", mode: .create(permissions: 0o600))
    }

    @Test(arguments: [1, 2, 7, 511, 512, 999])
    func shortWritesAreCompleted(count: Int) throws {
        let file = try file()
        fileSystem.inject(.shorten(to: count), of: .write, times: .max)
        try file.writeAll(pattern(1, count: 1_000), at: 3)
        #expect(fileSystem.contents(at: "/file") == [0, 0, 0] + pattern(1, count: 1_000))
    }

    @Test(arguments: [1, 2, 7, 999])
    func shortReadsAreCompleted(count: Int) throws {
        try fileSystem.install(pattern(1, count: 1_000), at: "/file")
        let file = try file()
        fileSystem.inject(.shorten(to: count), of: .read, times: .max)
        #expect(try file.readAll(count: 1_000, at: 0) == pattern(1, count: 1_000))
    }

    @Test func readingPastTheEndGivesWhatThereIs() throws {
        try fileSystem.install([1, 2, 3], at: "/file")
        let file = try file()
        #expect(try file.readAll(count: 10, at: 1) == [2, 3])
        #expect(try file.readAll(count: 10, at: 3) == [])
        #expect(try file.readAll(count: -1, at: 0) == [])
    }

    @Test func interruptionsAreRepeatedWithoutDoubledBytes() throws {
        let file = try file()
        fileSystem.inject(.shorten(to: 400), of: .write)
        fileSystem.inject(.fail(.interrupted), at: 2, of: .write, times: 3)
        try file.writeAll(pattern(2, count: 1_000), at: 0)
        #expect(fileSystem.contents(at: "/file") == pattern(2, count: 1_000))
        fileSystem.inject(.fail(.interrupted), of: .read, times: 3)
        #expect(try file.readAll(count: 1_000, at: 0) == pattern(2, count: 1_000))
    }

    @Test func aStormOfSignalsEndsInAnErrorInsteadOfAHang() throws {
        let file = try file()
        fileSystem.inject(.fail(.interrupted), of: .write, times: .max)
        #expect(fileError { try file.writeAll([1], at: 0) }?.reason == .interrupted)
    }

    @Test func aFullDiskKeepsThePartThatFittedAndReportsIt() throws {
        let file = try file()
        fileSystem.limits.capacity = 300
        let error = fileError { try file.writeAll(pattern(1, count: 1_000), at: 0) }
        #expect(error?.reason == .noSpace)
        #expect(fileSystem.contents(at: "/file") == pattern(1, count: 300))
        fileSystem.limits.capacity = nil
        try file.writeAll(pattern(1, count: 1_000), at: 0)
        #expect(fileSystem.contents(at: "/file") == pattern(1, count: 1_000))
    }

    @Test func theWriterCollectsAndKeepsOrderAcrossItsBuffer() throws {
        let file = try file()
        let writer = FileWriter(file, at: 2, bufferSize: 4_096)
        var expected: [UInt8] = [0, 0]
        for length in [0, 1, 4_095, 1, 4_096, 10_000, 3, 0] {
            let piece = pattern(UInt8(length % 251), count: length)
            try writer.append(piece)
            expected += piece
        }
        try writer.append(Array("äö".utf8))
        expected += Array("äö".utf8)
        #expect(writer.offset == Int64(expected.count))
        try writer.flush()
        #expect(fileSystem.contents(at: "/file") == expected)
        #expect(fileSystem.trace.count { $0.operation == .write } < 8)
    }

    @Test func theWriterWritesNothingAfterAnError() throws {
        let file = try file()
        let writer = FileWriter(file, bufferSize: 4_096)
        fileSystem.inject(.fail(.noSpace), of: .write)
        #expect(fileError { try writer.append(pattern(1, count: 5_000)) }?.reason == .noSpace)
        #expect(fileError { try writer.append([1]) }?.reason == .noSpace)
        #expect(fileError { try writer.flush() }?.reason == .noSpace)
        #expect(fileSystem.contents(at: "/file") == [])
    }
}
