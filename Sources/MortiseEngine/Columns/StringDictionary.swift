import Foundation

/// The strings that a table's coded columns refer to by number. A value that grows: copies share their strings, and one
/// of them at a time, the writer's, adds more.
struct StringDictionary: Sendable {
    static let limit = 60_000
    /// Longer strings are not worth looking up.
    static let longest = 64

    private(set) var count = 0
    private var strings: StringStore
    private let codes: StringCodes

    init() {
        strings = StringStore(capacity: 64)
        codes = StringCodes()
    }

    /// A dictionary with these strings under the numbers from zero.
    init(_ strings: [String]) {
        count = strings.count
        self.strings = StringStore(capacity: max(64, strings.count))
        codes = StringCodes()
        for (code, string) in strings.enumerated() { self.strings.set(string, at: code) }
    }

    /// Empty for numbers that are in no version.
    @inline(__always)
    subscript(code: Int) -> String { code < count ? strings[code] : "" }

    /// Where the strings lie, for as long as this value is kept.
    var start: UnsafePointer<String> { strings.start }

    /// The numbers of the strings that are canonically equivalent to one. For readers, who cannot use the writer's table.
    func codes(equalTo string: String) -> [Int] { (0..<count).filter { strings[$0] == string } }

    /// The number of a string, a new one where it has none; nil where the dictionary is full. For the writer.
    mutating func add(_ string: String) -> Int? {
        var string = string
        let hash = string.withUTF8 { StringCodes.hash($0) }
        codes.prepare(count, strings)
        if let known = string.withUTF8({ codes.find($0, hash, strings, count) }) { return known }
        guard count < Self.limit else { return nil }
        if count == strings.capacity { strings = StringStore(copying: strings, count, capacity: count * 2) }
        strings.set(string, at: count)
        codes.insert(count, hash, strings)
        count += 1
        return count - 1
    }
}

/// Strings, each written once behind the last that any version knows.
///
/// @unchecked Sendable: only the writer writes, and only behind what readers read.
private final class StringStore: @unchecked Sendable {
    let capacity: Int
    private let memory: UnsafeMutablePointer<String>
    private var initialized = 0

    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(capacity: capacity)
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
            // Left behind by a transaction that failed.
            memory[index] = string
        } else {
            (memory + index).initialize(to: string)
            initialized = index + 1
        }
    }
}

/// Finds strings' numbers by their bytes. Numbers of transactions that failed may be among them; they are not found,
/// because the string under such a number is none of the version's, or another.
///
/// @unchecked Sendable: used by the writer alone.
private final class StringCodes: @unchecked Sendable {
    private var table = ContiguousArray<UInt32>(repeating: 0, count: 128)
    private var used = 0

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
