import Synchronization

/// A region of a packed version in its file.
public struct PackedRegion: Hashable, Sendable {
    /// Where the region begins, in bytes from the beginning of the file.
    public var offset: UInt64
    /// The region's length in bytes.
    public var length: UInt32
    /// The CRC-32C of the bytes, resumed from the file's seed.
    public var checksum: UInt32

    /// Names a region of a file.
    public init(offset: UInt64, length: UInt32, checksum: UInt32) {
        self.offset = offset
        self.length = length
        self.checksum = checksum
    }
}

/// What is wrong with a packed version, and where.
public struct PackedFault: Error, Hashable, Sendable {
    /// The offset of the damaged region, in bytes from the beginning of the file.
    public var offset: UInt64
    /// What is wrong, worded to follow "the region".
    public var what: String
    /// Whether the bytes changed after they were written. If false, another program wrote them.
    public var isDamage: Bool

    init(_ offset: UInt64, _ what: String, isDamage: Bool = false) {
        self.offset = offset
        self.what = what
        self.isDamage = isDamage
    }
}

/// The file that a version was packed into. Its regions are read when they are first asked for, and checked then.
///
/// What cannot be read is recorded: a caller that gets answers from the version has to check `damage` before using
/// them.
public final class PackedFile: Sendable {
    private let file: any OpenFile
    /// Where the regions end.
    let end: UInt64
    private let seed: UInt32
    private let explain: @Sendable (PackedFault) -> any Error
    private let explainUnread: @Sendable (FileError, _ offset: UInt64) -> any Error
    private let closes: Bool
    /// What gets the damage of this one as well.
    private let other: PackedFile?
    private let firstDamage = Mutex<(any Error)?>(nil)
    private let madeRestorer = Mutex<PackedRestorer?>(nil)
    private let isDamaged = Atomic(false)

    /// Prepares reading a packed file.
    /// - Parameters:
    ///   - file: the open file.
    ///   - end: the offset at which the regions end; nothing after it is read.
    ///   - seed: the value that the regions' checksums start from.
    ///   - closes: whether to close the file once nobody reads the version any more.
    ///   - explainUnread: makes the error for a region that the file system fails to read; nil passes the file's error
    ///     on.
    ///   - explain: makes the error that users of the store see from a fault in a region.
    public init(
        _ file: any OpenFile, end: UInt64, seed: UInt32, closes: Bool = true,
        explainUnread: (@Sendable (FileError, _ offset: UInt64) -> any Error)? = nil,
        explain: @escaping @Sendable (PackedFault) -> any Error
    ) {
        self.explainUnread = explainUnread ?? { error, _ in error }
        self.file = file
        self.end = end
        self.seed = seed
        self.explain = explain
        self.closes = closes
        other = nil
    }

    /// A file that more and more regions are written to while it is read, for what `other` has no place for.
    init(spillingTo file: any OpenFile, seed: UInt32, reportingTo other: PackedFile?) {
        self.file = file
        self.seed = seed
        self.other = other
        end = .max
        closes = true
        explainUnread = { error, _ in error }
        explain = { $0 }
    }

    /// The same file for another reader, which must not outlive the first, and whose damage is its own affair.
    init(sharing other: PackedFile) {
        file = other.file
        end = other.end
        seed = other.seed
        explain = other.explain
        explainUnread = other.explainUnread
        self.other = nil
        closes = false
    }

    deinit {
        if closes { try? file.close() }
    }

    /// Rebuilds regions that cannot be read; nil if nothing else has the records.
    var restorer: PackedRestorer? { madeRestorer.withLock { $0 } }
    func set(_ restorer: PackedRestorer) { madeRestorer.withLock { $0 = restorer } }

    /// The first error of reading a region; nil if everything that was requested could be read.
    var damage: (any Error)? {
        isDamaged.load(ordering: .acquiring) ? firstDamage.withLock { $0 } : nil
    }

    func note(_ error: any Error) {
        let explained = explaining(error)
        firstDamage.withLock { $0 = $0 ?? explained }
        isDamaged.store(true, ordering: .releasing)
        other?.note(explained)
    }

    /// The error that users of the store get.
    func explaining(_ error: any Error) -> any Error { (error as? PackedFault).map(explain) ?? error }

    /// Runs the body with a region's bytes, which are aligned to sixteen.
    /// - Throws: `PackedFault`; what `explainUnread` makes; what the body throws.
    func withBytes<R>(of region: PackedRegion, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        guard region.offset <= end, UInt64(region.length) <= end - region.offset else {
            throw PackedFault(region.offset, "lies outside the file")
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(region.length), alignment: 16)
        defer { buffer.deallocate() }
        let count: Int
        do {
            count = try file.readAll(into: buffer, at: Int64(region.offset))
        } catch {
            throw explainUnread(error, region.offset)
        }
        guard count == buffer.count else {
            throw PackedFault(region.offset, "has disappeared", isDamage: true)
        }
        let bytes = UnsafeRawBufferPointer(buffer)
        var sum = CRC32C(resuming: seed)
        sum.update(bytes)
        guard sum.value == region.checksum else {
            throw PackedFault(region.offset, "has a wrong checksum", isDamage: true)
        }
        return try body(bytes)
    }
}

/// Reads little-endian numbers out of a region, and never beyond it.
struct PackedReader {
    let bytes: UnsafeRawBufferPointer
    let origin: UInt64
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer, of region: PackedRegion) {
        self.bytes = bytes
        origin = region.offset
    }

    var rest: Int { bytes.count - position }

    func fault(_ what: String) -> PackedFault { PackedFault(origin + UInt64(position), what) }

    mutating func next<T: FixedWidthInteger>(_ type: T.Type) throws(PackedFault) -> T {
        guard rest >= MemoryLayout<T>.size else { throw fault("ends too early") }
        defer { position += MemoryLayout<T>.size }
        return T(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: T.self))
    }

    mutating func take(_ count: Int) throws(PackedFault) -> UnsafeRawBufferPointer {
        guard count >= 0, rest >= count else { throw fault("ends too early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)])
    }

    mutating func region() throws(PackedFault) -> PackedRegion {
        PackedRegion(offset: try next(UInt64.self), length: try next(UInt32.self), checksum: try next(UInt32.self))
    }
}

/// Puts little-endian numbers together.
struct PackedBytes {
    private(set) var bytes: ContiguousArray<UInt8> = []

    mutating func append<T: FixedWidthInteger>(_ value: T) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    /// The low bytes of a number.
    mutating func append(_ value: UInt64, width: Int) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0.prefix(width)) }
    }
    mutating func append(_ raw: UnsafeRawBufferPointer) { bytes.append(contentsOf: raw) }
    mutating func append(_ region: PackedRegion) {
        append(region.offset)
        append(region.length)
        append(region.checksum)
    }
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}
