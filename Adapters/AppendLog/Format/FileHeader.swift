import Foundation
import MortiseEngine

/// The first 64 bytes of a log or a checkpoint.
struct FileHeader: Hashable {
    enum Kind: UInt16 { case log = 1, checkpoint = 2 }

    static let size = 64
    static let version: UInt16 = 1
    static let magic: [UInt8] = [0x89, 0x4D, 0x4C, 0x4F, 0x47, 0x0D, 0x0A, 0x1A]

    var kind: Kind
    var store: UUID
    /// New for every file that is made.
    var file: UUID
    /// Up to this transaction a log is history only.
    var base: UInt64

    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.size)
        Self.magic.withUnsafeBytes { writer.raw($0) }
        writer.fixed(Self.version)
        writer.fixed(kind.rawValue)
        writer.fixed(UInt32(0))
        writer.uuid(store)
        writer.uuid(file)
        writer.fixed(base)
        writer.fixed(UInt32(0))
        writer.fixed(CRC32C.checksum(of: writer.bytes))
        return writer.bytes
    }

    /// What the checksums of the file's frames go on from.
    var seed: UInt32 { CRC32C.checksum(of: Array(bytes.prefix(Self.size - 4))) }

    init(kind: Kind, store: UUID, file: UUID = UUID(), base: UInt64 = 0) {
        self.kind = kind
        self.store = store
        self.file = file
        self.base = base
    }

    /// Reads the header from the beginning of a file, 64 bytes unless the file is shorter.
    /// - Throws: `LogFault` for a file that is empty, not a log, too short, of another version or kind, or damaged in
    ///   its header.
    init(_ bytes: [UInt8], expecting expected: Kind) throws(LogFault) {
        guard !bytes.isEmpty else { throw .empty }
        let known = min(bytes.count, Self.magic.count)
        guard bytes[..<known].elementsEqual(Self.magic[..<known]) else { throw .notALog }
        guard bytes.count >= Self.size else { throw .tooShort(bytes: bytes.count) }
        let found = bytes.withUnsafeBytes { Self.fields($0) }
        guard found.version == Self.version else { throw .unsupportedVersion(found.version) }
        guard found.checksum == CRC32C.checksum(of: Array(bytes[..<60])) else { throw .damagedHeader }
        guard let kind = Kind(rawValue: found.kind), kind == expected else { throw .wrongKindOfFile }
        guard found.reserved == 0 else { throw .unsupportedVersion(found.version) }
        guard found.base < EngineVersion.numberLimit else {
            throw .malformed(part: .fileHeader, offset: 48, what: "has a number that is not below 2^62")
        }
        self.init(kind: kind, store: found.store, file: found.file, base: found.base)
    }

    private static func fields(
        _ raw: UnsafeRawBufferPointer
    ) -> (version: UInt16, kind: UInt16, store: UUID, file: UUID, base: UInt64, reserved: UInt32, checksum: UInt32) {
        func load<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            T(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: T.self))
        }
        return (
            load(8, UInt16.self), load(10, UInt16.self),
            UUID(uuid: raw.loadUnaligned(fromByteOffset: 16, as: uuid_t.self)),
            UUID(uuid: raw.loadUnaligned(fromByteOffset: 32, as: uuid_t.self)), load(48, UInt64.self),
            load(12, UInt32.self) | load(56, UInt32.self), load(60, UInt32.self)
        )
    }
}
