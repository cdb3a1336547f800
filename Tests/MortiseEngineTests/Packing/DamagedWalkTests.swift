import Foundation
import MortiseTestSupport
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

/// An index whose rows cannot be read is gone through to its end, and the version says what is damaged.
@Suite struct DamagedWalkTests {
    private static let schema = StoredSchema(entities: [
        StoredEntity(
            name: "Person",
            properties: [
                EngineWorld.attribute("city", .string, isOptional: false),
                EngineWorld.attribute("age", .int64, isOptional: false),
                EngineWorld.attribute("note", .string, isOptional: false),
            ], indices: [StoredIndex(properties: ["city", "age"])])
    ])

    private func property(_ name: String, _ slot: Int) -> QueryExpression {
        .property(.variable(0), QueryProperty(entity: "Person", name: name, slot: slot))
    }

    @Test(.timeLimit(.minutes(1)), arguments: [true, false], [Int?.none, 20])
    func ordersInBothDirectionsEnd(isAscending: Bool, limit: Int?) throws {
        let replay = EngineReplay(.empty(Catalog(schema: Self.schema, storeIdentifier: "damaged")))
        for index in 0..<2_000 {
            try replay.insert(
                entity: 0, sequence: UInt64(index) + 1,
                [.string("city \(index % 7)"), .integer(Int64(index)), .string("a note with the number \(index)")])
        }
        try replay.endTransaction()
        let whole = try replay.finish(number: 1, nextSequence: 2_001)
        let packed = try PackedBytesOfVersion(whole)
        var bytes = try #require(packed.disk.contents(at: "/packed"))
        for number in [3, 1_003, 1_996] {
            let note = Array("a note with the number \(number)".utf8)
            let place = try #require(bytes.indices.first { bytes[$0...].starts(with: note) })
            bytes[place] ^= 0x20
        }
        try packed.disk.install(bytes, at: "/packed")
        let version = try packed.open(whole)
        var query = StoreQuery("Person", conjuncts: [])
        query.order = [
            StoreQuery.Order(property("city", 0), isAscending: isAscending),
            StoreQuery.Order(property("age", 1), isAscending: !isAscending),
        ]
        query.limit = limit
        let engineQuery = EngineQuery(query, version.catalog)
        #expect(throws: PackedFault.self) {
            _ = try engineQuery.run(engineQuery.plan(), in: version)
            try version.check()
        }
    }
}
