import MortiseCore
import MortiseEngine

/// The frames of a history up to those of one state of the store's file, for a copy of both.
struct HistoryPart {
    let path: String
    private let file: any OpenFile
    private let index: HistoryIndex
    private var reader: HistoryReader
    /// How many bytes it has.
    var size: Int64 { index.end }

    /// Nil if there is no history beside the file, or none of its frames belongs to that state.
    /// - Parameters:
    ///   - key: the state of the store's file.
    ///   - store: the identifier of the store.
    ///   - main: the path of the store's file.
    ///   - fileSystem: the file system that has both.
    /// - Throws: `HistoryDamaged`; `FileError`.
    init?(of key: DocumentKey, store: String, beside main: String, in fileSystem: any FileSystem) throws {
        path = StoreFiles(resolved: main).history
        try fileSystem.refuseAllButFile(at: path)
        guard try fileSystem.infoIfPresent(path, followingLinks: false) != nil else { return nil }
        file = try fileSystem.open(path, mode: .read)
        do {
            let size = try file.info().size
            let header: HistoryHeader
            do throws(ChangeBytesFault) {
                header = try HistoryHeader((try? file.readAll(count: HistoryHeader.size, at: 0)) ?? [])
            } catch {
                throw HistoryDamaged(path: path, offset: 0, reason: error.reason)
            }
            reader = HistoryReader(file, path: path, seed: header.seed, size: size)
            index = try reader.index(header, of: key, store: store)
            if !index.beginsAnew { return }
        } catch {
            try? file.close()
            throw error
        }
        try? file.close()
        return nil
    }

    /// Writes it, each frame after it was found whole.
    /// - Throws: `HistoryDamaged`; `FileError`.
    mutating func append(to writer: FileWriter) throws {
        try writer.append(try reader.bytes(HistoryHeader.size, at: 0))
        var offset = Int64(HistoryHeader.size)
        while offset < index.end {
            guard let frame = try reader.frame(at: offset) else {
                throw reader.damage(offset, "no frame begins there")
            }
            let payload = try reader.payload(of: frame, at: offset)
            try writer.append(try reader.bytes(HistoryFrame.size, at: offset))
            try writer.append(payload)
            offset += Int64(HistoryFrame.size) + frame.length
        }
    }

    func close() { try? file.close() }
}

extension StoreFiles {
    /// Removes what crashed replacements of the file and of its history have left.
    func sweepOrphans(holding lock: FileLock, in fileSystem: any FileSystem) throws(FileError) {
        try DurableReplacement(of: main, in: fileSystem).sweepOrphans(holding: lock)
        // Whatever is in the history's place, the records do not need it.
        _ = try? DurableReplacement(of: history, in: fileSystem)
            .sweepOrphans(holding: lock, companion: Self.historySuffix)
    }
}
