import Foundation

/// Sixteen bytes to compare at once.
struct Bits128: BitwiseCopyable, Hashable {
    let low: UInt64
    let high: UInt64

    init(_ uuid: uuid_t) {
        (low, high) = withUnsafeBytes(of: uuid) {
            (
                $0.loadUnaligned(as: UInt64.self),
                $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
    }
}

/// A selection's words by value.
struct Words {
    private var words: SIMD4<UInt64> = .zero

    init() {}
    init(_ pointer: UnsafeMutablePointer<UInt64>) {
        for index in 0..<ChunkSelection.wordCount { words[index] = pointer[index] }
    }

    mutating func formUnion(_ other: Words) { words |= other.words }
    mutating func subtract(_ other: Words) { words &= ~other.words }

    func write(to pointer: UnsafeMutablePointer<UInt64>) {
        for index in 0..<ChunkSelection.wordCount { pointer[index] = words[index] }
    }

    mutating func withPointer(_ body: (UnsafeMutablePointer<UInt64>) -> Void) {
        withUnsafeMutableBytes(of: &words) { bytes in
            if let start = bytes.bindMemory(to: UInt64.self).baseAddress { body(start) }
        }
    }
}
