/// A 128-bit hash of a file's bytes: MurmurHash3 in its x64 form.
///
/// It tells files apart quickly and is stored with them; it does not prove that two files are equal, and does not
/// protect against deliberately similar files.
struct ContentHash {
    private var first: UInt64 = 0
    private var second: UInt64 = 0
    private var length: UInt64 = 0

    private static let firstFactor: UInt64 = 0x87C3_7B91_1142_53D5
    private static let secondFactor: UInt64 = 0x4CF5_AD43_2745_937F

    /// Takes in the next bytes. Every piece but the last must be a multiple of 16 bytes long, and start on an address
    /// that is a multiple of 8.
    mutating func update(with bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        let blocks = bytes.count / 16
        if blocks > 0, let start = bytes.baseAddress {
            let words = start.assumingMemoryBound(to: UInt64.self)
            var block = 0
            while block < blocks {
                mix(UInt64(littleEndian: words[2 &* block]), UInt64(littleEndian: words[2 &* block &+ 1]))
                block &+= 1
            }
        }
        mixTail(UnsafeRawBufferPointer(rebasing: bytes[(blocks * 16)...]))
    }

    /// The hash of everything taken in so far, as 32 hexadecimal digits.
    var hexadecimal: String {
        var (first, second) = (first ^ length, second ^ length)
        first &+= second
        second &+= first
        first = Self.avalanche(first)
        second = Self.avalanche(second)
        first &+= second
        second &+= first
        return Self.digits(first) + Self.digits(second)
    }

    private mutating func mix(_ low: UInt64, _ high: UInt64) {
        first ^= Self.rotated(low &* Self.firstFactor, by: 31) &* Self.secondFactor
        first = (Self.rotated(first, by: 27) &+ second) &* 5 &+ 0x52DC_E729
        second ^= Self.rotated(high &* Self.secondFactor, by: 33) &* Self.firstFactor
        second = (Self.rotated(second, by: 31) &+ first) &* 5 &+ 0x3849_5AB5
    }

    private mutating func mixTail(_ tail: UnsafeRawBufferPointer) {
        var (low, high): (UInt64, UInt64) = (0, 0)
        for (index, byte) in tail.enumerated() {
            if index < 8 {
                low |= UInt64(byte) << UInt64(8 * index)
            } else {
                high |= UInt64(byte) << UInt64(8 * (index - 8))
            }
        }
        second ^= Self.rotated(high &* Self.secondFactor, by: 33) &* Self.firstFactor
        first ^= Self.rotated(low &* Self.firstFactor, by: 31) &* Self.secondFactor
    }

    private static func rotated(_ word: UInt64, by bits: UInt64) -> UInt64 {
        (word &<< bits) | (word &>> (64 &- bits))
    }

    private static func avalanche(_ word: UInt64) -> UInt64 {
        var word = word
        word ^= word >> 33
        word &*= 0xFF51_AFD7_ED55_8CCD
        word ^= word >> 33
        word &*= 0xC4CE_B9FE_1A85_EC53
        word ^= word >> 33
        return word
    }

    private static func digits(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
