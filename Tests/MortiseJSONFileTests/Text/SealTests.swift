import MortiseCore
import MortiseJSONFile
import Testing

/// The seal, and what becomes of damaged and edited documents.
@Suite struct SealTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "T",
            properties: [attribute("n", .string), attribute("d", .double), attribute("c", .coded), toOne("t", "T")])
    ])
    private static let document: [UInt8] =
        (try? write(
            schema, next: 9,
            [
                TestRecord(
                    "T", 1, [.string("Zoë\n"), .double(1.25), .array([.integer(7), .null]), identifier(2, "T")]),
                TestRecord("T", 2, [.string(""), .double(-0.0), .object(["k": .bool(true)]), .null]),
            ])) ?? []

    @Test func theDocumentItselfIsSealed() throws {
        #expect(!Self.document.isEmpty)
        #expect(try read(Self.document).header.isSealed)
    }

    /// The checksum is that of RFC 3720, of everything before the last line.
    @Test func theSealIsACastagnoliChecksum() throws {
        var state: UInt32 = 0xFFFF_FFFF
        let lastLine = Self.document.dropLast().lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        for byte in Self.document[..<lastLine] {
            state ^= UInt32(byte)
            for _ in 0..<8 { state = state & 1 == 0 ? state >> 1 : state >> 1 ^ 0x82F6_3B78 }
        }
        let digits = String(~state, radix: 16)
        let seal = String(repeating: "0", count: 8 - digits.count) + digits
        #expect(String(decoding: Self.document[lastLine...], as: UTF8.self) == "  \"seal\": \"crc32c:\(seal)\"}\n")
    }

    @Test func everyFlippedBitIsDetectedBeforeAnyRecord() throws {
        var seals = 0
        for index in Self.document.indices {
            for bit in 0..<8 {
                var damaged = Self.document
                damaged[index] ^= 1 << bit
                var records = 0
                let error = damaged.withUnsafeBytes { bytes in
                    #expect(throws: StoreDocumentError.self, "bit \(bit) of byte \(index)") {
                        try StoreDocumentReader(bytes).read { _, _, _ in records += 1 }
                    }
                }
                #expect(records == 0)
                switch error?.reason {
                case .sealBroken, .sealMissing: seals += 1
                default: break
                }
            }
        }
        #expect(seals > Self.document.count)
    }

    @Test func everyTruncationIsDetectedBeforeAnyRecord() {
        for length in 0..<Self.document.count {
            var records = 0
            let error = Array(Self.document[..<length]).withUnsafeBytes { bytes in
                #expect(throws: StoreDocumentError.self, "\(length) bytes") {
                    try StoreDocumentReader(bytes).read { _, _, _ in records += 1 }
                }
            }
            #expect(records == 0)
            switch error?.reason {
            case .empty: #expect(length == 0)
            case .tooShort(let count, _): #expect(count == length)
            case .malformed(.unexpectedEnd): #expect(length >= StoreDocument.minimumSize)
            case .malformed(.invalidUTF8): #expect(Self.document[length] & 0xC0 == 0x80)
            case .sealMissing: #expect(length == Self.document.count - 1)
            default: Issue.record("\(length) bytes: \(String(describing: error))")
            }
        }
    }

    @Test func whatIsAppendedIsDetected() {
        for (addition, reason) in [
            ("\n", StoreDocumentError.Reason.sealMissing), (" ", .sealMissing), ("x", .malformed(.trailingBytes)),
            ("\u{0}", .malformed(.trailingBytes)),
            (String(decoding: Self.document, as: UTF8.self), .malformed(.trailingBytes)),
        ] {
            #expect(
                StoreDocumentError.reading(
                    String(decoding: Self.document, as: UTF8.self) + addition, integrity: .required)?.reason == reason)
        }
    }

    @Test func aBrokenSealIsNotMalformedText() throws {
        let text = String(decoding: Self.document, as: UTF8.self)
        let edited = text.replacingFirst("1.25", with: "1.5")
        let error = StoreDocumentError.reading(edited, integrity: .required)
        guard case .sealBroken = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.position.line == text.split(separator: "\n").count)
        #expect(error?.position.column == 1)
        #expect(try read(Array(edited.utf8), integrity: .acceptEdits).header.isSealed == false)
        #expect(try read(edited)[0].values[1] == .double(1.5))
        // Malformed text tells the place; a wrong value in a document that is not sealed does not count.
        let malformed = StoreDocumentError.reading(text.replacingFirst("1.25", with: "1..5"), integrity: .required)
        #expect(malformed?.reason == .malformed(.unexpectedByte(0x2E, expected: "a digit")))
        let wrong = StoreDocumentError.reading(text.replacingFirst("1.25", with: "true"), integrity: .required)
        guard case .sealBroken = wrong?.reason else {
            Issue.record("\(String(describing: wrong))")
            return
        }
    }

    @Test func aMissingSealIsItsOwnError() throws {
        let text = String(decoding: Self.document, as: UTF8.self)
        let start = try #require(text.range(of: ",\n  \"seal\""))
        let unsealed = text[..<start.lowerBound] + "\n}\n"
        #expect(StoreDocumentError.reading(String(unsealed), integrity: .required)?.reason == .sealMissing)
        #expect(try read(String(unsealed)).count == 2)
        let upper = String(decoding: Self.document, as: UTF8.self).replacingFirst("crc32c", with: "CRC32C")
        #expect(StoreDocumentError.reading(upper, integrity: .required)?.reason == .sealMissing)
    }

    @Test func resealingGivesTheCanonicalDocument() throws {
        let text = String(decoding: Self.document, as: UTF8.self)
        let edited = text.replacingFirst(
            "      {\"$id\": 1, \"n\": \"Zoë\\n\",", with: "{ \"$id\":1,\n\"n\":\"\\u005ao\\u00eb\\n\" ,")
        #expect(edited != text)
        var resealed: [UInt8] = []
        try Array(edited.utf8).withUnsafeBytes { try StoreDocument.reseal($0) { resealed.append(contentsOf: $0) } }
        #expect(resealed == Self.document)
    }

    @Test func nothingInvalidIsResealed() {
        let text = String(decoding: Self.document, as: UTF8.self)
        for (from, to) in [
            ("1.25", "true"), ("\"t\": 2", "\"t\": 3"), ("\"t\": null}", "\"t\": null"), ("\"seal\"", "\"sale\""),
        ] {
            var count = 0
            #expect(throws: StoreDocumentError.self) {
                try Array(text.replacingFirst(from, with: to).utf8).withUnsafeBytes {
                    try StoreDocument.reseal($0) { count += $0.count }
                }
            }
            #expect(count == 0)
        }
    }
}

extension String {
    fileprivate func range(of text: String) -> Range<String.Index>? {
        indices.lazy.first { self[$0...].hasPrefix(text) }.map { $0..<index($0, offsetBy: text.count) }
    }

    fileprivate func replacingFirst(_ text: String, with other: String) -> String {
        guard let range = range(of: text) else { return self }
        return replacingCharacters(of: range, with: other)
    }

    private func replacingCharacters(of range: Range<String.Index>, with other: String) -> String {
        self[..<range.lowerBound] + other + self[range.upperBound...]
    }
}
