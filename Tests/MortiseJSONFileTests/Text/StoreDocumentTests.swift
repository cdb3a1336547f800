import Foundation
import MortiseCore
import MortiseJSONFile
import PackageTestSupport
import Testing

/// Whole documents: what is written comes back, and looks as FORMAT.md says.
@Suite struct StoreDocumentTests {
    static let trips = StoredSchema(
        version: Schema.Version(1, 2, 3),
        entities: [
            StoredEntity(
                name: "Trip",
                properties: [
                    attribute("name", .string), attribute("price", .double, optional: true), toOne("home", "Place"),
                    toMany("stops", "Place", inverse: "visits"),
                    attribute("cache", .int64, options: .ephemeral, default: .integer(7)),
                ]),
            StoredEntity(
                name: "Place",
                properties: [
                    attribute("name", .string), toMany("visits", "Trip", inverse: "stops"),
                    toOne("parent", "Place", inverse: "parts"),
                    toMany("parts", "Place", inverse: "parent"), toOne("twin", "Place", inverse: "twin"),
                ]),
        ])

    static let records: [TestRecord] = [
        TestRecord(
            "Place", 2,
            [.string("A"), identifiers([3], "Trip"), .null, identifiers([], "Place"), identifier(4, "Place")]),
        TestRecord(
            "Place", 4,
            [
                .string("B"), identifiers([], "Trip"), identifier(2, "Place"), identifiers([], "Place"),
                identifier(2, "Place"),
            ]),
        TestRecord(
            "Place", 5,
            [
                .string("C"), identifiers([], "Trip"), identifier(5, "Place"), identifiers([], "Place"),
                identifier(5, "Place"),
            ]),
        TestRecord(
            "Trip", 3, [.string("Été"), .double(9.5), identifier(2, "Place"), identifiers([], "Place"), .integer(1)]),
        TestRecord("Trip", 6, [.string(""), .null, .null, identifiers([], "Place"), .null]),
    ]

    @Test func theTextIsAsDocumented() throws {
        let text = String(decoding: try write(Self.trips, next: 18, Self.records), as: UTF8.self)
        #expect(
            text == """
                {
                  "format": "mortise-json",
                  "formatVersion": 1,
                  "store": "S",
                  "schema": {
                    "version": "1.2.3",
                    "entities": [
                      {
                        "name": "Place",
                        "properties": [
                          {"name": "name", "kind": "string"},
                          {"name": "visits", "toMany": "Trip", "inverse": "stops"},
                          {"name": "parent", "toOne": "Place", "optional": true, "inverse": "parts"},
                          {"name": "parts", "toMany": "Place", "inverse": "parent"},
                          {"name": "twin", "toOne": "Place", "optional": true, "inverse": "twin"}
                        ]
                      },
                      {
                        "name": "Trip",
                        "properties": [
                          {"name": "name", "kind": "string"},
                          {"name": "price", "kind": "double", "optional": true},
                          {"name": "home", "toOne": "Place", "optional": true},
                          {"name": "stops", "toMany": "Place", "inverse": "visits"},
                          {"name": "cache", "kind": "int64", "options": ["ephemeral"], "default": 7}
                        ]
                      }
                    ]
                  },
                  "nextSequence": 18,
                  "records": {
                    "Place": [
                      {"$id": 2, "name": "A", "visits": [3], "parent": null, "twin": 4},
                      {"$id": 4, "name": "B", "visits": [], "parent": 2, "twin": 2},
                      {"$id": 5, "name": "C", "visits": [], "parent": 5, "twin": 5}
                    ],
                    "Trip": [
                      {"$id": 3, "name": "Été", "price": 9.5, "home": 2},
                      {"$id": 6, "name": "", "price": null, "home": null}
                    ]
                  },
                  "seal": "crc32c:3f465069"}

                """)
    }

    @Test func recordsComeBackAsWritten() throws {
        let bytes = try write(Self.trips, next: 18, Self.records)
        let (header, records) = try read(bytes)
        #expect(
            header == StoreDocumentHeader(storeIdentifier: "S", schema: Self.trips, nextSequence: 18, isSealed: true))
        var expected = Self.records
        expected[3].values[4] = .integer(7)
        expected[4].values[4] = .integer(7)
        #expect(records == expected)
        #expect(try bytes.withUnsafeBytes { try StoreDocumentReader($0).readHeader() } == header)
    }

    @Test func emptyDocuments() throws {
        for schema in [
            StoredSchema(entities: []), StoredSchema(entities: [StoredEntity(name: "E", properties: [])]), Self.trips,
        ] {
            let (header, records) = try read(try write(schema, next: 0, []))
            #expect(header.schema == schema)
            #expect(records.isEmpty)
        }
        let none = StoredSchema(entities: [StoredEntity(name: "E", properties: [])])
        #expect(
            try read(try write(none, [TestRecord("E", 0, []), TestRecord("E", 999, [])])).records.map(\.sequence) == [
                0, 999,
            ])
    }

    @Test func sequencesReachTheirLimit() throws {
        let schema = StoredSchema(entities: [StoredEntity(name: "E", properties: [toOne("e", "E")])])
        // The format's limit for "nextSequence" is 2^62, which is refused itself.
        let next: UInt64 = (1 << 62) - 1
        let last = next - 1
        let bytes = try write(
            schema, next: next,
            [TestRecord("E", 0, [identifier(last, "E")]), TestRecord("E", last, [identifier(0, "E")])])
        #expect(try read(bytes).records.map(\.values) == [[identifier(last, "E")], [identifier(0, "E")]])
    }

    @Test func referencesLeadToTheEntityThatHoldsTheRecord() throws {
        let schema = StoredSchema(entities: [
            StoredEntity(name: "Owner", properties: [toOne("one", "Base"), toMany("many", "Base")]),
            StoredEntity(name: "Base", properties: [attribute("a", .int64)]),
            StoredEntity(name: "Zebra", superentity: "Base", properties: [attribute("z", .int64)]),
            StoredEntity(name: "Alpha", superentity: "Zebra", properties: []),
        ])
        let records = [
            TestRecord("Alpha", 3, [.integer(1), .integer(2)]), TestRecord("Base", 4, [.integer(1)]),
            TestRecord(
                "Owner", 1,
                [
                    identifier(5, "Zebra"),
                    .identifiers([
                        .numbered(3, storeIdentifier: "S", entityName: "Alpha"),
                        .numbered(4, storeIdentifier: "S", entityName: "Base"),
                        .numbered(5, storeIdentifier: "S", entityName: "Zebra"),
                    ]),
                ]),
            TestRecord("Owner", 2, [identifier(3, "Alpha"), identifiers([], "Base")]),
            TestRecord("Zebra", 5, [.integer(3), .integer(4)]),
        ]
        #expect(try read(try write(schema, records)).records == records)
    }

    @Test func whatIsWrittenByHandIsReadInAnyLayout() throws {
        let text = """
             {"format":"mortise-json" , "formatVersion":1,"store":"S","schema":{"entities":[{"properties":[
             {"kind":"string","name":"n"},{"name":"o","kind":"int64","optional":true},
             {"toOne":"T","optional":true,"name":"t"}],"name":"T"}],
             "version":"1.0.0"},"nextSequence":10,"records":{"T":[{"$id":1,"t":5 , "o" : null,"n":"x"},
             {"\\u0024id":5,"\\u006e":"y","t":null,"o":5}]\t}}
            """
        #expect(
            try read(text) == [
                TestRecord("T", 1, [.string("x"), .null, identifier(5, "T")]),
                TestRecord("T", 5, [.string("y"), .integer(5), .null]),
            ])
    }

    @Test func theSameRecordsGiveTheSameBytes() throws {
        let first = try write(Self.trips, next: 18, Self.records)
        var shuffled = Self.trips
        shuffled.entities.reverse()
        #expect(try write(shuffled, next: 18, Self.records) == first)
        let schema = StoredSchema(entities: [
            StoredEntity(name: "E", properties: [attribute("c", .coded), attribute("d", .decimal), toMany("m", "E")])
        ])
        let keys = (0..<100).map { "key \($0)" }
        var random = SeededGenerator(seed: testSeed())
        let texts = try (0..<10).map { _ in
            let tree = StoredValue.object(
                Dictionary(uniqueKeysWithValues: keys.shuffled(using: &random).map { ($0, .string($0)) }))
            let half = Decimal(string: "2.50", locale: nil) ?? 0
            return try write(
                schema,
                [
                    TestRecord("E", 1, [tree, .decimal(half), identifiers([2, 1], "E")]),
                    TestRecord("E", 2, [.null, .decimal(5 / 2), identifiers([], "E")]),
                ].map { record in
                    var record = record
                    if record.values[0].isNull { record.values[0] = tree }
                    return record
                })
        }
        #expect(Set(texts).count == 1)
    }

    /// The sink gets each byte once, in full pieces: the writer keeps nothing back and goes over nothing twice.
    @Test func theWriterStreams() throws {
        let schema = StoredSchema(entities: [StoredEntity(name: "E", properties: [attribute("n", .string)])])
        for count in [100, 10_000] {
            var sizes: [Int] = []
            var writer = try StoreDocumentWriter(storeIdentifier: "S", schema: schema, nextSequence: 1 << 61) {
                sizes.append($0.count)
            }
            try writer.begin(entity: "E")
            for number in 0..<count { try writer.write(sequence: UInt64(number)) { _ in .string("0123456789") } }
            try writer.finish()
            let total = sizes.reduce(0, +)
            #expect(total < 400 + count * 50)
            #expect(sizes.allSatisfy { $0 <= 1 << 16 })
            #expect(sizes.count <= total / ((1 << 16) - 64) + 2)
        }
    }

    @Test func errorsOfTheSinkAndOfTheHandlersArePassedOn() throws {
        struct Refusal: Error, Equatable {}
        let bytes = try write(Self.trips, next: 18, Self.records)
        bytes.withUnsafeBytes { bytes in
            #expect(throws: Refusal()) {
                try StoreDocumentReader(bytes).read(header: { _ in throw Refusal() }, record: { _, _, _ in })
            }
            #expect(throws: Refusal()) { try StoreDocumentReader(bytes).read { _, _, _ in throw Refusal() } }
        }
        #expect(throws: Refusal()) {
            var writer = try StoreDocumentWriter(storeIdentifier: "S", schema: Self.trips, nextSequence: 9) { _ in
                throw Refusal()
            }
            try writer.finish()
        }
        #expect(throws: Refusal()) {
            var writer = try StoreDocumentWriter(storeIdentifier: "S", schema: Self.trips, nextSequence: 9) { _ in }
            try writer.begin(entity: "Place")
            try writer.write(sequence: 1) { _ in throw Refusal() }
        }
    }

    /// A handler may take the values, or even the whole array.
    @Test func valuesMayBeTaken() throws {
        let bytes = try write(Self.trips, next: 18, Self.records)
        var taken: [ContiguousArray<StoredValue>] = []
        _ = try bytes.withUnsafeBytes { bytes in
            try StoreDocumentReader(bytes).read { _, _, values in
                taken.append(values)
                values = []
            }
        }
        #expect(taken.map(\.count) == [5, 5, 5, 5, 5])
        #expect(taken.last?[0] == .string(""))
    }
}
