import Foundation
import MortiseCore
import MortiseEngine

/// What is known of the frames of a history, from their headers: where to begin reading, and how far it reaches.
struct HistoryIndex {
    struct Place {
        let offset: Int64
        /// The last transaction before it.
        let number: Int64
        /// The latest time of a transaction before it.
        let latest: Double
        /// How many schemas come before it.
        let schemas: Int
    }

    /// One place is noted for each stretch of this many bytes.
    static let step: Int64 = 64 << 10

    /// Nil as long as the file is to be made.
    var header: HistoryHeader?
    var store: String
    var places: [Place] = []
    var schemas: [StoredSchema] = []
    var bounds = HistoryBounds(horizon: 0, last: 0)
    var lastMark: UInt64?
    var latest = -Double.infinity
    var count = 0
    var stubs = 0
    /// When the first transaction was saved.
    var oldest: Double?
    /// Where the frames that count end.
    var end: Int64 = 0
    /// Whether the next save begins the history anew.
    var beginsAnew = false
    /// Whether two saves wrote its frames, or one beside a file that was there: the store's file had its name then.
    var showsFile = false
    var belongsToFile = false

    /// Takes in the header of a frame at the end.
    mutating func note(_ frame: HistoryFrame, schema: StoredSchema?) {
        let place = places.last?.offset
        if place.map({ end - $0 >= Self.step }) ?? true {
            places.append(.init(offset: end, number: bounds.last, latest: latest, schemas: schemas.count))
        }
        if let schema { schemas.append(schema) }
        // A first save that failed or was cut off leaves one frame with a key, and nothing behind it.
        if belongsToFile || frame.kind == .rewritten || frame.kind == .beginning && frame.number > 0 {
            showsFile = true
        }
        if frame.key != DocumentKey() { belongsToFile = true }
        switch frame.kind {
        case .beginning:
            bounds = HistoryBounds(horizon: frame.number, horizonMark: frame.mark, last: frame.number)
            (count, stubs, oldest) = (0, 0, nil)
            lastMark = frame.mark
        case .transaction, .erasure, .migration:
            bounds.last = frame.number
            lastMark = frame.mark
            if frame.kind == .erasure { bounds.erasure = frame.number }
            count += 1
            oldest = oldest ?? frame.time
            latest = max(latest, frame.time)
        case .stub:
            bounds.last = frame.number
            lastMark = frame.mark
            stubs += 1
        case .schema, .rewritten: break
        }
        end += Int64(HistoryFrame.size) + frame.length
    }

    /// Where to begin reading for a number and a time.
    func place(of number: Int64, from earliest: Date?) -> Place? {
        func last(_ isBefore: (Place) -> Bool) -> Int {
            var (low, high) = (0, places.count)
            while low < high {
                let middle = (low + high) / 2
                if isBefore(places[middle]) { low = middle + 1 } else { high = middle }
            }
            return max(low - 1, 0)
        }
        var found = last { $0.number < number }
        if let time = earliest?.timeIntervalSinceReferenceDate { found = max(found, last { $0.latest < time }) }
        return places.indices.contains(found) ? places[found] : nil
    }
}

/// Reads a history frame by frame.
struct HistoryReader {
    let file: any OpenFile
    let path: String
    let seed: UInt32
    let size: Int64
    private var window: [UInt8] = []
    private var start: Int64 = 0

    init(_ file: any OpenFile, path: String, seed: UInt32, size: Int64) {
        self.file = file
        self.path = path
        self.seed = seed
        self.size = size
    }

    mutating func bytes(_ count: Int, at offset: Int64, ahead: Int = 64 << 10) throws(FileError) -> [UInt8] {
        if offset < start || offset + Int64(count) > start + Int64(window.count) {
            window = try file.readAll(count: Int(min(Int64(max(count, ahead)), max(0, size - offset))), at: offset)
            start = offset
        }
        let first = Int(offset - start)
        return first < window.count ? Array(window[first..<min(first + count, window.count)]) : []
    }

    /// The header of the frame at an offset; nil if none is there as a whole.
    mutating func frame(at offset: Int64) throws(FileError) -> HistoryFrame? {
        guard size - offset >= Int64(HistoryFrame.size) else { return nil }
        guard let frame = HistoryFrame(try bytes(HistoryFrame.size, at: offset), seed: seed),
            frame.length <= size - offset - Int64(HistoryFrame.size)
        else { return nil }
        return frame
    }

    func damage(_ offset: Int64, _ reason: String) -> HistoryDamaged {
        HistoryDamaged(path: path, offset: offset, reason: reason)
    }

    /// - Throws: `HistoryDamaged` if its checksum is wrong.
    mutating func payload(of frame: HistoryFrame, at offset: Int64) throws -> [UInt8] {
        let found = try bytes(Int(frame.length), at: offset + Int64(HistoryFrame.size))
        var sum = CRC32C(resuming: seed)
        sum.update(found)
        guard found.count == Int(frame.length), sum.value == frame.checksum else {
            throw damage(offset, "transaction \(frame.number) has a wrong checksum")
        }
        return found
    }

    private mutating func isWhole(_ frame: HistoryFrame, at offset: Int64) throws -> Bool {
        do {
            _ = try payload(of: frame, at: offset)
            return true
        } catch is HistoryDamaged { return false }
    }

    /// The schema in a frame of its kind; nil in others.
    /// - Throws: `HistoryDamaged`.
    mutating func schema(in frame: HistoryFrame, at offset: Int64) throws -> StoredSchema? {
        guard frame.kind == .schema else { return nil }
        guard let schema = try? JSONDecoder().decode(StoredSchema.self, from: Data(try payload(of: frame, at: offset)))
        else { throw damage(offset, "a schema cannot be read") }
        return schema
    }

    /// Goes through the headers up to the last frame that belongs to a state of the store's file.
    /// - Parameters:
    ///   - header: the beginning of the history.
    ///   - key: the state of the store's file.
    ///   - store: the identifier of the store.
    ///   - mayEndInPart: whether a power cut may have taken the end: without a frame that belongs to the file, the history begins anew behind
    ///     the last that is whole.
    /// - Returns: what is known of the frames that count.
    /// - Throws: `HistoryDamaged` if something there is no frame before one that belongs to it, or the history is of another store;
    ///   `FileError`.
    mutating func index(
        _ header: HistoryHeader, of key: DocumentKey, store: String, mayEndInPart: Bool = false
    ) throws -> HistoryIndex {
        var index = HistoryIndex(header: header, store: store)
        index.end = Int64(HistoryHeader.size)
        var matched: HistoryIndex?
        while let frame = try frame(at: index.end) {
            let offset = index.end
            // Its header may be on the disk without the rest.
            if mayEndInPart, frame.key == key, try !isWhole(frame, at: offset) { break }
            if frame.kind == .beginning {
                var reader = ChangeBytesReader(
                    try payload(of: frame, at: offset), under: StoredSchema(version: .init(1, 0, 0), entities: []),
                    ofStore: store)
                guard let found = try? reader.text(), found == store else {
                    throw damage(offset, "it is of another store")
                }
            }
            index.note(frame, schema: try schema(in: frame, at: offset))
            if frame.key == key { matched = index }
        }
        if let matched { return matched }
        if index.end < size, !mayEndInPart {
            throw damage(index.end, "no frame begins there, and none before is of the store's file")
        }
        index.beginsAnew = true
        return index
    }
}

extension ChangeBytesReader {
    /// The author and the process of a transaction.
    mutating func origin() throws(ChangeBytesFault) -> (author: String?, process: String, bundle: String) {
        let bits = try byte()
        guard bits < 2 else { throw ChangeBytesFault(reason: "it has unknown bits") }
        return (bits & 1 == 0 ? nil : try text(), try text(), try text())
    }
}

extension ChangeBytes {
    mutating func origin(author: String?, process: String, bundle: String) {
        byte(author == nil ? 0 : 1)
        if let author { text(author) }
        text(process)
        text(bundle)
    }
}
