/// The bytes of one index key while it is put together. Reused from key to key, so that making one allocates nothing.
///
/// Keys compare as byte strings followed by endless zeros; trailing zeros are therefore left off.
final class KeyBuffer {
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 64
        storage = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { storage.deallocate() }

    /// The key so far, without its trailing zeros; valid until the next change.
    var key: UnsafeRawBufferPointer {
        var length = count
        while length > 0, storage.load(fromByteOffset: length - 1, as: UInt8.self) == 0 { length -= 1 }
        return UnsafeRawBufferPointer(start: storage, count: length)
    }

    /// Everything appended so far, trailing zeros included.
    var bytes: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: storage, count: count)) }

    func removeAll() { count = 0 }

    func truncate(to length: Int) { count = min(count, length) }

    @inline(__always)
    func append(_ byte: UInt8) {
        if count == capacity { grow(by: 1) }
        storage.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inline(__always)
    func append(bigEndian number: UInt64) {
        if count + 8 > capacity { grow(by: 8) }
        storage.storeBytes(of: number.bigEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        if count + bytes.count > capacity { grow(by: bytes.count) }
        (storage + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    private func grow(by more: Int) {
        let larger = max(capacity * 2, count + more)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        moved.copyMemory(from: storage, byteCount: count)
        storage.deallocate()
        storage = moved
        capacity = larger
    }
}

/// A position in an index: a key, and a row among the entries with that key.
struct IndexProbe {
    let head: UInt64
    let second: UInt64
    /// What of the key does not fit the heads.
    let tail: UnsafeRawBufferPointer
    let row: UInt64

    /// Creates a probe for a key, which must have no trailing zeros and must outlive the probe.
    @inline(__always)
    init(_ key: UnsafeRawBufferPointer, row: UInt64, isWide: Bool) {
        self.row = row
        head = Self.word(key, 0)
        second = isWide ? Self.word(key, 8) : 0
        let start = isWide ? 16 : 8
        tail =
            key.count > start
            ? UnsafeRawBufferPointer(rebasing: key[start...]) : UnsafeRawBufferPointer(start: nil, count: 0)
    }

    init(head: UInt64, second: UInt64, tail: UnsafeRawBufferPointer, row: UInt64) {
        self.head = head
        self.second = second
        self.tail = tail
        self.row = row
    }

    @inline(__always)
    private static func word(_ key: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        if key.count >= offset + 8 {
            return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var word: UInt64 = 0
        var index = offset
        while index < key.count {
            word |= UInt64(key[index]) << UInt64(56 - 8 * (index - offset))
            index += 1
        }
        return word
    }
}
