import Foundation
import Synchronization

/// The strings that a table's coded columns refer to by number. A value that grows: copies share their strings, and one
/// of them at a time, the writer's, adds more.
struct StringDictionary: Sendable {
    static let limit = 60_000
    /// Longer strings are not worth looking up.
    static let longest = 64

    private(set) var count = 0
    private var strings: StringStore
    private let codes: StringCodes
    /// How many strings there were, and rows before it, when the last chunk with codes began.
    private var lastChunk = (strings: 0, row: 0)

    init() {
        strings = StringStore(capacity: 64)
        codes = StringCodes()
    }

    /// A dictionary with these strings under the numbers from zero.
    init(_ strings: [String]) {
        count = strings.count
        lastChunk.strings = count
        self.strings = StringStore(capacity: max(64, strings.count))
        codes = StringCodes()
        for (code, string) in strings.enumerated() { self.strings.set(string, at: code) }
    }

    /// Creates a dictionary of `count` strings, which `read` returns all at once when one is first needed. If they
    /// cannot be read, `read` records the error and returns nil.
    init(count: Int, reading read: @escaping @Sendable () -> [String]?) {
        self.count = count
        lastChunk.strings = count
        strings = StringStore(count: count, reading: read)
        codes = StringCodes()
    }

    /// Empty for numbers that are in no version.
    @inline(__always)
    subscript(code: Int) -> String {
        strings.prepare()
        return code < count ? strings[code] : ""
    }

    /// Reads the strings now if they were not read before.
    func prepare() { strings.prepare() }

    /// Where the strings lie, for as long as this value is kept. They are there once the dictionary is prepared, which it is
    /// before any chunk is handed out that has their numbers.
    var start: UnsafePointer<String> { strings.start }

    /// Whether the chunk that begins at a row is to have codes: where few strings are, or few were new in the last one that
    /// had them. Where most are new it is tried again only when the table has doubled, so that a table of strings that are
    /// all different keeps hardly any of them here.
    mutating func beginChunk(atRow row: Int) -> Bool {
        let isFew = count < Chunk.capacity || count - lastChunk.strings <= Chunk.capacity / 4
        guard isFew || row >= 2 * max(lastChunk.row, Chunk.capacity), count + Chunk.capacity < Self.limit else {
            return false
        }
        lastChunk = (count, row)
        return true
    }

    /// The same strings under the same numbers, in a dictionary that another writer may add to. They are copied when one is needed.
    var copy: StringDictionary {
        if count == 0 { return StringDictionary() }
        return StringDictionary(count: count) { [self] in (0..<count).map { self[$0] } }
    }

    /// The number of a string; nil if it has none. For the writer.
    func code(of string: String) -> Int? {
        var string = string
        return string.withUTF8 { find($0).code }
    }

    /// The number of a string, a new one if it has none; nil if the dictionary is full. For the writer.
    mutating func add(_ string: String) -> Int? {
        var string = string
        let (hash, known) = string.withUTF8 { find($0) }
        return known ?? add(string, hash)
    }

    /// The number of the string with these bytes, which are valid UTF-8; see `add(_:)`.
    mutating func add(utf8 bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        let (hash, known) = find(bytes)
        return known ?? add(String(decoding: bytes, as: UTF8.self), hash)
    }

    private func find(_ bytes: UnsafeBufferPointer<UInt8>) -> (hash: UInt64, code: Int?) {
        strings.prepare()
        let hash = StringCodes.hash(bytes)
        codes.prepare(count, strings)
        return (hash, codes.find(bytes, hash, strings, count))
    }

    private mutating func add(_ string: String, _ hash: UInt64) -> Int? {
        guard count < Self.limit else { return nil }
        if count == strings.capacity { strings = StringStore(copying: strings, count, capacity: count * 2) }
        strings.set(string, at: count)
        codes.insert(count, hash, strings)
        count += 1
        return count - 1
    }
}

/// Strings, each written once, after the last that any version knows.
///
/// @unchecked Sendable: the writer alone adds strings, after the last that a version has. What a file holds is read once, under
/// the lock of `source`, and `isRead` publishes it.
private final class StringStore: @unchecked Sendable {
    let capacity: Int
    private let memory: UnsafeMutablePointer<String>
    private var initialized = 0
    /// Where the strings come from, until they have been read.
    private let source: Mutex<(@Sendable () -> [String]?)?>
    private let isRead: Atomic<Bool>
    private let expected: Int

    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity)
        source = Mutex(nil)
        isRead = Atomic(true)
        expected = 0
    }

    init(count: Int, reading read: @escaping @Sendable () -> [String]?) {
        capacity = max(64, count)
        memory = .allocate(capacity: capacity)
        source = Mutex(read)
        isRead = Atomic(false)
        expected = count
    }

    @inline(__always)
    func prepare() {
        if !isRead.load(ordering: .acquiring) { read() }
    }

    @inline(never)
    private func read() {
        source.withLock { source in
            guard let read = source else { return }
            source = nil
            let strings = read() ?? []
            for index in 0..<expected { set(index < strings.count ? strings[index] : "", at: index) }
            isRead.store(true, ordering: .releasing)
        }
    }

    convenience init(copying other: StringStore, _ count: Int, capacity: Int) {
        self.init(capacity: capacity)
        memory.initialize(from: other.memory, count: count)
        initialized = count
    }

    deinit {
        memory.deinitialize(count: initialized)
        memory.deallocate()
    }

    @inline(__always) subscript(index: Int) -> String { memory[index] }
    var start: UnsafePointer<String> { UnsafePointer(memory) }

    func set(_ string: String, at index: Int) {
        if index < initialized {
            // Left over from a transaction that failed.
            memory[index] = string
        } else {
            (memory + index).initialize(to: string)
            initialized = index + 1
        }
    }
}

/// Finds strings' numbers by their bytes. It may include numbers of failed transactions; they are not found, because
/// the version has no string, or another, under such a number. A `Dictionary` of strings would take canonically equivalent ones
/// for the same.
///
/// @unchecked Sendable: used by the writer alone, of whom there is one at a time.
private final class StringCodes: @unchecked Sendable {
    // Looked at for each string that is written: checking for exclusivity would take longer. No method calls another object
    // that knows of this one.
    @exclusivity(unchecked) private var table = ContiguousArray<UInt32>(repeating: 0, count: 128)
    @exclusivity(unchecked) private var used = 0

    static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        let raw = UnsafeRawBufferPointer(bytes)
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(raw.count)
        var index = 0
        while index + 8 <= raw.count {
            hash = (hash ^ raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) &* 0xFF51_AFD7_ED55_8CCD
            hash ^= hash >> 32
            index += 8
        }
        while index < raw.count {
            hash = (hash ^ UInt64(raw[index])) &* 0x0000_0100_0000_01B3
            index += 1
        }
        hash = (hash ^ hash >> 29) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 32
    }

    /// Takes in the strings of a dictionary that came out of a file.
    func prepare(_ count: Int, _ strings: StringStore) {
        if used == 0, count > 0 { rebuild(count, strings) }
    }

    func find(_ bytes: UnsafeBufferPointer<UInt8>, _ hash: UInt64, _ strings: StringStore, _ count: Int) -> Int? {
        let mask = table.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while table[place] != 0 {
            let code = Int(table[place]) - 1
            if code < count {
                let isEqual = strings[code].utf8.withContiguousStorageIfAvailable { candidate in
                    guard candidate.count == bytes.count else { return false }
                    guard let mine = candidate.baseAddress, let others = bytes.baseAddress else { return true }
                    return memcmp(mine, others, bytes.count) == 0
                }
                if isEqual == true { return code }
            }
            place = (place + 1) & mask
        }
        return nil
    }

    func insert(_ code: Int, _ hash: UInt64, _ strings: StringStore) {
        if used * 2 >= table.count { rebuild(code, strings) }
        put(code, hash)
    }

    private func put(_ code: Int, _ hash: UInt64) {
        let mask = table.count - 1
        var place = Int(truncatingIfNeeded: hash) & mask
        while table[place] != 0 { place = (place + 1) & mask }
        table[place] = UInt32(code) + 1
        used += 1
    }

    private func rebuild(_ count: Int, _ strings: StringStore) {
        var size = 128
        while size < count * 4 { size *= 2 }
        table = ContiguousArray(repeating: 0, count: size)
        used = 0
        for code in 0..<count {
            var string = strings[code]
            put(code, string.withUTF8 { Self.hash($0) })
        }
    }
}
