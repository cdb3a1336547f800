import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import PackageTestSupport
import Testing

@testable import MortiseAppendLog

/// The files themselves: a test over none of them would pass.
struct GoldenFileTests {
    @Test func theGoldenFilesAreThere() {
        #expect(FormatReader.goldenFiles.count >= 6)
    }
}

/// The pages on the format say enough for another program: `FormatReader/read_log.py`, which knows nothing else, reads
/// what Mortise reads.
@Suite(.enabled(if: FormatReader.python != nil, "there is no python3"))
struct FormatReaderTests {
    @Test(arguments: FormatReader.goldenFiles)
    func theReaderReadsAGoldenFileAsMortiseDoes(name: String) throws {
        let path = FormatReader.golden.appending(path: name).path
        #expect(try FormatReader.read(path).content == FormatReader.expected(path))
    }

    /// Every kind of value, key, link and node, which no golden file has: the reader compares all indexes and links with
    /// the records.
    @Test func theReaderReadsWhatIsWrittenNow() throws {
        var generator = TestGenerator(seed: testSeed())
        let folder = try FormatReader.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "all.log").path
        let store = try KindsLog(path: path)
        for _ in 0..<(isFullSize ? 20 : 6) { try store.save(&generator) }
        try store.store.checkpoint()
        try store.save(&generator)
        let read = try FormatReader.read(path)
        #expect(read.content == (try FormatReader.content(of: store.store)))
        // Indexes of several levels: a node has 128 entries at most.
        #expect(read.entries > 2 * 128 * KindsLog.indexCount)
        // Values of deleted records, and long data among them.
        let kept = try FormatReader.preserved(in: read.content)
        #expect(
            kept.contains { $0.hasPrefix("[\"string\"") } && kept.contains { $0.count > 2 * 4_096 }, "\(kept.count)")
        try store.store.engine.erase()
        let erased = try FormatReader.read(path)
        #expect(erased.content == (try FormatReader.content(of: store.store)))
        #expect("\(erased.content)".contains("erasure: true"))
        try store.store.close()
    }

    /// A migration is one transaction, of changes under two schemas.
    @Test func theReaderReadsAMigration() throws {
        let folder = try FormatReader.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "trips.log").path
        func open(_ version: any VersionedSchema.Type) throws -> ModelContainer {
            try ModelContainer(
                for: Schema(versionedSchema: version), migrationPlan: ReaderPlan.self,
                configurations: [AppendLogConfiguration(path: path)])
        }
        var container = try open(V1.self)
        var context = ModelContext(container)
        for name in ["Ada Lovelace", "Bob Byron"] { context.insert(V1.Traveler(name, mail: "\(name)@x")) }
        try context.save()
        try container.close()
        container = try open(V2.self)
        let store = try #require(container.store(AppendLogStore.self))
        context = ModelContext(container)
        context.insert(V2.Traveler("Cleo", "Clay"))
        try context.save()
        try store.checkpoint()
        let read = try FormatReader.read(path)
        let expected = try FormatReader.content(of: store)
        #expect(read.content == expected)
        #expect("\(read.content)".contains(MigrationAuthor.name))
        try container.close()
    }

    @Test(arguments: ["", ".checkpoint"]) func aChangedByteIsAnErrorOfTheReader(suffix: String) throws {
        let folder = try FormatReader.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let name = "format-1-checkpointed-2.log"
        let copy = folder.appending(path: name).path
        for part in ["", ".checkpoint"] {
            try FileManager.default.copyItem(
                atPath: FormatReader.golden.appending(path: name + part).path, toPath: copy + part)
        }
        var bytes = try Data(contentsOf: URL(filePath: copy + suffix))
        bytes[bytes.count / 2] ^= 0x20
        try bytes.write(to: URL(filePath: copy + suffix))
        #expect(throws: FormatReader.Failure.self) { try FormatReader.read(copy) }
    }

    /// A log that is sound, and a checkpoint that is sound, of two copies that went on apart.
    @Test func aCheckpointOfAnotherCopyIsAnErrorOfTheReader() throws {
        let folder = try FormatReader.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "store.log").path
        let store = try AppendLogStore(KindsLog(path: path).store.configuration, migrationPlan: nil)
        try store.checkpoint()
        try store.close()
        _ = try FormatReader.read(path)
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: path + ".checkpoint")))
        let header = try FileHeader(Array(bytes.prefix(FileHeader.size)), expecting: .checkpoint)
        let end = bytes.count - CheckpointFooter.size
        let footer = try CheckpointFooter(Array(bytes[end...]), at: UInt64(end), seed: header.seed)
        let tail = try #require(footer.tail)
        let other = CheckpointFooter(
            offset: footer.offset, length: footer.length, checksum: footer.checksum,
            tail: LogTail(length: UInt32(tail.length), checksum: ~tail.checksum))
        bytes.replaceSubrange(end..., with: other.bytes(seed: header.seed))
        try Data(bytes).write(to: URL(filePath: path + ".checkpoint"))
        let failure = #expect(throws: FormatReader.Failure.self) { try FormatReader.read(path) }
        #expect(failure?.message.contains("another copy of the log") == true, "\(failure?.message ?? "")")
    }

    /// The bytes of the example are those of the golden file.
    @Test func theExampleOfThePageIsAGoldenFile() throws {
        let page = try String(contentsOf: FormatReader.page, encoding: .utf8)
        let example = try #require(page.components(separatedBy: "## An example").last)
        var bytes: [UInt8] = []
        for line in example.components(separatedBy: "```")[1].split(separator: "\n") {
            let words = line.split(separator: " ")
            #expect(Int(words[0], radix: 16) == bytes.count, "\(line)")
            // Bytes end at the column of the comments.
            bytes += line.prefix(56).split(separator: " ").dropFirst().compactMap { UInt8($0, radix: 16) }
        }
        let golden = try Data(contentsOf: FormatReader.golden.appending(path: "format-1-pictures.log"))
        #expect(bytes == [UInt8](golden))
    }
}

/// Changes a record before the records come to the next schema, and one after it.
private enum ReaderPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
    static var stages: [MigrationStage] {
        [
            .custom(
                fromVersion: V1.self, toVersion: V2.self,
                willMigrate: { context in
                    try context.fetch(FetchDescriptor<V1.Traveler>()).first?.mail = "a@x"
                    context.insert(V1.Trip("Alps", price: 1))
                },
                didMigrate: { context in
                    try context.fetch(FetchDescriptor<V2.Traveler>()).last?.first = "Bob"
                    for trip in try context.fetch(FetchDescriptor<V2.Trip>()) { context.delete(trip) }
                })
        ]
    }
}
