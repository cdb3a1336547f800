import PackageTestSupport
import Testing

@testable import MortiseEngine

@Suite struct CRC32CTests {
    static let vectors: [([UInt8], UInt32)] = [
        ([], 0),
        ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
        (Array(0..<32), 0x46DD_794E),
        (Array((0..<32).reversed()), 0x113F_DB5C),
        (Array("123456789".utf8), 0xE306_9283),
    ]

    @Test(arguments: vectors)
    func knownVectorsHaveTheirPublishedValues(bytes: [UInt8], expected: UInt32) {
        #expect(CRC32C.checksum(of: bytes) == expected)
    }

    @Test func everyCutIntoTwoPiecesGivesTheSameValue() {
        let bytes = pattern(1, count: 100)
        let whole = CRC32C.checksum(of: bytes)
        for cut in 0...bytes.count {
            var checksum = CRC32C()
            checksum.update(Array(bytes[..<cut]))
            var resumed = CRC32C(resuming: checksum.value)
            resumed.update(Array(bytes[cut...]))
            #expect(resumed.value == whole, "cut at \(cut)")
        }
    }

    @Test func everyLengthAndAlignmentAgreesWithTheDefinition() {
        let bytes = pattern(2, count: 80)
        bytes.withUnsafeBytes { memory in
            for start in 0..<9 {
                for end in start...memory.count {
                    let piece = UnsafeRawBufferPointer(rebasing: memory[start..<end])
                    #expect(CRC32C.checksum(of: piece) == bitwise(piece))
                }
            }
        }
    }

    /// Three runs of 512 bytes are summed side by side, so lengths around their multiples matter.
    @Test func instructionsAndTablesAgreeAtAnyLengthAndAlignment() {
        var random = SeededGenerator(seed: testSeed())
        let bytes = pattern(4, count: 40_000)
        let lengths = [0, 1, 7, 8, 511, 512, 1_535, 1_536, 1_537, 3_071, 3_072, 3_073, 4_607, 4_608, 39_990]
        let drawn = (0..<500).map { _ in Int.random(in: 0..<20_000, using: &random) }
        bytes.withUnsafeBytes { memory in
            for length in lengths + drawn {
                for start in [0, Int.random(in: 1..<8, using: &random), memory.count - length] {
                    let end = min(start + length, memory.count)
                    let piece = UnsafeRawBufferPointer(rebasing: memory[min(start, end)..<end])
                    let seed = UInt32.random(in: 0...UInt32.max, using: &random)
                    var (fast, portable) = (CRC32C(resuming: seed), CRC32C(resuming: seed))
                    fast.update(piece)
                    portable.updatePortably(piece)
                    #expect(fast == portable, "\(piece.count) bytes from \(start)")
                }
            }
        }
        #if arch(x86_64)
        #expect(CRC32C.hasInstructions, "every processor of the last fifteen years has them")
        #endif
    }

    @Test func everySingleBitFlipChangesTheValue() {
        var bytes = pattern(3, count: 64)
        let whole = CRC32C.checksum(of: bytes)
        for bit in 0..<(bytes.count * 8) {
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(CRC32C.checksum(of: bytes) != whole)
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
    }

    private func bitwise(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var remainder: UInt32 = .max
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0x82F6_3B78 }
        }
        return ~remainder
    }
}
