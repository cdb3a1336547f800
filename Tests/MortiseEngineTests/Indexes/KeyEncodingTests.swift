import Foundation
import PackageTestSupport
import Testing

@testable import MortiseCore
@testable import MortiseEngine

@Suite struct KeyEncodingTests {
    private func key(_ value: StoredValue, _ kind: StorageKind, isOptional: Bool = false) -> [UInt8] {
        let buffer = KeyBuffer()
        let layout = RecordLayoutFixture.layout(kind, isOptional: isOptional)
        _ = buffer.append(value, KeyComponent(0, of: layout))
        return [UInt8](buffer.key)
    }

    private func expectOrder<T>(
        _ values: [T], _ kind: StorageKind, _ stored: (T) -> StoredValue, _ precedes: (T, T) -> Bool,
        _ note: String = ""
    ) {
        let keys = values.map { key(stored($0), kind) }
        for (a, x) in values.enumerated() {
            for (b, y) in values.enumerated() {
                let isLess = keys[a].lexicographicallyPrecedes(keys[b])
                if isLess != precedes(x, y) { Issue.record("\(kind): \(x) and \(y). \(note)") }
            }
        }
    }

    @Test func numbersKeepTheirOrder() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        var integers: [Int64] = [.min, .min + 1, -256, -255, -1, 0, 1, 255, 256, .max - 1, .max]
        integers += (0..<60).map { _ in Int64(bitPattern: random.next()) }
        expectOrder(integers, .int64, { .integer($0) }, <)
        expectOrder(integers.map { UInt64(bitPattern: $0) }, .uint64, { .unsigned($0) }, <)
        var doubles: [Double] = [
            -.infinity, -.greatestFiniteMagnitude, -1, -.leastNonzeroMagnitude, -0.0, 0, .leastNonzeroMagnitude, 1,
            .infinity,
        ]
        doubles += (0..<60).map { _ in Double(bitPattern: random.next()) }.filter { !$0.isNaN }
        expectOrder(doubles, .double, { .double($0) }, <, "seed \(seed)")
        expectOrder(doubles.map(Float.init), .float, { .float($0) }, <, "seed \(seed)")
        expectOrder(doubles, .date, { .date(Date(timeIntervalSinceReferenceDate: $0)) }, <, "seed \(seed)")
        #expect(key(.double(.nan), .double).lexicographicallyPrecedes(key(.double(-.infinity), .double)))
        #expect(key(.double(-.nan), .double) == key(.double(.nan), .double))
        #expect(key(.bool(false), .bool).lexicographicallyPrecedes(key(.bool(true), .bool)))
    }

    @Test func decimalsKeepTheirOrder() throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        var decimals: [Decimal] = try [
            "0", "1", "-1", "10", "0.1", "1.5", "15", "150", "0.015", "-0.015",
            "99999999999999999999999999999999999999",
            "-99999999999999999999999999999999999999", "1e100", "1e-100", "-1e100", "-1e-100", "0.00000000001",
        ].map { try #require(Decimal(string: $0)) }
        for _ in 0..<80 {
            let number = Decimal(Int64.random(in: -100_000...100_000, using: &random))
            decimals.append(number * (try #require(Decimal(string: "1e\(Int.random(in: -30...30, using: &random))"))))
        }
        expectOrder(decimals, .decimal, { .decimal($0) }, <, "seed \(seed)")
        #expect(key(.decimal(.nan), .decimal).lexicographicallyPrecedes(key(.decimal(decimals[11]), .decimal)))
        for decimal in decimals { #expect(StoredDecimal(decimal).number == decimal) }
        #expect(StoredDecimal(.nan).number.isNaN)
        #expect(StoredDecimal(try #require(Decimal(string: "-12.5"))).number.description == "-12.5")
    }

    @Test func bytesAndIdentifiersKeepTheirOrder() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let data = (0..<120).map { _ in
            Data((0..<Int.random(in: 0...20, using: &random)).map { _ in UInt8.random(in: 0...2, using: &random) })
        }
        expectOrder(data, .data, { .data($0) }, { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
        let uuids = (0..<60).map { _ in UUID.random(using: &random) }
        expectOrder(uuids, .uuid, { .uuid($0) }, <, "seed \(seed)")
    }

    @Test func stringsAreOrderedAsSwiftOrdersThem() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let pools: [[UInt32]] = [
            [0, 1, 2, 0x20], Array(0x41...0x5A), Array(0xC0...0x17F), Array(0x300...0x36F), Array(0x1100...0x1112),
            Array(0x1161...0x1175), Array(0x11A8...0x11C2), Array(0xAC00...0xAC40), Array(0x1E00...0x1EFF),
            Array(0x900...0x9FF), [0x212B, 0x2126, 0x0F73, 0x0F71, 0x0F72, 0x340, 0x344, 0x37E, 0x2ADC, 0xFB1D],
            Array(0xF900...0xFA2F), Array(0x3040...0x30FF), Array(0x1F600...0x1F610), [0xFFFD, 0x10FFFF, 0xE000],
        ]
        func string() -> String {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let pool = pools.randomElement(using: &random) ?? []
                if let scalar = pool.randomElement(using: &random).flatMap(Unicode.Scalar.init) {
                    scalars.append(scalar)
                }
            }
            return String(scalars)
        }
        var compared = 0
        for _ in 0..<6000 {
            let a = string()
            let b: String =
                switch Int.random(in: 0...2, using: &random) {
                case 0: string()
                case 1: a.decomposedStringWithCanonicalMapping
                default: a + string()
                }
            let x = key(.string(a), .string)
            let y = key(.string(b), .string)
            let note: Comment = "\(a.unicodeScalars.map(\.value)) and \(b.unicodeScalars.map(\.value)); seed \(seed)"
            #expect((a == b) == (x == y), note)
            #expect(CanonicalText.precedes(a, b) == x.lexicographicallyPrecedes(y), note)
            // The standard library's order is no order where one string is the beginning of the other; see there.
            let composed = (CanonicalText.composed(a), CanonicalText.composed(b))
            let isBeginning = [(a, b), (b, a), composed, (composed.1, composed.0)]
                .contains { $0.unicodeScalars.starts(with: $1.unicodeScalars) }
            if !isBeginning { #expect((a < b) == x.lexicographicallyPrecedes(y), note) }
            compared += isBeginning ? 0 : 1
        }
        #expect(compared > 1000)
    }

    @Test func nullComesFirstAndNoComponentRunsIntoTheNext() {
        #expect(
            key(.null, .string, isOptional: true).lexicographicallyPrecedes(key(.string(""), .string, isOptional: true))
        )
        let buffer = KeyBuffer()
        let string = KeyComponent(0, of: RecordLayoutFixture.layout(.string, isOptional: false))
        func pair(_ a: String, _ b: String) -> [UInt8] {
            buffer.removeAll()
            buffer.append(.string(a), string)
            buffer.append(.string(b), string)
            return [UInt8](buffer.key)
        }
        let parts = ["", "a", "ab", "b", "\0", "\0\0", "\u{1}", "a\0", "é"]
        for a in parts {
            for b in parts {
                for c in parts {
                    for d in parts {
                        let isLess = a == c ? b < d : a < c
                        #expect(pair(a, b).lexicographicallyPrecedes(pair(c, d)) == isLess, "\([a, b, c, d])")
                    }
                }
            }
        }
    }
}

enum RecordLayoutFixture {
    static func layout(_ kind: StorageKind, isOptional: Bool) -> RecordLayout {
        StoredSchema(entities: [
            StoredEntity(name: "E", properties: [EngineWorld.attribute("value", kind, isOptional: isOptional)])
        ]).recordLayouts()["E"] ?? .empty("E")
    }
}

extension UUID {
    fileprivate static func random(using random: inout SeededGenerator) -> UUID {
        let a = random.next()
        let b = random.next()
        func byte(_ word: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (8 * index)) }
        return UUID(
            uuid: (
                byte(a, 0) & 1, byte(a, 1), byte(a, 2), byte(a, 3), byte(a, 4), byte(a, 5), byte(a, 6), byte(a, 7),
                byte(b, 0), byte(b, 1), byte(b, 2), byte(b, 3), byte(b, 4), byte(b, 5), byte(b, 6), byte(b, 7)
            ))
    }
}
