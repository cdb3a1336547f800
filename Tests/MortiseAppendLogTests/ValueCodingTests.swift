import Foundation
import MortiseCore
import Testing

@testable import MortiseAppendLog

struct ValueCodingTests {
    private let catalog = LogCatalog(
        StoredSchema(entities: [StoredEntity(name: "A", properties: []), StoredEntity(name: "B", properties: [])]),
        store: "S")

    private func roundTrip(_ value: StoredValue) throws -> StoredValue {
        var writer = ByteWriter()
        try writer.value(value, catalog)
        return try read(writer.bytes) { reader in
            let back = try reader.value(catalog)
            #expect(reader.rest == 0)
            return back
        }
    }

    private func read<R>(_ bytes: some Collection<UInt8>, _ body: (inout ByteReader) throws -> R) throws -> R {
        try Array(bytes).withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            return try body(&reader)
        }
    }

    static let limits: [StoredValue] = [
        .null, .bool(true), .bool(false), .integer(0), .integer(-1), .integer(.max), .integer(.min), .integer(63),
        .integer(64), .integer(-64), .integer(-65), .unsigned(0), .unsigned(.max), .unsigned(127), .unsigned(128),
        .float(-0.0), .float(.infinity), .float(.leastNonzeroMagnitude), .float(Float(bitPattern: 0x7FA0_0001)),
        .double(-0.0), .double(.nan), .double(Double(bitPattern: 0x7FF4_0000_0000_0001)), .double(-.infinity),
        .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude), .decimal(.zero), .decimal(.nan),
        .decimal(.greatestFiniteMagnitude), .decimal(.leastNormalMagnitude), .decimal(-.greatestFiniteMagnitude),
        .decimal(Decimal(string: "12345678901234567890123456789012345678")!), .decimal(Decimal(string: "-0.1")!),
        .string(""), .string("a\0b"), .string("e\u{301}"), .string("\u{E9}"), .string("👩‍👩‍👧‍👦"),
        .string(String(repeating: "x", count: 100_000)), .data(Data()), .data(Data(0...255)),
        .date(Date(timeIntervalSinceReferenceDate: 0.1 + 0.2)), .date(.distantPast), .date(.distantFuture),
        .date(Date(timeIntervalSinceReferenceDate: .nan)), .uuid(UUID()), .url(URL(string: "https://a.example/b?c#d")!),
        .url(URL(string: "b/c", relativeTo: URL(string: "https://a.example/x/"))!), .url(URL(fileURLWithPath: "/a b")),
        .identifier(.numbered(.max, storeIdentifier: "S", entityName: "B")), .identifiers([]),
        .identifiers([
            .numbered(1, storeIdentifier: "S", entityName: "A"), .numbered(300, storeIdentifier: "S", entityName: "B"),
        ]),
        .array([]), .array([.null, .array([.object(["": .null])])]), .object([:]),
        .object(["b": .integer(1), "a": .array([.bool(true)]), "é": .string("x")]),
    ]

    @Test(arguments: limits.indices) func everyKindComesBackBitForBit(index: Int) throws {
        let value = Self.limits[index]
        #expect(try roundTrip(value).isIdentical(to: value))
    }

    @Test func everyPowerOfTwoComesBack() throws {
        for shift in 0..<64 {
            for value in [UInt64(1) << shift, (UInt64(1) << shift) - 1, ~(UInt64(1) << shift)] {
                #expect(try roundTrip(.unsigned(value)) == .unsigned(value))
                let signed = Int64(bitPattern: value)
                #expect(try roundTrip(.integer(signed)) == .integer(signed))
            }
        }
    }

    @Test func nestingStopsAtTheLimitInBothDirections() throws {
        func nested(_ depth: Int) -> StoredValue {
            var value = StoredValue.null
            for _ in 0..<depth { value = .array([value]) }
            return value
        }
        #expect(try roundTrip(nested(512)).isIdentical(to: nested(512)))
        var writer = ByteWriter()
        #expect(throws: UnwritableValue.self) { try writer.value(nested(513), catalog) }
        let bytes = [[UInt8]](repeating: [ValueTag.array, 1], count: 100_000).flatMap { $0 }
        #expect(throws: PayloadFault.self) { try read(bytes) { try $0.value(catalog) } }
    }

    @Test func countsThatTheBytesCannotHoldAreRefusedBeforeAllocation() {
        for tag in [ValueTag.string, ValueTag.data, ValueTag.references, ValueTag.array, ValueTag.object] {
            let bytes: [UInt8] = [tag, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0]
            #expect(throws: PayloadFault.self) { try read(bytes) { try $0.value(catalog) } }
        }
    }

    @Test func everyPrefixOfAValueIsRefused() throws {
        var writer = ByteWriter()
        try writer.value(.array(Self.limits.filter { if case .decimal = $0 { false } else { true } }), catalog)
        for length in stride(from: 0, to: writer.count, by: 7) {
            let prefix = writer.bytes[..<length]
            #expect(throws: PayloadFault.self) { try read(prefix) { try $0.value(catalog) } }
        }
    }

    @Test func schemasComeBackWhole() throws {
        let schema = Schema([Box.self, Item.self]).stored
        let payload = try LogCatalog(schema, store: "S").schemaPayload()
        #expect(try read(payload) { try $0.schema() } == schema)
        for length in 0..<(payload.count - 1) {
            #expect(throws: PayloadFault.self) { try read(payload[..<length]) { try $0.schema() } }
        }
    }
}
