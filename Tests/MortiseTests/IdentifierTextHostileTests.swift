import Foundation
import Mortise
import PackageTestSupport
import Testing

@Model private final class Page {
    var title: String
    init(_ title: String) { self.title = title }
}

/// `PersistentIdentifier(string:)` with texts that somebody has made who knows the format, its checksum included.
@Suite struct IdentifierTextHostileTests {
    private static func text(_ body: [UInt8]) -> String {
        let hash = body.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let check = UInt16(truncatingIfNeeded: hash ^ hash >> 16)
        return Data(body + [UInt8(check >> 8), UInt8(truncatingIfNeeded: check)]).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func body(_ text: String) throws -> [UInt8] {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        return Array(try #require(Data(base64Encoded: padded)).dropLast(2))
    }

    private static func outcome(_ text: String) -> Result<PersistentIdentifier, any Error> {
        Result { try PersistentIdentifier(string: text) }
    }

    /// One text for each record: whatever is read gives the text that it was read from, and everything else is refused.
    @Test func changedTextsWithRightChecksums() throws {
        var random = SeededGenerator(seed: testSeed())
        let context = ModelContext(try memory(Page.self))
        let page = Page("a")
        context.insert(page)
        try context.save()
        var seeds = [try Self.body(#require(page.persistentModelID.string))]
        for key in ["key", "", "\u{0}é"] {
            let identifier = try PersistentIdentifier.identifier(for: "a store", entityName: "Page", primaryKey: key)
            seeds.append(try Self.body(#require(identifier.string)))
        }
        let coded = try PersistentIdentifier.identifier(for: "a store", entityName: "Page", primaryKey: 1.5)
        seeds.append(try Self.body(#require(coded.string)))
        #expect(Self.text(seeds[0]) == page.persistentModelID.string)
        var read = 0
        for _ in 0..<20_000 {
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
                default: bytes = Array(bytes.prefix(place))
                }
            }
            let text = Self.text(bytes)
            switch Self.outcome(text) {
            case .success(let identifier):
                read += 1
                #expect(identifier.string == text)
            case .failure(let error): #expect(error is IdentifierTextError, "\(error)")
            }
        }
        #expect(read > 0)
    }

    @Test func lengthsThatAreNotThere() throws {
        let most: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        for bytes in [
            [0x11] + most, [0x11, 0x00] + most, [0x11, 0x00, 0x00, 0x01] + most,
            [0x10] + [UInt8](repeating: 0, count: 16) + most,
            [0x11] + [UInt8](repeating: 0xFF, count: 40), [0x12], [0x10],
        ] {
            #expect(throws: IdentifierTextError.malformed) { try Self.outcome(Self.text(bytes)).get() }
        }
    }

    /// Keys of other types are JSON in the text, and JSON may be nested.
    @Test func keysThatAreNested() throws {
        let known = try PersistentIdentifier.identifier(for: "", entityName: "Page", primaryKey: 1)
        let prefix = try Self.body(#require(known.string)).prefix { $0 != 0x50 } + [0x50, 0x61, 0x67, 0x65, 0x02]
        for depth in [1, 100, 500, 2_000] {
            for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
                let text = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
                let result = Self.outcome(Self.text(Array(prefix) + Array(text.utf8)))
                if case .failure(let error) = result { #expect(error is IdentifierTextError, "\(error)") }
            }
        }
    }

    /// Names are kept for the life of the process, so that a text must not add any.
    @Test func whatWasNeverOpenedStaysUnknown() throws {
        for number in 0..<1_000 {
            let (store, entity) = ("made up \(number)", "Entity\(number)")
            var bytes: [UInt8] = [0x11, UInt8(store.utf8.count)] + Array(store.utf8)
            bytes += [UInt8(entity.utf8.count)] + Array(entity.utf8) + [0, 1]
            for _ in 0..<2 {
                #expect(throws: IdentifierTextError.unknown(store: store, entity: entity)) {
                    try PersistentIdentifier(string: Self.text(bytes))
                }
            }
        }
        // Nor may one write lines into a log, or more than a line.
        let long = IdentifierTextError.unknown(
            store: "b", entity: "a\nERROR \u{1B}[2J\u{202E}" + String(repeating: "\u{0}", count: 5_000))
        #expect("\(long)".count < 1_000, "\(long)")
        #expect(
            "\(long)".unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) })
        #expect("\(long)".contains("a\\u{a}ERROR"))
        let error: any Error = IdentifierTextError.unknown(store: "s", entity: "E")
        #expect(
            (error as? any ClassifiedStoreError)?.errorClass == .usage
                || (error as? any ClassifiedStoreError)?.errorClass == .missing)
    }

    /// A text of one container's store names nothing in another's.
    @Test func anIdentifierOfAnotherStoreFindsNothing() throws {
        let (one, two) = (ModelContext(try memory(Page.self)), ModelContext(try memory(Page.self)))
        let page = Page("a")
        one.insert(page)
        try one.save()
        let identifier = try PersistentIdentifier(string: #require(page.persistentModelID.string))
        #expect {
            try two.existingModel(for: identifier, as: Page.self)
        } throws: {
            ($0 as? any ClassifiedStoreError)?.errorClass == .missing
        }
    }
}
