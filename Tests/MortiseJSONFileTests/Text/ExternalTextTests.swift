import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing
import MortiseTestSupport

/// External data, as they stand in a document.
@Suite struct ExternalTextTests {
    private static let name = String(repeating: "0f", count: 16)
    private static let good = "{\"file\": \"\(name)\", \"length\": 5000, \"crc32c\": \"0012abef\"}"

    private static func document(_ value: String, version: Int = 2, options: String = "[\"externalStorage\"]") -> String
    {
        """
        {"format": "mortise-json", "formatVersion": \(version), "store": "S",
         "schema": {"version": "1.0.0", "entities": [
          {"name": "T", "properties": [{"name": "d", "kind": "data", "options": \(options)}]}]},
         "nextSequence": 9, "records": {"T": [{"$id": 1, "d": \(value)}]}}
        """
    }

    @Test func aReferenceIsReadInAnyOrderOfItsMembersAndWhateverTheOptions() throws {
        let reordered = "{\"crc32c\": \"0012abef\" , \"length\":5000, \"file\": \"\(Self.name)\"}"
        let value = try #require(try read(Self.document(Self.good)).first?.values.first)
        let reference = try #require(ExternalReference(storedForm: value))
        #expect(reference.name.text == Self.name && reference.length == 5000 && reference.checksum == 0x12_ABEF)
        #expect(try read(Self.document(reordered)).first?.values.first == value)
        #expect(try read(Self.document(Self.good, options: "[]")).first?.values.first == value)
        #expect(try read(Self.document("\"AQID\"")).first?.values.first == .data(Data([1, 2, 3])))
    }

    static let mistakes: [(marked: String, reason: StoreDocumentError.Reason)] = [
        ("§{\"length\": 5, \"crc32c\": \"00000000\"}", .missingMember("file")),
        ("§{\"file\": \"\(name)\", \"crc32c\": \"00000000\"}", .missingMember("length")),
        ("§{\"file\": \"\(name)\", \"length\": 5}", .missingMember("crc32c")),
        ("§{}", .missingMember("file")),
        ("{§\"path\": \"/etc/passwd\"}", .unknownMember("path")),
        ("{\"file\": \"\(name)\", §\"file\": \"\(name)\"}", .malformed(.duplicateKey("file"))),
        ("{\"file\": §5}", .wrongType(expected: "a string", found: "a number")),
        ("{\"length\": §\"5\"}", .wrongType(expected: "a number", found: "a string")),
        ("{\"length\": §-5}", .numberOutOfRange(.uint64)),
        ("{\"length\": §5.0}", .numberOutOfRange(.uint64)),
        ("{\"file\": §\"../../../../etc/passwd\"}", .invalidText(.data)),
        ("{\"file\": §\"/\(name.dropFirst())\"}", .invalidText(.data)),
        ("{\"file\": §\"\(name.uppercased())\"}", .invalidText(.data)),
        ("{\"file\": §\"\(name)0\"}", .invalidText(.data)),
        ("{\"file\": §\"\(name.dropFirst())\"}", .invalidText(.data)),
        ("{\"file\": §\"\"}", .invalidText(.data)),
        ("{\"crc32c\": §\"0012ABEF\"}", .invalidText(.data)),
        ("{\"crc32c\": §\"12abef\"}", .invalidText(.data)),
        ("{\"crc32c\": §\"+012abef\"}", .invalidText(.data)),
    ]

    @Test(arguments: mistakes.indices) func everyMistakeIsToldWithItsPlace(_ index: Int) {
        let (marked, reason) = Self.mistakes[index]
        let text = MarkedText(Self.document(marked))
        let error = StoreDocumentError.reading(text.text)
        #expect(error?.reason == reason)
        #expect(error?.position == text.position)
        #expect(error?.entity == "T" && error?.property == "d" && error?.identifier == 1)
    }

    @Test func theFirstVersionHasNone() {
        let text = MarkedText(Self.document("§" + Self.good, version: 1))
        let error = StoreDocumentError.reading(text.text)
        #expect(error?.reason == .wrongType(expected: "a string (data)", found: "an object"))
        #expect(error?.position == text.position)
    }

    @Test func onlyADocumentThatHasReferencesIsOfTheSecondVersion() throws {
        func resealed(_ text: String) throws -> String {
            var written: [UInt8] = []
            try Array(text.utf8).withUnsafeBytes { try StoreDocument.reseal($0) { written.append(contentsOf: $0) } }
            return String(decoding: written, as: UTF8.self)
        }
        let text = try resealed(Self.document(Self.good))
        #expect(text.contains("\"formatVersion\": 2") && text.contains("\"d\": \(Self.good)}"))
        #expect(try resealed(text) == text)
        #expect(try resealed(Self.document("\"AQID\"")).contains("\"formatVersion\": 1"))
    }

    private static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Golden")

    /// Files as they were written when the version was the newest. They are never changed.
    @Test func theGoldenFileOfTheSecondVersionIsReadAndWrittenAgainByteForByte() throws {
        let bytes = [UInt8](try Data(contentsOf: Self.folder.appending(path: "format-2-pictures.json")))
        let disk = SimulatedFileSystem(seed: 1)
        try disk.install(bytes, at: PictureStore.json.path)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Self.folder.appending(path: "format-2-pictures.json.external").path)
        #expect(names.count == 1)
        for name in names {
            let url = Self.folder.appending(path: "format-2-pictures.json.external").appending(path: name)
            try disk.install([UInt8](try Data(contentsOf: url)), at: PictureStore.json.folder + "/" + name)
        }
        let container = try PictureStore.json.open(disk)
        // Written with longer data than the tests have now.
        let context = ModelContext(container)
        let picture = try #require(try context.fetch(FetchDescriptor<Picture>()).first)
        #expect(try context.resolve(picture, \.content) == Pictures.data(1, count: 5_000))
        try container.close()
        try JSONFileStore.reseal(PictureStore.json.path, in: disk)
        #expect(disk.contents(at: PictureStore.json.path) == bytes)
        let again = try PictureStore.json.open(disk)
        try again.advancePictures(to: 2)
        #expect(try Pictures.state(of: again) == 2)
        try again.close()
    }

    @Test func whatIsResealedHasItsFiles() throws {
        let disk = SimulatedFileSystem(seed: 2)
        let container = try PictureStore.json.open(disk)
        try container.advancePictures(to: 1)
        try container.close()
        let path = PictureStore.json.path
        let bytes = try #require(disk.contents(at: path))
        let file = try #require(disk.paths.first { $0.hasPrefix(PictureStore.json.folder + "/") })
        let content = try #require(disk.contents(at: file))
        try JSONFileStore.reseal(path, in: disk)
        #expect(disk.contents(at: path) == bytes)
        try disk.install(content.reversed(), at: file)
        let error = thrown { try JSONFileStore.reseal(path, in: disk) } as? ExternalValueError
        #expect(error?.reason == .wrongChecksum && error?.property == "content")
        #expect(disk.contents(at: path) == bytes)
    }
}
