import Foundation
import MortiseCore
import MortiseEngine
import MortiseJSONFile
import Testing

/// What the writer refuses, since it could not be read back.
@Suite struct StoreDocumentWriterTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "A", properties: [attribute("n", .int8), toOne("b", "B", inverse: "a"), toMany("many", "B")]),
        StoredEntity(name: "B", properties: [toOne("a", "A", inverse: "b")]),
        StoredEntity(name: "C", superentity: "B", properties: []),
        StoredEntity(
            name: "D", properties: [attribute("c", .coded, optional: true), toOne("d", "D", optional: false)]),
    ])

    private func a(
        _ sequence: UInt64, _ n: StoredValue = .integer(1), _ b: StoredValue = .null,
        _ many: StoredValue = .identifiers([])
    ) -> TestRecord { TestRecord("A", sequence, [n, b, many]) }

    private func refused(_ records: [TestRecord], next: UInt64 = 100) -> StoreDocumentWriteError? {
        #expect(throws: StoreDocumentWriteError.self) { try write(Self.schema, next: next, records) }
    }

    @Test func theOrderIsKept() {
        #expect(refused([a(1), a(1)]) == .init(reason: .sequenceOutOfOrder(previous: 1), entity: "A", identifier: 1))
        #expect(refused([a(5), a(3)]) == .init(reason: .sequenceOutOfOrder(previous: 5), entity: "A", identifier: 3))
        #expect(refused([a(100)]) == .init(reason: .sequenceNotBelowNext(next: 100), entity: "A", identifier: 100))
        #expect(refused([TestRecord("B", 1, [.null]), a(2)]) == .init(reason: .entityOutOfOrder, entity: "A"))
        #expect(refused([TestRecord("X", 1, [])]) == .init(reason: .entityOutOfOrder, entity: "X"))
        #expect(refused([a(1), TestRecord("B", 1, [.null])]) == .init(reason: .duplicateSequence, identifier: 1))
        #expect(throws: StoreDocumentWriteError.init(reason: .noEntity, identifier: 1)) {
            var writer = try StoreDocumentWriter(storeIdentifier: "S", schema: Self.schema, nextSequence: 9) { _ in }
            try writer.write(sequence: 1) { _ in .null }
        }
    }

    @Test func theNextNumberIsOneThatTheReaderTakes() throws {
        for next in [EngineVersion.numberLimit, .max] {
            #expect(refused([a(1)], next: next) == .init(reason: .nextSequenceTooLarge(limit: 1 << 62)))
        }
        let bytes = try write(Self.schema, next: EngineVersion.numberLimit - 1, [])
        #expect(try read(bytes).header.nextSequence == EngineVersion.numberLimit - 1)
    }

    @Test func valuesFitTheirKind() {
        #expect(refused([a(1, .null)]) == .init(reason: .nullForRequired, entity: "A", property: "n", identifier: 1))
        #expect(
            refused([a(1, .string("1"))])
                == .init(
                    reason: .unfitValue(expected: "int8", found: "string"), entity: "A", property: "n", identifier: 1))
        #expect(
            refused([a(1, .integer(128))])
                == .init(
                    reason: .unfitValue(expected: "int8", found: "integer"), entity: "A", property: "n", identifier: 1))
        #expect(
            refused([a(1, .integer(1), .integer(2))])
                == .init(
                    reason: .unfitValue(expected: "identifier", found: "integer"), entity: "A", property: "b",
                    identifier: 1))
        #expect(
            refused([a(1, .integer(1), .null, identifier(1, "B"))])
                == .init(
                    reason: .unfitValue(expected: "identifiers", found: "identifier"), entity: "A", property: "many",
                    identifier: 1))
        #expect(
            refused([a(1, .integer(1), .null, .null)])
                == .init(reason: .nullForRequired, entity: "A", property: "many", identifier: 1))
        #expect(
            refused([TestRecord("D", 1, [.null, .null])])
                == .init(reason: .nullForRequired, entity: "D", property: "d", identifier: 1))
        for (value, found) in [
            (.double(.nan), "a number that is not finite"),
            (.array([.double(.infinity)]), "a number that is not finite"),
            (.object(["a": .data(Data())]), "data"), (.float(1), "float"), (.date(Date()), "date"),
            (.array([identifier(1, "D")]), "identifier"),
        ] as [(StoredValue, String)] {
            #expect(
                refused([TestRecord("D", 1, [value, identifier(1, "D")])])
                    == .init(
                        reason: .unfitValue(expected: "coded", found: found), entity: "D", property: "c", identifier: 1)
            )
        }
    }

    @Test func everyOtherKindIsRefused() throws {
        let values: [StoredValue] = [
            .bool(true), .integer(1), .unsigned(1), .float(1), .double(1), .decimal(1), .string(""), .data(Data()),
            .date(Date()), .uuid(UUID()),
            .url(URL(filePath: "/")), identifier(1, "E"), identifiers([], "E"), .array([]), .object([:]),
        ]
        for kind in StorageKind.allCases {
            let schema = StoredSchema(entities: [StoredEntity(name: "E", properties: [attribute("v", kind)])])
            for value in values {
                if value.fits(kind) {
                    _ = try read(try write(schema, [TestRecord("E", 1, [value])]))
                } else {
                    #expect(throws: StoreDocumentWriteError.self) { try write(schema, [TestRecord("E", 1, [value])]) }
                }
            }
        }
    }

    @Test func referencesHold() throws {
        let b = TestRecord("B", 7, [.null])
        func error(
            _ reason: StoreDocumentWriteError.Reason, _ property: String, _ entity: String = "A", _ number: UInt64 = 1
        ) -> StoreDocumentWriteError {
            .init(reason: reason, entity: entity, property: property, identifier: number)
        }
        let foreign = identifier(7, "B", store: "other")
        #expect(refused([a(1, .integer(1), foreign), b]) == error(.foreignIdentifier("B/7"), "b"))
        let keyed = try PersistentIdentifier.identifier(for: "S", entityName: "B", primaryKey: "key")
        #expect(refused([a(1, .integer(1), .identifier(keyed))])?.reason == .foreignIdentifier(keyed.description))
        #expect(refused([a(1, .integer(1), identifier(100, "B"))]) == error(.danglingReference(target: 100), "b"))
        #expect(refused([a(1, .integer(1), identifier(8, "B")), b]) == error(.danglingReference(target: 8), "b"))
        #expect(
            refused([a(1, .integer(1), identifier(1, "B")), b])
                == error(.wrongDestination(target: 1, found: "A", expected: "B"), "b"))
        #expect(
            refused([a(1, .integer(1), identifier(7, "B")), b])
                == error(.oneSidedReference(target: 7, inverse: "a"), "b"))
        #expect(
            refused([a(1), TestRecord("B", 7, [identifier(1, "A")])])
                == error(.oneSidedReference(target: 1, inverse: "b"), "a", "B", 7))
        #expect(
            refused([a(1), TestRecord("C", 7, [identifier(1, "A")])])
                == error(.oneSidedReference(target: 1, inverse: "b"), "a", "C", 7))
        #expect(
            refused([a(1, .integer(1), .null, identifiers([7, 7], "B")), b])
                == error(.duplicateReference(target: 7), "many"))
        #expect(
            refused([a(1, .integer(1), .null, identifiers([7, 9], "B")), b])
                == error(.danglingReference(target: 9), "many"))
        let records = [
            a(1, .integer(1), identifier(7, "C")), a(2, .integer(1), identifier(8, "B")),
            TestRecord("B", 8, [identifier(2, "A")]), TestRecord("C", 7, [identifier(1, "A")]),
        ]
        #expect(try read(try write(Self.schema, records)).records == records)
        #expect(
            refused([
                a(1, .integer(1), identifier(7, "B")), a(2, .integer(1), identifier(7, "B")),
                TestRecord("B", 7, [identifier(2, "A")]),
            ])
                == error(.oneSidedReference(target: 7, inverse: "a"), "b"))
    }

    @Test func targetsAreWrittenInOrder() throws {
        let records =
            [a(1, .integer(1), .null, identifiers([9, 7, 8], "B"))] + [7, 8, 9].map { TestRecord("B", $0, [.null]) }
        let text = String(decoding: try write(Self.schema, records), as: UTF8.self)
        #expect(text.contains("\"many\": [7, 8, 9]}"))
    }

    @Test func urlsThatWouldChangeAreRefused() throws {
        let schema = StoredSchema(entities: [StoredEntity(name: "E", properties: [attribute("u", .url)])])
        let base = try #require(URL(string: "b/", relativeTo: URL(string: "http://a/")))
        let nested = try #require(URL(string: "c", relativeTo: base))
        if nested.baseURL?.baseURL != nil {
            let error = #expect(throws: StoreDocumentWriteError.self) {
                try write(schema, [TestRecord("E", 1, [.url(nested)])])
            }
            #expect(error?.reason == .unreadableURL(nested.absoluteString))
        } else {
            let records = [TestRecord("E", 1, [.url(nested)])]
            #expect(try read(try write(schema, records)).records == records)
        }
    }

    @Test func everyReasonSaysWhatItIs() {
        let error = StoreDocumentWriteError(reason: .nullForRequired, entity: "A", property: "n", identifier: 3)
        #expect(error.description.hasPrefix("A.n of record 3: "))
    }
}

extension StoreDocumentWriteError {
    fileprivate init(reason: Reason, entity: String? = nil, identifier: UInt64? = nil) {
        self.init(reason: reason, entity: entity, property: nil, identifier: identifier)
    }
}
