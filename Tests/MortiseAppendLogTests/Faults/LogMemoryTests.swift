import FaultWorkload
import Foundation
import MortiseCore
import MortiseEngine
import Testing

@testable import MortiseAppendLog

/// Logs of several megabytes, valid to the last checksum, that were made to take memory. Each is opened by a process of its
/// own.
@Suite(.serialized, .enabled(if: HelperProcess.canMeasure, "\(HelperProcess.noMeasure)"))
struct LogMemoryTests {
    private static let size = 4 << 20

    private static let catalog: LogCatalog = {
        func property(_ name: String, _ kind: StorageKind) -> StoredProperty {
            StoredProperty(name: name, isOptional: true, content: .attribute(StoredAttribute(kind: kind)))
        }
        let links = StoredProperty(
            name: "links", isOptional: true,
            content: .relationship(StoredRelationship(destination: "Flag", isToMany: true)))
        return LogCatalog(
            StoredSchema(entities: [
                StoredEntity(name: "Coded", properties: [property("value", .coded)]),
                StoredEntity(name: "Flag", properties: [property("flag", .bool)]),
                StoredEntity(name: "Linked", properties: [links]),
            ]), store: "11111111-2222-3333-4444-555555555555")
    }()

    /// A log with one transaction that inserts records of one entity.
    private static func log(
        _ entity: Int, count: Int, next: Int = 1 << 30, _ records: (inout ByteWriter) -> Void
    ) throws -> [UInt8] {
        var payload = ByteWriter(capacity: size + 1_024)
        payload.fixed(UInt64(0))
        payload.byte(0)
        payload.text("p")
        payload.text("b")
        payload.varint(next)
        payload.varint(0)
        payload.varint(0)
        payload.varint(1)
        payload.varint(entity)
        payload.varint(count)
        records(&payload)
        payload.byte(payloadEnd)
        let header = FileHeader(kind: .log, store: UUID())
        var frames = ByteWriter(capacity: payload.count + 4_096)
        _ = frames.frames(
            [(.schema, try catalog.schemaPayload()), (.transaction, payload.bytes)], from: .first, transaction: 1,
            synced: 0, seed: header.seed)
        return header.bytes + frames.bytes
    }

    /// A record with one coded value, which begins with a tag and a count.
    private static func coded(
        _ tag: UInt8, _ count: Int, of element: [UInt8], times: Int? = nil
    ) throws -> [UInt8] {
        try log(0, count: 1) { writer in
            writer.varint(1)
            writer.byte(tag)
            writer.varint(count)
            for _ in 0..<(times ?? count) { element.withUnsafeBytes { writer.raw($0) } }
        }
    }

    static let hostile: [(name: String, isRefused: Bool, make: @Sendable () throws -> [UInt8])] = [
        ("nulls", true, { try coded(ValueTag.array, size, of: [ValueTag.null]) }),
        ("empty strings", true, { try coded(ValueTag.array, size / 2, of: [ValueTag.string, 0]) }),
        ("empty arrays", true, { try coded(ValueTag.array, size / 2, of: [ValueTag.array, 0]) }),
        ("arrays in arrays", true, { try coded(ValueTag.array, 1, of: [ValueTag.array, 1], times: size / 2) }),
        ("a count of what is not there", true, { try coded(ValueTag.array, 1 << 40, of: [0], times: size) }),
        ("a count of bytes that are no values", true, { try coded(ValueTag.array, size, of: [0xEE], times: size) }),
        (
            "members", true,
            {
                try log(0, count: 1) { writer in
                    writer.varint(1)
                    writer.byte(ValueTag.object)
                    writer.varint(size / 8)
                    for number in 0..<(size / 8) {
                        writer.text(String(String(number + 1_000_000).suffix(6)))
                        writer.byte(ValueTag.null)
                    }
                }
            }
        ),
        (
            "the same reference again and again", true,
            {
                try log(2, count: 1) { writer in
                    writer.varint(1)
                    writer.byte(ValueTag.references)
                    writer.varint(size / 2)
                    for _ in 0..<(size / 2) {
                        writer.varint(1)
                        writer.varint(1)
                    }
                }
            }
        ),
        (
            "a count of references that are not there", true,
            {
                try log(2, count: 1) { writer in
                    writer.varint(1)
                    writer.byte(ValueTag.references)
                    writer.varint(size / 5)
                    writer.zeros(size)
                }
            }
        ),
        (
            "a count of records that are not there", true,
            { try log(1, count: size) { $0.zeros(size) } }
        ),
        (
            "tiny records", false,
            {
                try log(1, count: size / 5) { writer in
                    for number in 1...(size / 5) {
                        writer.varint(number)
                        writer.byte(ValueTag.null)
                    }
                }
            }
        ),
        (
            "many records with an empty array each", false,
            {
                try log(0, count: size / 6) { writer in
                    for number in 1...(size / 6) {
                        writer.varint(number)
                        writer.byte(ValueTag.array)
                        writer.varint(0)
                    }
                }
            }
        ),
        ("a long array of numbers", false, { try coded(ValueTag.array, 300_000, of: [ValueTag.integer, 2]) }),
    ]

    @Test(arguments: hostile.indices)
    func whatIsMadeToTakeMemoryTakesNoMoreThanFourTimesTheFileAndSixteenMegabytes(index: Int) throws {
        let (name, isRefused, make) = Self.hostile[index]
        try withTemporaryFolder { folder in
            let path = folder + "/hostile.log"
            let bytes = try make()
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let measured = try #require(try HelperProcess.measure(path), "\(name): the process did not live")
            #expect(measured.isRead != isRefused, "\(name): \(measured.outcome)")
            let limit = 4 * bytes.count + 16 << 20
            #expect(measured.grown <= limit, "\(name): \(measured.grown) bytes for a log of \(bytes.count)")
            print("memory: \(name): \(measured.grown) of \(limit) bytes, \(measured.outcome.prefix(120))")
        }
        FaultLedger.add(["F25"], trials: 1)
    }

    /// What a save takes must be what an opening takes.
    @Test func whatCanBeWrittenCanBeRead() throws {
        #expect(MemoryLayout<StoredValue>.stride <= ValueBudget.element)
        #expect(
            8 * (MemoryLayout<StoredValue>.stride + MemoryLayout<String>.stride) <= 3 * ValueBudget.member,
            "a dictionary has at most eight places for three members")
        var isRefused = false
        for count in stride(from: 50_000, through: 550_000, by: 50_000) {
            let value = StoredValue.array(Array(repeating: .integer(1), count: count))
            var writer = ByteWriter()
            writer.beginRecord()
            do {
                try writer.value(value, Self.catalog)
            } catch {
                isRefused = true
                continue
            }
            #expect(!isRefused, "\(count) fit and fewer did not")
            let back = try writer.bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return try reader.value(Self.catalog)
            }
            #expect(back.isIdentical(to: value), "\(count)")
        }
        #expect(isRefused)
        #expect(throws: UnwritableValue.self) {
            let twice = PersistentIdentifier.numbered(1, storeIdentifier: "S", entityName: "Flag")
            var writer = ByteWriter()
            try writer.value(.identifiers([twice, twice]), Self.catalog)
        }
    }
}
